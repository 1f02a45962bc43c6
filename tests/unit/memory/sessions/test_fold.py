"""The fold: the same state in any batching, order and repetition, within stated bounds."""

import itertools
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.client.transcripts import reader
from memory.client.transcripts.parsers import STRIDE
from memory.sessions import reducers, scratchpad
from memory.sessions.events import Event, EventKind, Outcome
from memory.sessions.reducers import DEEDS_MOST, FILES_MOST, PENDING_MOST
from memory.sessions.scratchpad import Scratchpad
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


OLDER = scratchpad.dump(scratchpad=WHOLE).replace(b'"version":3', b'"version":2')


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
