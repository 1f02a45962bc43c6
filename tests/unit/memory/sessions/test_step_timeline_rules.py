"""The ribbon of a session: steps as bars, each event in exactly one of them."""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import pairwise
from uuid import UUID

import pytest

from memory.injection.queries import DeliveryEntry
from memory.observer import queries as step_timeline
from memory.observer.queries import BARS_MOST, Mark
from memory.sessions.models import Session
from tests.support.stories import Story


def entry(after: int | None) -> DeliveryEntry:
    """Return a memory that was given behind an event."""
    at = datetime(2026, 11, 1, tzinfo=UTC)
    return DeliveryEntry(
        memory_id=UUID(int=1), point="step", tokens=9, at=at, outcome="", after_event=after
    )


def test_each_step_is_a_bar_that_says_what_was_done_and_what_was_given_up() -> None:
    story = Story().read("a.py").edit("a.py", "x", "y").grep("def run").fails("make", "no route")
    story.say("This approach won't work. Let me try a different approach.").fails("pytest", "")

    bars = step_timeline.draw(scratchpad=story.scratchpad())

    assert [bar.first_step for bar in bars] == [1, 2, 3, 4, 5]
    assert [{mark: n for mark, n in bar.marks.items() if n} for bar in bars] == [
        {Mark.READ: 1},
        {Mark.EDIT: 1},
        {Mark.SEARCH: 1},
        {Mark.RUN: 1, Mark.ERROR: 1, Mark.DEAD_END: 1},
        {Mark.TEST: 1, Mark.ERROR: 1},
    ]
    assert step_timeline.draw(scratchpad=Story().say("Let me think.").scratchpad()) == ()


@pytest.mark.parametrize("steps", [1, 39, 40, 41, 81, 1_000])
def test_bars_share_out_all_events_and_are_never_more_than_fit(steps: int) -> None:
    story = Story().prompt("Mend the cart.")
    for number in range(steps):
        story.read(f"m/{number}.py")
    story.done()

    bars = step_timeline.draw(scratchpad=story.scratchpad())

    assert len(bars) <= BARS_MOST
    assert sum(bar.calls for bar in bars) == sum(bar.steps for bar in bars) == steps
    assert (bars[0].first, bars[-1].last) == (1, len(story.rows))
    assert all(one.last + 1 == other.first for one, other in pairwise(bars))


def test_calls_without_steps_are_steps_of_their_own() -> None:
    story = Story()
    story.step = 0
    for name in ("a.py", "b.py"):
        story.event("tool_call", name="Read", args={"file_path": name})

    bars = step_timeline.draw(scratchpad=story.scratchpad())

    assert [(bar.steps, bar.calls) for bar in bars] == [(1, 1), (1, 1)]


def test_what_was_given_behind_an_event_is_in_the_bar_of_the_event() -> None:
    bars = step_timeline.draw(scratchpad=Story().read("a.py").read("b.py").scratchpad())
    given = tuple(entry(after) for after in (None, bars[0].last, bars[1].last, 99))

    shown = step_timeline.place_given(bars, given)

    assert [one.given for one in shown] == [given[:2], given[2:]]
    assert step_timeline.place_given((), given) == ()


def test_bars_are_kept_as_json_and_read_back_whole() -> None:
    bars = step_timeline.draw(
        scratchpad=Story().read("a.py").fails("pytest -q", "1 failed").scratchpad()
    )
    rows = json.loads(json.dumps([asdict(bar) for bar in bars]))
    row = Session(events=4, observed={"events": 4, "ribbon": rows})

    assert step_timeline.stored_bars(row=row) == bars
    assert step_timeline.stored_bars(row=Session(events=5, observed=row.observed)) is None
