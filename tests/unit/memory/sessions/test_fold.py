"""The fold of events, what it notes of them, and the ribbon that is drawn of it."""

import itertools
import json
import random
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.client.transcripts import reader
from memory.client.transcripts.parsers import STRIDE
from memory.injection.queries import DeliveryEntry
from memory.observer import file_signals
from memory.observer import queries as step_timeline
from memory.observer.queries import BARS_MOST, Mark
from memory.sessions import reducers, scratchpad
from memory.sessions.events import Event, EventKind, Outcome
from memory.sessions.models import Session
from memory.sessions.reducers import DEEDS_MOST, FILES_MOST, PENDING_MOST
from memory.sessions.scratchpad import Scratchpad, taint_of
from memory.sessions.tools import Act
from memory.sessions.turns import RemarkKind
from tests.support.stories import Story, read_events


def story() -> Story:
    """Return a session with something of every kind."""
    told = Story(planned=5).prompt("Make sign-in keep the session for a day")
    told.read("auth/session.py", "import os\nfrom auth.tokens import mint\n")
    told.edit("auth/session.py", "60", "86400").edit("auth/tokens.py", "60", "86400")
    told.fails("pytest tests/auth", "KeyError: 'REDIS_URL'\n1 failed")
    told.run("REDIS_URL=x pytest tests/auth", "5 passed")
    told.say("I was wrong about the cache. The store is actually the database.")
    told.event("commit", text="Keep sessions for a day", files=["/work/shop/auth/session.py"])
    told.event("qa_report", outcome="failed", text="Sign-out is broken", files=[])
    told.event("telepathy").fetch("https://docs.example.org/sessions")
    return told.prompt("No, that is wrong").done()


def events() -> tuple[Event, ...]:
    """Return the events of the session."""
    return read_events(story().rows)


CHECKPOINT_BYTES_MOST = 5 * 1024 * 1024
EVENTS = events()
WHOLE = story().scratchpad()


def test_a_session_is_read_as_what_happened() -> None:
    kinds = {each.kind for each in WHOLE.remarks}

    assert WHOLE.files["auth/session.py"].edits == 1
    assert [deed.act for deed in WHOLE.deeds.values()][-1] is Act.FETCH
    assert kinds == {RemarkKind.SELF_CORRECTION, RemarkKind.USER_CORRECTION}
    assert WHOLE.taint is not None
    assert WHOLE.unknown == 1
    assert WHOLE.outcome is Outcome.SUCCESS
    assert WHOLE.commits[0].files == ("auth/session.py",)


def in_batches(order: tuple[Event, ...], cuts: list[int]) -> Scratchpad:
    """Fold some events in batches that end where the cuts say, through a checkpoint each."""
    state = Scratchpad(setting=story().setting)
    borders = sorted({0, len(order), *(cut % (len(order) + 1) for cut in cuts)})
    for first, last in itertools.pairwise(borders):
        state = reducers.fold(scratchpad=state, events=order[first:last])
        state = scratchpad.load(data=scratchpad.dump(scratchpad=state))
    return reducers.settle(scratchpad=state)


@given(st.permutations(EVENTS), st.lists(st.integers(0, 100), max_size=4))
def test_any_order_of_arrival_gives_the_same_state(order: list[Event], cuts: list[int]) -> None:
    assert in_batches(tuple(order), cuts) == WHOLE


@given(st.lists(st.sampled_from(EVENTS), max_size=30))
def test_what_comes_twice_changes_nothing_but_its_count(again: list[Event]) -> None:
    state = in_batches((*EVENTS, *again), [len(EVENTS)])

    assert state.twice == len(again)
    assert replace(state, twice=0) == WHOLE


def test_a_fold_leaves_the_state_it_began_from() -> None:
    before = reducers.fold(scratchpad=Scratchpad(setting=story().setting), events=EVENTS[:5])
    written = scratchpad.dump(scratchpad=before)

    reducers.fold(scratchpad=before, events=EVENTS[5:])

    assert scratchpad.dump(scratchpad=before) == written


def test_a_gap_is_waited_for_and_then_passed_over_and_counted() -> None:
    calls = tuple(Event(sequence=each, kind=EventKind.PROMPT) for each in range(1, 200))
    state = Scratchpad(setting=story().setting)

    waiting = reducers.fold(scratchpad=state, events=calls[3 : 3 + PENDING_MOST])
    passed = reducers.fold(scratchpad=waiting, events=calls[3 + PENDING_MOST :])
    late = reducers.fold(scratchpad=passed, events=calls[:3])

    assert (waiting.through, waiting.applied) == (0, 0)
    assert (passed.through, passed.missing) == (199, 3)
    assert (late.late, late.twice) == (3, 0)


def reasoning(*, sequences: list[int]) -> tuple[Event, ...]:
    """Return events of these numbers."""
    return tuple(Event(sequence=each, kind=EventKind.REASONING) for each in sequences)


