"""Confidence decays from a stored base, doubts lower it, use lifts it once."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import confidence as belief_in
from memory.records.confidence import Belief, Use
from memory.taxonomy import Verification

BELIEF = Belief(
    confidence=0.8,
    verification=Verification.UNVERIFIED,
    is_disputed=False,
    is_tainted=False,
    half_life_days=60,
    pinned=False,
)
PROVEN = Use(
    good_injections=5,
    people=2,
    corrections=0,
    was_lifted=False,
    needs_review=False,
    is_tainted=False,
)
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
DAYS = st.floats(0, 1e4)


def _value(belief: Belief, days: float = 0.0) -> float:
    return belief_in.effective_confidence(belief=belief, days_since_access=days).value


def test_a_half_life_halves() -> None:
    assert _value(BELIEF, days=60) == pytest.approx(0.4)


@pytest.mark.parametrize(
    "kept", [replace(BELIEF, pinned=True), replace(BELIEF, half_life_days=None)]
)
def test_pinned_and_timeless_memories_do_not_decay(kept: Belief) -> None:
    assert _value(kept, days=10_000) == 0.8


@pytest.mark.parametrize(
    ("doubted", "factor"),
    [
        (replace(BELIEF, verification=Verification.VERIFIED), 1.0),
        (replace(BELIEF, verification=Verification.STALE), 0.7),
        (replace(BELIEF, verification=Verification.CONTRADICTED), 0.3),
        (replace(BELIEF, is_disputed=True), 0.8),
        (replace(BELIEF, is_tainted=True), 0.7),
        (replace(BELIEF, is_disputed=True, is_tainted=True), 0.56),
    ],
)
def test_each_doubt_has_its_factor(doubted: Belief, factor: float) -> None:
    assert _value(doubted) == pytest.approx(0.8 * factor)


def test_the_factors_multiply_to_the_value() -> None:
    doubted = replace(BELIEF, verification=Verification.STALE, is_disputed=True)

    parts = belief_in.effective_confidence(belief=doubted, days_since_access=30)

    product = parts.stored * parts.verification * parts.dispute * parts.taint * parts.retention
    assert product == parts.value


@given(days=DAYS, later=DAYS, half_life=st.floats(0.1, 1000))
def test_retention_never_rises(days: float, later: float, half_life: float) -> None:
    now = belief_in.retention(days_since_access=days, half_life_days=half_life, pinned=False)
    then = belief_in.retention(
        days_since_access=days + later, half_life_days=half_life, pinned=False
    )

    assert 0.0 <= then <= now <= 1.0


def test_the_day_it_falls_below_the_floor_is_known() -> None:
    at = belief_in.falls_below_at(belief=BELIEF, last_accessed_at=MONDAY, floor=0.2)

    assert at == MONDAY + timedelta(days=120)


@given(confidence=st.floats(0.01, 1), floor=st.floats(0.01, 1))
def test_on_that_day_it_is_at_the_floor_or_was_never_above(confidence: float, floor: float) -> None:
    belief = replace(BELIEF, confidence=confidence)

    at = belief_in.falls_below_at(belief=belief, last_accessed_at=MONDAY, floor=floor)

    assert at is not None
    days = (at - MONDAY) / timedelta(days=1)
    assert _value(belief, days=days) == pytest.approx(min(confidence, floor), rel=1e-6)


def test_a_pinned_memory_never_falls_below() -> None:
    pinned = replace(BELIEF, pinned=True)

    assert belief_in.falls_below_at(belief=pinned, last_accessed_at=MONDAY, floor=0.5) is None


def test_proven_use_lifts_confidence_a_little() -> None:
    assert belief_in.lifted_by_use(confidence=0.8, use=PROVEN) == pytest.approx(0.85)


@pytest.mark.parametrize(
    "use",
    [
        replace(PROVEN, good_injections=4),
        replace(PROVEN, people=1, good_injections=500),
        replace(PROVEN, corrections=1),
        replace(PROVEN, was_lifted=True),
        replace(PROVEN, needs_review=True),
        replace(PROVEN, is_tainted=True),
    ],
)
def test_exposure_one_person_or_a_flag_lifts_nothing(use: Use) -> None:
    assert belief_in.lifted_by_use(confidence=0.8, use=use) == 0.8


@pytest.mark.parametrize(("before", "after"), [(0.93, 0.95), (0.95, 0.95), (1.0, 1.0)])
def test_use_lifts_to_its_cap_and_lowers_nothing(before: float, after: float) -> None:
    assert belief_in.lifted_by_use(confidence=before, use=PROVEN) == after


def test_inputs_outside_of_their_range_are_refused() -> None:
    with pytest.raises(ValueError, match="confidence"):
        _value(replace(BELIEF, confidence=1.2))
    with pytest.raises(ValueError, match="days_since_access"):
        _value(BELIEF, days=-1)
    with pytest.raises(ValueError, match="half_life_days"):
        _value(replace(BELIEF, half_life_days=0))
    with pytest.raises(ValueError, match="floor"):
        belief_in.falls_below_at(belief=BELIEF, last_accessed_at=MONDAY, floor=0)


@pytest.mark.parametrize(("before", "after"), [(0.5, 0.9), (0.9, 0.9), (0.97, 0.97)])
def test_what_a_person_confirmed_is_surer_and_never_less_sure(before: float, after: float) -> None:
    assert belief_in.confirmed(confidence=before) == after
