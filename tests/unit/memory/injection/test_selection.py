"""What is selected: within a hard budget, never twice, nothing tainted, mostly nothing."""

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.experiments.points import POINTS, Point
from memory.injection import memory_selection
from memory.injection.memory_selection import (
    MEMORIES_MOST,
    ON_REQUEST,
    InjectionCandidate,
    SelectionContext,
    Trigger,
)
from memory.taxonomy import MemoryType
from tests.support.stories import Story

CONTEXT = SelectionContext(
    point=Point.SYSTEM_PROMPT,
    delivered=frozenset(),
    working_files=frozenset(),
    confidence=0.55,
)
AT_FILE = replace(CONTEXT, point=Point.TOOL_RESULT, working_files=frozenset({"a"}))
CANDIDATE = InjectionCandidate(
    id=UUID(int=1),
    type=MemoryType.GOTCHA,
    content="Tokens are renewed by the hook, not by the view.",
    files=("a",),
    confidence=0.8,
    relevance=0.9,
)
FILES = st.lists(st.sampled_from(["a", "b", "c"]), max_size=2).map(tuple)
SHARES = st.floats(0, 1)
CANDIDATES = st.lists(
    st.builds(
        InjectionCandidate,
        id=st.integers(0, 30).map(lambda number: UUID(int=number)),
        type=st.sampled_from(list(MemoryType)),
        content=st.text(min_size=1, max_size=60).map(lambda text: text * 40),
        files=FILES,
        confidence=SHARES,
        relevance=SHARES,
        is_tainted=st.booleans(),
    ),
    max_size=25,
)
CONTEXTS = st.builds(
    SelectionContext,
    point=st.sampled_from(list(Point)),
    delivered=st.frozensets(st.integers(0, 30).map(lambda number: UUID(int=number)), max_size=9),
    working_files=st.frozensets(st.sampled_from(["a", "b", "c"])),
    confidence=st.floats(0, 0.6),
)


@given(CANDIDATES, CONTEXTS)
def test_no_budget_is_exceeded_and_nothing_is_selected_that_must_not_be(
    candidates: list[InjectionCandidate], context: SelectionContext
) -> None:
    chosen = memory_selection.select(candidates=candidates, context=context)

    ids = [one.id for one in chosen]
    spent = sum(memory_selection.tokens_of(candidate=one) for one in chosen)
    assert spent <= POINTS[context.point].tokens
    assert len(ids) == len(set(ids)) <= MEMORIES_MOST[context.point]
    assert context.delivered.isdisjoint(ids)
    assert not any(one.is_tainted for one in chosen)


@given(CANDIDATES, CONTEXTS)
def test_the_order_of_candidates_does_not_matter(
    candidates: list[InjectionCandidate], context: SelectionContext
) -> None:
    unique = list({one.id: one for one in candidates}.values())

    forward = memory_selection.select(candidates=unique, context=context)

    assert memory_selection.select(candidates=reversed(unique), context=context) == forward


@pytest.mark.parametrize(
    ("candidate", "context"),
    [
        (CANDIDATE, CONTEXT),
        (CANDIDATE, AT_FILE),
        (CANDIDATE, replace(AT_FILE, point=Point.STEP)),
        (CANDIDATE, replace(AT_FILE, point=Point.STEP, working_files=frozenset())),
    ],
)
def test_what_fits_is_selected(candidate: InjectionCandidate, context: SelectionContext) -> None:
    assert memory_selection.select(candidates=(candidate,), context=context) == (candidate,)


@pytest.mark.parametrize(
    ("candidate", "context"),
    [
        (replace(CANDIDATE, is_tainted=True), CONTEXT),
        (replace(CANDIDATE, confidence=0.54), CONTEXT),
        (CANDIDATE, replace(CONTEXT, delivered=frozenset({CANDIDATE.id}))),
        (CANDIDATE, replace(AT_FILE, working_files=frozenset({"b"}))),
        (CANDIDATE, replace(AT_FILE, working_files=frozenset())),
        (replace(CANDIDATE, confidence=0.6), AT_FILE),
        (replace(CANDIDATE, type=MemoryType.FACT), AT_FILE),
        (replace(CANDIDATE, type=MemoryType.FACT), replace(AT_FILE, point=Point.STEP)),
    ],
)
def test_the_rest_is_met_with_silence(
    candidate: InjectionCandidate, context: SelectionContext
) -> None:
    assert memory_selection.select(candidates=(candidate,), context=context) == ()


def test_a_memory_about_a_file_being_worked_on_comes_first() -> None:
    near = replace(CANDIDATE, id=UUID(int=2), relevance=0.8)
    far = replace(CANDIDATE, files=("z",))
    context = replace(CONTEXT, working_files=frozenset({"a"}))

    chosen = memory_selection.select(candidates=(far, near), context=context)

    assert chosen == (near, far)


def test_what_does_not_fit_makes_way_for_what_does() -> None:
    long = replace(CANDIDATE, content="word " * 3_000)
    short = replace(CANDIDATE, id=UUID(int=2), relevance=0.7)

    chosen = memory_selection.select(candidates=(long, short), context=AT_FILE)

    assert chosen == (short,)


def busy() -> Story:
    """Return a session at its sixth step."""
    return Story().run("a").run("b").run("c").run("d").run("e")


def looked_up(
    story: Story, *, through: int = 0, triggers: frozenset[Trigger] = ON_REQUEST
) -> tuple[str, ...]:
    """Return what is looked up at the step a story has come to."""
    return memory_selection.triggered_questions(
        scratchpad=story.scratchpad(), through=through, triggers=triggers
    )


@pytest.mark.parametrize(
    ("story", "question"),
    [
        (busy().call("mcp__cairn__add_memory", {"content": "Mints expire."}), "Mints expire."),
        (busy().grep("mint"), "mint"),
        (busy().glob("*.py"), ".py"),
        (busy().grep("one").grep("two").grep("three").grep("four"), "four three two"),
    ],
)
def test_a_trigger_looks_something_up(story: Story, question: str) -> None:
    assert looked_up(story) == (question,)


def test_triggers_come_in_their_order_where_a_project_wants_them() -> None:
    story = busy().grep("mint").call("mcp__cairn__add_memory", {"content": "One."}).read("a.py")

    assert looked_up(story) == ("One.", "mint")
    assert looked_up(story, triggers=frozenset({Trigger.FILE_TOUCHED})) == ()
    assert looked_up(busy().read("a.py")) == ()


def test_what_an_earlier_step_looked_at_is_not_looked_up_again() -> None:
    story = busy().grep("mint").read("a.py")

    assert looked_up(story, through=story.scratchpad().through) == ()
