"""What is selected: within a hard budget, never twice, mostly nothing."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.experiments.points import POINTS, Point
from memory.injection import memory_selection
from memory.injection.memory_selection import MEMORIES_MOST, ON_REQUEST, CandidateSet, Trigger
from memory.records.queries.views import MemoryView
from memory.taxonomy import MemoryType
from tests.support.stories import Story
from tests.support.views import view

KNOWN = view(related_files=("a",))
SHARES = st.floats(0, 1)
NUMBERS = st.integers(0, 30)
VIEWS = st.lists(
    st.builds(
        view,
        NUMBERS,
        st.sampled_from(list(MemoryType)),
        content=st.text(min_size=1, max_size=60).map(lambda text: text * 40),
        related_files=st.lists(st.sampled_from(["a", "b", "c"]), max_size=2).map(tuple),
        effective_confidence=SHARES,
    ),
    max_size=25,
)


def selected(*views: MemoryView, **given: Any) -> tuple[int, ...]:
    """Return the numbers of what is selected of some memories, relevant at 0.9 unless given."""
    relevance = given.pop("relevance", {})
    usual = {"point": Point.BRIEF, "delivered": frozenset(), "least": 0.55}
    candidates = CandidateSet(
        views={one.id: one for one in views},
        relevance={one.id: relevance.get(one.id.int, 0.9) for one in views},
        working=frozenset(given.pop("working", ())),
    )
    found = memory_selection.select(candidates=candidates, **{**usual, **given})
    return tuple(one.int for one in found)


@given(
    views=VIEWS,
    point=st.sampled_from(list(Point)),
    delivered=st.frozensets(NUMBERS.map(lambda number: UUID(int=number)), max_size=9),
    working=st.frozensets(st.sampled_from(["a", "b", "c"])),
    least=st.floats(0, 0.6),
)
def test_no_budget_is_exceeded_and_nothing_is_selected_twice_or_by_its_place(
    views: list[MemoryView], point: Point, delivered: frozenset[UUID], **given: Any
) -> None:
    unique = list({one.id: one for one in views}.values())

    ids = selected(*unique, point=point, delivered=delivered, **given)

    contents = {one.id.int: one.content for one in unique}
    spent = sum(memory_selection.tokens_of(content=contents[one]) for one in ids)
    assert spent <= POINTS[point].tokens
    assert len(ids) == len(set(ids)) <= MEMORIES_MOST[point]
    assert {one.int for one in delivered}.isdisjoint(ids)
    assert selected(*reversed(unique), point=point, delivered=delivered, **given) == ids


AT_FILE = {"point": Point.TOOL_RESULT, "working": {"a"}}
AT_STEP = {"point": Point.STEP, "working": {"a"}}


@pytest.mark.parametrize("given", [{}, AT_FILE, AT_STEP, {"point": Point.STEP}])
def test_what_fits_is_selected(given: dict[str, Any]) -> None:
    assert selected(KNOWN, **given) == (1,)


@pytest.mark.parametrize(
    ("known", "given"),
    [
        (replace(KNOWN, effective_confidence=0.54), {}),
        (KNOWN, {"delivered": frozenset({KNOWN.id})}),
        (KNOWN, {**AT_FILE, "working": {"b"}}),
        (KNOWN, {**AT_FILE, "working": ()}),
        (replace(KNOWN, effective_confidence=0.6), AT_FILE),
        (replace(KNOWN, type="fact"), AT_FILE),
        (replace(KNOWN, type="fact"), AT_STEP),
    ],
)
def test_the_rest_is_met_with_silence(known: MemoryView, given: dict[str, Any]) -> None:
    assert selected(known, **given) == ()


def test_a_memory_about_a_file_worked_on_comes_first_and_what_does_not_fit_makes_way() -> None:
    near, far = view(2, related_files=("a",)), view(1, related_files=("z",))
    long = replace(KNOWN, content="word " * 3_000)

    assert selected(far, near, working={"a"}, relevance={2: 0.8}) == (2, 1)
    assert selected(long, near, **AT_FILE, relevance={2: 0.7}) == (2,)


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
        (busy().glob("*.py"), ".py"),
        (busy().grep("one").grep("two").grep("three").grep("four"), "four three two"),
    ],
)
def test_a_trigger_looks_something_up(story: Story, question: str) -> None:
    assert looked_up(story) == (question,)


def test_triggers_come_in_their_order_where_a_project_wants_them_and_once() -> None:
    story = busy().grep("mint").call("mcp__cairn__add_memory", {"content": "One."}).read("a.py")

    assert looked_up(story) == ("One.", "mint")
    assert looked_up(story, triggers=frozenset({Trigger.FILE_TOUCHED})) == ()
    assert looked_up(story, through=story.scratchpad().through) == ()
    assert looked_up(busy().read("a.py")) == ()
