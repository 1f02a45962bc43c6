"""The ribbon of a session: steps as bars, each event in exactly one of them."""

from dataclasses import replace
from itertools import pairwise

import orjson
import pytest

from memory.observer.actions import step_timeline
from memory.observer.actions.step_timeline import BARS_MOST, Mark
from tests.support.stories import Story


def test_a_session_without_calls_has_no_bars() -> None:
    assert step_timeline.draw(scratchpad=Story().say("Let me think.").scratchpad()) == ()


def test_each_step_is_a_bar_that_says_what_was_done() -> None:
    story = (
        Story().read("a.py").edit("a.py", "x", "y").grep("def run").fails("pytest -q", "1 failed")
    )

    bars = step_timeline.draw(scratchpad=story.scratchpad())

    assert [bar.first_step for bar in bars] == [1, 2, 3, 4]
    assert [dict(bar.marks) for bar in bars] == [
        {Mark.READ: 1},
        {Mark.EDIT: 1},
        {Mark.SEARCH: 1},
        {Mark.TEST: 1, Mark.ERROR: 1},
    ]


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


def test_an_approach_that_was_given_up_marks_the_step_that_failed() -> None:
    story = Story().read("a.py").fails("make deploy", "no route to host")
    story.say("This approach won't work. Let me try a different approach.").read("b.py")

    bars = step_timeline.draw(scratchpad=story.scratchpad())

    assert [bar.marks.get(Mark.DEAD_END, 0) for bar in bars] == [0, 1, 0]


def test_what_was_given_is_placed_by_its_moment() -> None:
    story = Story().read("a.py").read("b.py").read("c.py")
    drawn = step_timeline.draw(scratchpad=story.scratchpad())
    began = {bar.first: 100.0 * place for place, bar in enumerate(drawn, start=1)}

    bars = step_timeline.at_moments(bars=drawn, moments=began)

    assert [step_timeline.placed(bars=bars, seconds=at) for at in (1.0, 100.0, 250.0, 9e9)] == [
        0,
        0,
        1,
        2,
    ]
    assert step_timeline.placed(bars=drawn, seconds=100.0) is None


def test_what_was_given_behind_an_event_is_in_the_bar_of_the_event() -> None:
    story = Story().read("a.py").read("b.py").read("c.py")
    bars = step_timeline.draw(scratchpad=story.scratchpad())

    places = [step_timeline.behind(bars=bars, sequence=bar.last) for bar in bars]

    assert places == [0, 1, 2]
    assert [step_timeline.behind(bars=bars, sequence=number) for number in (0, 99)] == [0, 2]
    assert step_timeline.behind(bars=(), sequence=1) is None


def test_a_clock_that_runs_back_moves_no_bar_before_another() -> None:
    drawn = step_timeline.draw(
        scratchpad=Story().read("a.py").read("b.py").read("c.py").scratchpad()
    )
    moments = dict(zip((bar.first for bar in drawn), (300.0, 100.0, 400.0), strict=True))

    bars = step_timeline.at_moments(bars=drawn, moments=moments)

    assert [bar.at_seconds for bar in bars] == [300.0, 300.0, 400.0]


def test_a_ribbon_is_kept_as_json_and_read_back_whole() -> None:
    story = Story().read("a.py").fails("pytest -q", "1 failed")
    bars = tuple(
        replace(bar, at_seconds=5.5) for bar in step_timeline.draw(scratchpad=story.scratchpad())
    )

    rows = orjson.loads(orjson.dumps(step_timeline.to_rows(bars=bars)))

    assert step_timeline.from_rows(rows=rows) == bars
