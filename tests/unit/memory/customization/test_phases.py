"""Phases, the methodologies that name them, and a project's own weights."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.errors import InvalidInput
from memory.customization import phases
from memory.customization.phases import BUDGETS, Phase
from memory.taxonomy import MemoryType


def test_the_shares_of_a_phase_sum_to_one() -> None:
    for phase, budget in BUDGETS.items():
        assert sum(budget.shares.values()) + budget.other == pytest.approx(1.0), phase


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


def test_phases_that_no_map_knows_are_none_and_an_organizations_own_come_first() -> None:
    own = {"native": {"coding": Phase.REFLECT}}
    for methodology, name, phase in (
        ("native", "coding", Phase.REFLECT),
        ("tdd", "red", Phase.DEFINE),
        ("unheard of", "validate", Phase.VALIDATE),
        ("native", "lunch", None),
    ):
        assert phases.phase_of(methodology=methodology, name=name, own=own) is phase


OWN = {"kanban": {"doing": Phase.IMPLEMENT, "validate": Phase.REFLECT}}


@pytest.mark.parametrize(
    ("of", "name", "phase"),
    [
        (None, None, None),
        (None, "refine", Phase.REFINE),
        (None, "coding", Phase.IMPLEMENT),
        ("native", "qa_review", Phase.VALIDATE),
        ("tdd", "red", Phase.DEFINE),
        ("bmad", "retrospective", Phase.REFLECT),
        ("kanban", "doing", Phase.IMPLEMENT),
        ("kanban", "validate", Phase.REFLECT),
        ("kanban", "explore", Phase.EXPLORE),
        ("kanban", None, None),
    ],
)
def test_phases_are_found_by_name(of: str | None, name: str | None, phase: Phase | None) -> None:
    assert phases.named_phase(methodology=of, name=name, own=OWN) is phase


@pytest.mark.parametrize(
    ("of", "name", "pointer", "hint"),
    [
        ("waterfall", None, "/methodology", "bmad, kanban, native, tdd"),
        ("waterfall", "define", "/methodology", "tdd"),
        ("tdd", "coding", "/phase", "green, implement, red"),
        (None, "lunch", "/phase", "coding, debugging, define"),
    ],
)
def test_other_names_are_refused(of: str | None, name: str | None, pointer: str, hint: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        phases.named_phase(methodology=of, name=name, own=OWN)

    assert refused.value.errors[0].pointer == pointer
    assert hint in refused.value.hint


NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
WEIGHTS = {Phase.DEFINE: {MemoryType.FACT: 1.2}}
OTHER = {"pauses": {"project": True}}


def test_what_was_decided_is_read_again_and_the_rest_stays() -> None:
    settings = phases.with_decision(settings=OTHER, weights=WEIGHTS, now=NOW)

    found = phases.read_weights(settings=settings)

    assert (found.weights, found.decided_at) == (WEIGHTS, NOW)
    assert settings["pauses"] == OTHER["pauses"]


def test_the_first_decision_is_taken_back_to_nothing_and_the_next_to_the_first() -> None:
    first = phases.with_decision(settings=OTHER, weights=WEIGHTS, now=NOW)
    later = NOW + timedelta(days=1)
    second = phases.with_decision(settings=first, weights={}, now=later)

    none = phases.read_weights(settings=phases.without_decision(settings=first, now=later))
    back = phases.read_weights(settings=phases.without_decision(settings=second, now=later))

    assert (none.weights, none.decided_at, none.counts_since) == ({}, None, later)
    assert (back.weights, back.decided_at, back.counts_since) == (WEIGHTS, NOW, later)


def test_what_was_taken_back_to_is_kept_when_it_is_asked_again() -> None:
    first = phases.with_decision(settings=OTHER, weights=WEIGHTS, now=NOW)
    second = phases.with_decision(settings=first, weights={}, now=NOW + timedelta(days=1))
    undone = phases.without_decision(settings=second, now=NOW + timedelta(days=2))

    again = phases.without_decision(settings=undone, now=NOW + timedelta(days=3))

    assert phases.read_weights(settings=undone).before is None
    assert again == undone


def test_a_decision_after_one_was_taken_back_is_taken_back_as_well() -> None:
    first = phases.with_decision(settings=OTHER, weights=WEIGHTS, now=NOW)
    undone = phases.without_decision(settings=first, now=NOW + timedelta(days=1))
    third = NOW + timedelta(days=2)
    decided = phases.with_decision(settings=undone, weights=WEIGHTS, now=third)

    found = phases.read_weights(settings=decided)
    back = phases.read_weights(settings=phases.without_decision(settings=decided, now=third))

    assert (found.decided_at, found.counts_since) == (third, third)
    assert (back.weights, back.decided_at, back.before) == ({}, None, None)


def test_joined_weights_keep_what_is_not_changed() -> None:
    changes = {Phase.DEFINE: {MemoryType.GOTCHA: 0.9}, Phase.REFINE: {MemoryType.FACT: 1.1}}

    found = phases.joined_weights(own=WEIGHTS, changes=changes)

    assert found == {
        Phase.DEFINE: {MemoryType.FACT: 1.2, MemoryType.GOTCHA: 0.9},
        Phase.REFINE: {MemoryType.FACT: 1.1},
    }


@pytest.mark.parametrize(
    "kept",
    [
        None,
        7,
        [],
        {"weights": 3},
        {"weights": {"define": {"fact": 9.0}}},
        {"weights": {"define": {"fact": "1.2"}}},
        {"weights": {"lunch": {"fact": 1.2}}, "decided_at": "yesterday"},
    ],
)
def test_what_is_no_weight_counts_as_if_it_were_not_there(kept: Any) -> None:
    found = phases.read_weights(settings={"phase_weights": kept})

    assert not any(found.weights.values())
    assert (found.decided_at, found.before) == (None, None)
