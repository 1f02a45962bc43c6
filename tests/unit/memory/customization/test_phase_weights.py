"""A project's own weights stand in its settings; a decision can be taken back, once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory.customization import phases
from memory.customization.phases import Phase
from memory.taxonomy import MemoryType

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
OWN = {Phase.DEFINE: {MemoryType.FACT: 1.2}}
OTHER = {"pauses": {"project": True}}


def test_what_was_decided_is_read_again_and_the_rest_stays() -> None:
    settings = phases.with_decision(settings=OTHER, weights=OWN, now=NOW)

    found = phases.read_weights(settings=settings)

    assert (found.weights, found.decided_at) == (OWN, NOW)
    assert settings["pauses"] == OTHER["pauses"]


def test_the_first_decision_is_taken_back_to_nothing_and_the_next_to_the_first() -> None:
    first = phases.with_decision(settings=OTHER, weights=OWN, now=NOW)
    later = NOW + timedelta(days=1)
    second = phases.with_decision(settings=first, weights={}, now=later)

    none = phases.read_weights(settings=phases.without_decision(settings=first, now=later))
    back = phases.read_weights(settings=phases.without_decision(settings=second, now=later))

    assert (none.weights, none.decided_at, none.counts_since) == ({}, None, later)
    assert (back.weights, back.decided_at, back.counts_since) == (OWN, NOW, later)


def test_what_was_taken_back_to_is_kept_when_it_is_asked_again() -> None:
    first = phases.with_decision(settings=OTHER, weights=OWN, now=NOW)
    second = phases.with_decision(settings=first, weights={}, now=NOW + timedelta(days=1))
    undone = phases.without_decision(settings=second, now=NOW + timedelta(days=2))

    again = phases.without_decision(settings=undone, now=NOW + timedelta(days=3))

    assert phases.read_weights(settings=undone).before is None
    assert again == undone


def test_a_decision_after_one_was_taken_back_is_taken_back_as_well() -> None:
    first = phases.with_decision(settings=OTHER, weights=OWN, now=NOW)
    undone = phases.without_decision(settings=first, now=NOW + timedelta(days=1))
    third = NOW + timedelta(days=2)
    decided = phases.with_decision(settings=undone, weights=OWN, now=third)

    found = phases.read_weights(settings=decided)
    back = phases.read_weights(settings=phases.without_decision(settings=decided, now=third))

    assert (found.decided_at, found.counts_since) == (third, third)
    assert (back.weights, back.decided_at, back.before) == ({}, None, None)


def test_joined_weights_keep_what_is_not_changed() -> None:
    changes = {Phase.DEFINE: {MemoryType.GOTCHA: 0.9}, Phase.REFINE: {MemoryType.FACT: 1.1}}

    found = phases.joined_weights(own=OWN, changes=changes)

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
