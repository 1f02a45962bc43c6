"""Methodologies map to six phases; a phase weighs types."""

import pytest

from memory.customization import phases
from memory.customization.phases import BUDGETS, METHODOLOGIES, Phase
from memory.taxonomy import MemoryType


@pytest.mark.parametrize("phase", list(Phase))
def test_the_shares_of_a_phase_sum_to_one(phase: Phase) -> None:
    budget = BUDGETS[phase]

    assert sum(budget.shares.values()) + budget.other == pytest.approx(1.0)


def test_a_type_that_the_table_does_not_name_has_no_weight() -> None:
    found = phases.weights_of(phase=Phase.DEFINE, own={})

    assert MemoryType.PERSON not in found
    assert found[MemoryType.GOTCHA] == 0.8
    assert not phases.weights_of(phase=None, own={})


def test_a_projects_own_weight_takes_the_place_of_the_tables() -> None:
    own = {Phase.DEFINE: {MemoryType.GOTCHA: 1.2, MemoryType.FACT: 0.9}}

    found = phases.weights_of(phase=Phase.DEFINE, own=own)

    assert found[MemoryType.GOTCHA] == 1.2
    assert found[MemoryType.FACT] == 0.9
    assert found[MemoryType.DECISION] == 1.1
    assert phases.weights_of(phase=Phase.EXPLORE, own=own)[MemoryType.DECISION] == 1.2


@pytest.mark.parametrize(
    ("methodology", "name", "phase"),
    [
        ("native", "coding", Phase.IMPLEMENT),
        ("native", "qa_fix", Phase.REFINE),
        ("tdd", "red", Phase.DEFINE),
        ("native", "explore", Phase.EXPLORE),
        ("unheard of", "validate", Phase.VALIDATE),
        ("native", "lunch", None),
    ],
)
def test_phases_of_methodologies(methodology: str, name: str, phase: Phase | None) -> None:
    assert phases.phase_of(methodology=methodology, name=name) is phase


def test_an_organizations_own_methodology_comes_first() -> None:
    own = {"native": {"coding": Phase.REFLECT}}

    found = phases.phase_of(methodology="native", name="coding", own=own)

    assert found is Phase.REFLECT
    assert METHODOLOGIES["native"]["coding"] is Phase.IMPLEMENT
