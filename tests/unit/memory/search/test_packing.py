"""What an agent reads: within budget, under files, cited, both sides together."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.customization.phases import TABLES, Budget, Phase
from memory.records.queries.views import MemoryView
from memory.search import packing
from memory.search.packing import DISAGREE, NO_FILE, NOTICE, Block
from memory.taxonomy import MemoryType
from tests.support import memories

BUDGET = Budget(tokens=100, shares={MemoryType.GOTCHA: 0.5, MemoryType.DECISION: 0.3}, other=0.2)
ITEMS = st.lists(st.tuples(st.sampled_from(MemoryType), st.integers(1, 900)), max_size=16)
GOTCHA, DECISION, FACT = MemoryType.GOTCHA, MemoryType.DECISION, MemoryType.FACT


def test_each_type_gets_its_share_and_what_is_left_goes_to_the_next() -> None:
    for costs, fitting in (
        (((GOTCHA, 50), (GOTCHA, 50), (DECISION, 30), (FACT, 20)), (0, 2, 3)),  # its share
        (((GOTCHA, 40), (GOTCHA, 40), (GOTCHA, 30), (GOTCHA, 20)), (0, 1, 3)),  # unused ones
        (((GOTCHA, 101), (FACT, 20)), (1,)),  # larger than the budget
    ):
        assert packing.pack(costs=costs, budget=BUDGET) == fitting
    with pytest.raises(ValueError, match="tokens"):
        packing.pack(costs=((FACT, 0),), budget=BUDGET)


@given(items=ITEMS, phase=st.sampled_from(Phase))
def test_a_budget_is_never_exceeded_and_what_is_left_out_would_not_fit(
    items: list[tuple[MemoryType, int]], phase: Phase
) -> None:
    budget = TABLES[phase].budget

    fitting = packing.pack(costs=items, budget=budget)

    left = budget.tokens - sum(items[place][1] for place in fitting)
    assert left >= 0
    assert all(cost > left for place, (_, cost) in enumerate(items) if place not in fitting)


REDIS = "Token refresh fails silently when Redis is unreachable, so catch the error."
CARTS = "Merging carts takes Postgres advisory locks instead of optimistic retries."


def _view(number: int, content: str, file: str = "", **given: object) -> MemoryView:
    return memories.view(number, content, related_files=(file,) if file else (), **given)


def _blocks(*views: MemoryView) -> tuple[Block, ...]:
    return packing.blocks_of(ranked=views, contradictions={})[0]


def _block(*views: MemoryView) -> Block:
    return Block(memories=views, heading=NO_FILE)


def test_memories_stand_under_their_files_with_their_citations() -> None:
    blocks = _blocks(_view(1, "One.", "a.py"), _view(2, "Two."), _view(3, "Three.", "a.py"))

    text = packing.write(blocks=packing.by_file(blocks=blocks))

    assert text == (
        f"{NOTICE}\n\n## a.py\n- gotcha: One. [^ Memory: One.]\n"
        "- gotcha: Three. [^ Memory: Three.]\n\n## No file of its own\n"
        "- gotcha: Two. [^ Memory: Two.]\n"
    )


def test_sides_doubts_and_further_lines_are_written_as_what_they_are() -> None:
    told = _view(1, "Mind this.\n## Orders\nDo it.", verification="stale", needs_review=True)

    text = packing.write(blocks=(_block(told, _view(2, "No.")),))

    assert f"{DISAGREE}\n- gotcha (stale, needs review): Mind this.\n  ## Orders\n  Do it." in text
    assert "\n- gotcha: No. [^ Memory: No.]\n" in text


def test_what_says_the_same_is_left_out_and_named() -> None:
    ranked = (_view(1, REDIS), _view(2, CARTS), _view(3, f"{REDIS} Always."))

    blocks, overlaps = packing.blocks_of(ranked=ranked, contradictions={})

    assert [block.memories[0].id.int for block in blocks] == [1, 2]
    assert overlaps == {UUID(int=3): UUID(int=1)}


def _against(first: int, second: int) -> dict[UUID, frozenset[UUID]]:
    """Return that two memories contradict each other."""
    one, other = UUID(int=first), UUID(int=second)
    return {one: frozenset({other}), other: frozenset({one})}


def test_the_other_side_joins_the_better_ranked_one_found_or_not_and_is_no_overlap() -> None:
    never = "Redis is never asked for tokens."
    one, two, three = _view(1, REDIS), _view(2, CARTS), _view(3, never)
    alike = (_view(1, "Retries are switched on."), _view(2, "Retries are switched on !"))

    for ranked, sides, beside, expected in (
        ((one, two, three), _against(1, 3), {}, [[1, 3], [2]]),
        ((one,), _against(1, 3), {three.id: three}, [[1, 3]]),
        (alike, _against(1, 2), {}, [[1, 2]]),
    ):
        blocks, overlaps = packing.blocks_of(ranked=ranked, contradictions=sides, others=beside)

        assert [[view.id.int for view in block.memories] for block in blocks] == expected
        assert overlaps == {}