def test_only_what_a_writer_left_out_of_a_run_is_missing() -> None:
    block = reducers.FIRST_BLOCK + reducers.BLOCK
    lines = [129, 130, 385, 1_409]
    told = reasoning(
        sequences=[*lines, *(reducers.FIRST_BLOCK + one for one in lines), block + 129]
    )

    state = reducers.rebuild(setting=story().setting, events=told)

    assert (state.applied, state.missing) == (9, 0)

    second = reducers.FIRST_BLOCK + reducers.BLOCK
    told = reasoning(sequences=[1, 2, 6, reducers.FIRST_BLOCK + 2, second + 1, second + 4])

    state = reducers.rebuild(setting=story().setting, events=told)

    assert state.missing == 3 + 1 + 2


def test_the_command_line_numbers_lines_and_subagents_as_the_fold_knows_it() -> None:
    assert (reducers.LINE, reducers.FIRST_BLOCK, reducers.BLOCK) == (
        STRIDE,
        reader.FIRST_BLOCK,
        reader.BLOCK,
    )


def test_a_clock_that_jumps_or_runs_back_makes_no_hours() -> None:
    moments = (1e9, 1e9 + 5, 5e8, 5e8 + 5, 9e9)
    told = tuple(
        Event(sequence=place, kind=EventKind.REASONING, at_seconds=at)
        for place, at in enumerate(moments, 1)
    )

    state = reducers.rebuild(setting=story().setting, events=told)

    assert state.clock == pytest.approx(5 + 0 + 5 + 600)


def test_the_end_of_the_session_is_what_its_own_agent_said_of_it() -> None:
    told = Story().event("session_complete", outcome="success", steps=4)
    told.by("sub").event("session_complete").event("session_complete", outcome="failed", steps=9)

    state = told.scratchpad()

    assert (state.outcome, state.steps_done) == (Outcome.SUCCESS, 4)

    told = Story().event("session_complete", outcome="success", steps=4).event("session_complete")

    assert (told.scratchpad().outcome, told.scratchpad().steps_done) == (Outcome.SUCCESS, 4)
    assert Story().event("session_complete").scratchpad().outcome is Outcome.UNKNOWN


def many(*, count: int, files: int) -> tuple[Event, ...]:
    """Return a long session of reads and edits."""
    chance, told = random.Random(7), Story()
    for _ in range(count):
        path = f"src/{chance.randrange(files)}.py"
        told.event("tool_call", name="Read" if chance.random() < 0.8 else "Edit", args={
            "file_path": f"/work/shop/{path}"})  # fmt: skip
        told.event("tool_result", name="Read", text="é" * 300)
    return read_events(told.rows)


def test_a_long_session_stays_within_its_bounds() -> None:
    state = reducers.rebuild(setting=story().setting, events=many(count=7_000, files=5_000))

    assert len(state.deeds) <= DEEDS_MOST
    assert len(state.files) <= FILES_MOST
    assert state.dropped > 0
    assert len(scratchpad.dump(scratchpad=state)) < CHECKPOINT_BYTES_MOST
    assert sum(deed.act is Act.EDIT for deed in state.deeds.values()) > 1_200


OLDER = scratchpad.dump(scratchpad=WHOLE).replace(b'"version":5', b'"version":4')


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'{"version": 0}', OLDER, b"\xff"])
def test_what_is_no_checkpoint_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        scratchpad.load(data=data)


def test_each_agent_counts_its_steps_and_more_than_four_an_event_are_not_believed() -> None:
    told = Story().counting(3).read("a.py", tokens=500).by("sub").counting(3).read("b.py", tokens=7)

    costs = list(told.scratchpad().steps.values())

    assert costs == [500, 7]

    told = Story(planned=5).edit("a.py").counting(10**9).edit("b.py", tokens=10**9)
    told.event("session_complete", outcome="success", steps=10**9)

    state = told.scratchpad()

    assert (state.current_step, state.steps_done) == (1, 0)
    assert sum(state.steps.values()) == 1_000


def test_each_file_that_one_call_edits_is_touched() -> None:
    patched = ["/work/shop/b.py", "/work/shop/c.py"]
    told = Story().event("tool_call", name="apply_patch", args={"path": "b.py"}, files=patched)

    state = told.scratchpad()

    assert {path: use.edits for path, use in state.files.items()} == {"b.py": 1, "c.py": 1}
    assert [deed.also for deed in state.deeds.values()] == [("c.py",)]
    assert scratchpad.load(data=scratchpad.dump(scratchpad=state)) == state


def taint(story: Story) -> str:
    """Return why the one pair of files that a story changes is tainted."""
    scratchpad = story.scratchpad()
    (sighting,) = file_signals.find_co_access(scratchpad=scratchpad)
    return taint_of(last_sequence=sighting.last_sequence, scratchpad=scratchpad)


