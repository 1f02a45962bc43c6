"""Packing shares a budget among types, gives on what is unused, and never exceeds it."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.customization.phases import BUDGETS, Budget, Phase
from memory.search import packing
from memory.search.packing import Packable
from memory.taxonomy import MemoryType

BUDGET = Budget(tokens=100, shares={MemoryType.GOTCHA: 0.5, MemoryType.DECISION: 0.3}, other=0.2)
ITEMS = st.lists(st.tuples(st.sampled_from(MemoryType), st.integers(1, 900)), max_size=16)


def _ranked(*items: tuple[MemoryType, int]) -> tuple[Packable, ...]:
    return tuple(
        Packable(memory_id=UUID(int=position), type=type, tokens=tokens)
        for position, (type, tokens) in enumerate(items)
    )


def _chosen(*items: tuple[MemoryType, int]) -> list[int]:
    packed = packing.pack(ranked=_ranked(*items), budget=BUDGET)
    return [item.memory_id.int for item in packed.chosen]


def test_each_type_gets_its_share_although_another_ranks_higher() -> None:
    gotcha, decision, fact = MemoryType.GOTCHA, MemoryType.DECISION, MemoryType.FACT

    assert _chosen((gotcha, 50), (gotcha, 50), (decision, 30), (fact, 20)) == [0, 2, 3]


def test_an_unused_share_goes_to_the_others_in_order() -> None:
    gotcha = MemoryType.GOTCHA

    assert _chosen((gotcha, 40), (gotcha, 40), (gotcha, 30), (gotcha, 20)) == [0, 1, 3]


def test_a_memory_larger_than_the_budget_is_left_out_and_the_rest_packed() -> None:
    assert _chosen((MemoryType.GOTCHA, 101), (MemoryType.FACT, 20)) == [1]


@given(items=ITEMS, phase=st.sampled_from(Phase))
def test_the_budget_is_never_exceeded_and_nothing_gets_lost(
    items: list[tuple[MemoryType, int]], phase: Phase
) -> None:
    ranked = _ranked(*items)

    packed = packing.pack(ranked=ranked, budget=BUDGETS[phase])

    assert packed.tokens == sum(item.tokens for item in packed.chosen) <= BUDGETS[phase].tokens
    assert sorted(i.memory_id for i in (*packed.chosen, *packed.left_out)) == [
        item.memory_id for item in ranked
    ]


@given(items=ITEMS, phase=st.sampled_from(Phase))
def test_what_is_left_out_would_not_fit(items: list[tuple[MemoryType, int]], phase: Phase) -> None:
    packed = packing.pack(ranked=_ranked(*items), budget=BUDGETS[phase])

    left = BUDGETS[phase].tokens - packed.tokens
    assert all(item.tokens > left for item in packed.left_out)


def test_a_memory_without_a_cost_is_refused() -> None:
    with pytest.raises(ValueError, match="tokens"):
        packing.pack(ranked=_ranked((MemoryType.FACT, 0)), budget=BUDGET)
