"""What one stage passes to the next, and where unfinished work stands."""

from uuid import UUID

from memory.customization import methodology
from memory.injection import relays
from memory.injection.planner import Known
from memory.taxonomy import MemoryType
from tests.support.stories import Story

RECORDED = tuple(
    Known(id=UUID(int=number), type=type, content="x", confidence=0.5)
    for number, type in enumerate(
        (MemoryType.GOTCHA, MemoryType.ERROR_PATTERN, MemoryType.REQUIREMENT)
    )
)


def passed(before: str, after: str) -> set[MemoryType]:
    """Return the types that pass from stage to stage."""
    found = relays.passed_on(
        transitions=methodology.NATIVE_TRANSITIONS, before=before, after=after, recorded=RECORDED
    )
    return {one.type for one in found}


def test_transitions_pass_the_types_they_name() -> None:
    assert passed("planner", "coder") == {one.type for one in RECORDED}
    assert passed("qa_reviewer", "qa_fixer") == {
        MemoryType.ERROR_PATTERN,
        MemoryType.REQUIREMENT,
    }


def test_a_transition_names_types_of_the_methodologys_own() -> None:
    story = Known(
        id=UUID(int=9), type=MemoryType.REQUIREMENT, content="x", confidence=0.5, own_type="story"
    )
    way = methodology.Transition(before="a", after="b", types=frozenset({"story"}))

    found = relays.passed_on(transitions=(way,), before="a", after="b", recorded=(*RECORDED, story))

    assert found == (story,)


def test_stages_without_a_transition_pass_nothing() -> None:
    assert passed("coder", "planner") == set()


def test_unfinished_work_says_where_it_stands() -> None:
    story = Story().prompt("Make imports resumable").edit("a").edit("b")

    state = relays.work_state(scratchpad=story.fails("pytest", "KeyError: x").scratchpad())

    assert state is not None
    assert (state.task, state.files) == ("Make imports resumable", ("b", "a"))
    assert state.last_error == "KeyError: x"


def test_work_that_is_done_or_never_began_has_no_state() -> None:
    assert relays.work_state(scratchpad=Story().edit("a").done().scratchpad()) is None
    assert relays.work_state(scratchpad=Story().read("a").scratchpad()) is None