@pytest.mark.parametrize(
    ("story", "reason"),
    [
        (Story().edit("a").edit("b"), ""),
        (Story().edit("a").edit("b").fetch("https://x.example/"), ""),
        (Story().edit("a").edit("b").run("gh issue view 3"), ""),
        (Story().fetch("https://x.example/").edit("a").edit("b"), "web: x.example"),
        (Story().edit("a").run("gh pr view 3").edit("b"), "issue or mail: gh pr"),
        (Story().call("mcp__jira__get", {}).edit("a").edit("b"), "issue or mail: jira"),
        (Story().run("cat /tmp/notes.txt").edit("a").edit("b"), "outside file: /tmp/notes.txt"),
    ],
)
def test_what_came_after_outside_content_is_tainted(story: Story, reason: str) -> None:
    assert taint(story) == reason


def main_and_aside(*, sends: str) -> tuple[str, ...]:
    """Return by what the main agent's words are tainted; its subagent read a page meanwhile."""
    story = Story().event("tool_call", sequence=128, name=sends)
    for sequence in (256, 384):
        story.event("reasoning", sequence=sequence, text="Always run it from the release folder.")
    story.by("aside").event(
        "tool_call", sequence=reducers.FIRST_BLOCK + 1, name="WebFetch",
        args={"url": "https://evil.example/"},
    )  # fmt: skip
    scratchpad = story.scratchpad()
    return tuple(taint_of(last_sequence=one, scratchpad=scratchpad) for one in (128, 256, 384))


def test_what_a_subagent_saw_taints_since_it_was_sent_or_all_where_nobody_knows_when() -> None:
    for name in ("Task", "Agent", "spawn_agent"):
        assert main_and_aside(sends=name) == ("", "web: evil.example", "web: evil.example")
    assert set(main_and_aside(sends="TodoWrite")) == {"web: evil.example"}


def test_what_the_main_agent_saw_later_does_not_hide_what_a_subagent_saw() -> None:
    story = Story().call("Task", {}).say("Looking.").fetch("https://x.example/")
    alone = story.scratchpad().taint
    story.event(
        "tool_call",
        sequence=reducers.FIRST_BLOCK + 1,
        agent="aside",
        name="WebFetch",
        args={"url": "https://evil.example/"},
    )
    both = story.scratchpad().taint

    assert alone is not None
    assert both is not None
    assert (both.sequence, both.reason) == (1, "web: evil.example")
    assert alone.sequence > both.sequence


def test_a_subagent_that_is_told_of_as_it_works_taints_what_comes_after_it() -> None:
    story = Story().edit("a").edit("b").by("aside").fetch("https://evil.example/").by("")

    assert taint(story) == ""
    assert taint(story.edit("b")) == "web: evil.example"


TRACE = """Traceback (most recent call last):
  File "/work/a.py", line {line}, in run
    raise KeyError(name)
KeyError: '{name}'
"""


def digest(text: str, program: str = "pytest") -> str:
    """Return the digest of an output."""
    return reducers.fingerprint_of(program=program, text=text)[0]


def test_an_error_is_the_same_whatever_its_numbers_paths_and_values() -> None:
    first, again = TRACE.format(line=3, name="a"), TRACE.format(line=99, name="b")

    assert digest(first) == digest(again)
    assert digest("No such file: /tmp/a1/x.py") == digest("No such file: /srv/b/y.py")
    assert digest("KeyError: 'a'") != digest("ValueError: 'a'")
    assert digest("permission denied", "git push") != digest("permission denied", "docker run")
    assert digest("a." * 8_000) != digest("\n" * 16_000)  # and long outputs stay linear
    assert reducers.fingerprint_of(program="python", text=first)[1] == "KeyError: 'a'"


def test_failure_is_told_by_exit_code_or_count() -> None:
    for text in ("3 failed, 2 passed", "--- FAIL: TestMint", "Exit code 1\nboom"):
        assert reducers.says_failure(text=text, is_test=True), text
    assert reducers.says_failure(text="Exit code 1\nboom", is_test=False)
    assert not reducers.says_failure(text="0 failed, 2 passed", is_test=True)
    for text in ("Exit code 0", "grep found: 3 failed"):
        assert not reducers.says_failure(text=text, is_test=False), text


def entry(after: int | None) -> DeliveryEntry:
    """Return a memory that was given behind an event."""
    at = datetime(2026, 11, 1, tzinfo=UTC)
    return DeliveryEntry(
        memory_id=UUID(int=1), point="step", tokens=9, at=at, outcome="", after_event=after
    )


def test_each_step_is_a_bar_that_says_what_was_done_and_what_was_given_up() -> None:
    story = Story().read("a.py").edit("a.py", "x", "y").grep("def run").fails("make", "no route")
    story.say("A hand-made route: this approach won't work. Let me look.").fails("pytest", "")

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
