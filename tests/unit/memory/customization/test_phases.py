"""Phases, the methodologies that name them, and a project's own weights."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.errors import InvalidInput
from memory.customization import phases
from memory.customization.phases import TABLES, Phase
from memory.taxonomy import MemoryType


def test_the_shares_of_a_phase_sum_to_one() -> None:
    for phase, table in TABLES.items():
        assert sum(table.budget.shares.values()) + table.budget.other == pytest.approx(1.0), phase


def test_a_projects_own_weight_takes_the_place_of_the_tables() -> None:
    own = {Phase.DEFINE: {MemoryType.GOTCHA: 1.2, MemoryType.FACT: 0.9}}

    table = phases.weights_of(phase=Phase.DEFINE, own={})
    found = phases.weights_of(phase=Phase.DEFINE, own=own)

    assert table[MemoryType.GOTCHA] == 0.8
    assert found == {**table, MemoryType.GOTCHA: 1.2, MemoryType.FACT: 0.9}
    assert MemoryType.PERSON not in found
    assert phases.weights_of(phase=Phase.EXPLORE, own=own)[MemoryType.DECISION] == 1.2
    assert not phases.weights_of(phase=None, own={})


def test_phases_that_no_map_knows_are_none_and_an_organizations_own_come_first() -> None:
    own = {"native": {"coding": Phase.REFLECT}}
    found = [
        phases.phase_of(methodology=methodology, name=name, own=own)
        for methodology, name in (("native", "coding"), ("?", "validate"), ("native", "lunch"))
    ]

    assert found == [Phase.REFLECT, Phase.VALIDATE, None]


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
OTHER: dict[str, Any] = {"pauses": {"project": True}}


DAY = timedelta(days=1)


def decided(settings: dict[str, Any], days: int, weights: Any = WEIGHTS) -> dict[str, Any]:
    return phases.with_decision(settings=settings, weights=weights, now=NOW + days * DAY)


def undone(settings: dict[str, Any], days: int) -> dict[str, Any]:
    return phases.without_decision(settings=settings, now=NOW + days * DAY)


def test_what_was_decided_is_read_again_and_the_rest_stays() -> None:
    settings = decided(OTHER, 0)

    found = phases.read_weights(settings=settings)

    assert (found.weights, found.decided_at) == (WEIGHTS, NOW)
    assert settings["pauses"] == OTHER["pauses"]


def test_the_first_decision_is_taken_back_to_nothing_and_the_next_to_the_first_and_once() -> None:
    first = decided(OTHER, 0)
    taken_back = undone(decided(first, 1, {}), 2)

    none = phases.read_weights(settings=undone(first, 1))
    back = phases.read_weights(settings=taken_back)

    assert (none.weights, none.decided_at, none.counts_since) == ({}, None, NOW + DAY)
    assert (back.weights, back.decided_at, back.counts_since) == (WEIGHTS, NOW, NOW + 2 * DAY)
    assert back.before is None
    assert undone(taken_back, 3) == taken_back  # asked again


def test_a_decision_after_one_was_taken_back_is_taken_back_as_well() -> None:
    again = decided(undone(decided(OTHER, 0), 1), 2)

    found = phases.read_weights(settings=again)
    back = phases.read_weights(settings=undone(again, 2))

    assert (found.decided_at, found.counts_since) == (NOW + 2 * DAY, NOW + 2 * DAY)
    assert (back.weights, back.decided_at, back.before) == ({}, None, None)


def test_joined_weights_keep_what_is_not_changed() -> None:
    changes = {Phase.DEFINE: {MemoryType.GOTCHA: 0.9}, Phase.REFINE: {MemoryType.FACT: 1.1}}

    found = phases.joined_weights(own=WEIGHTS, changes=changes)

    assert found == {
        Phase.DEFINE: {MemoryType.FACT: 1.2, MemoryType.GOTCHA: 0.9},
        Phase.REFINE: {MemoryType.FACT: 1.1},
    }


def test_what_is_no_weight_counts_as_if_it_were_not_there() -> None:
    for kept in (
        None,
        7,
        [],
        {"weights": 3},
        {"weights": {"define": {"fact": 9.0}}},
        {"weights": {"define": {"fact": "1.2"}}},
        {"weights": {"lunch": {"fact": 1.2}}, "decided_at": "yesterday"},
    ):
        found = phases.read_weights(settings={"phase_weights": kept})
        assert not any(found.weights.values())
        assert (found.decided_at, found.before) == (None, None)
