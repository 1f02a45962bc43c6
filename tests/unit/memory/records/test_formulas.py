"""Confidence, importance and activation: worked examples, and what must always hold."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import formulas
from memory.records.formulas import Belief, Use, total
from memory.taxonomy import Governance, Tier, Verification

COUNTS = st.integers(1, 10_000)
HOURS = st.floats(0, 1e6)
LEVELS = st.floats(-50, 50)
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
SHARES = st.floats(0, 1)
FACTUAL_DECAY = 0.10


def test_base_level_of_the_worked_example() -> None:
    base = formulas.base_level(accesses=12, lifetime_hours=720)

    assert base == pytest.approx(3.178 - 3.288, abs=0.003)


@given(accesses=COUNTS, hours=HOURS, later=HOURS)
def test_base_level_rises_with_use_and_falls_with_age(
    accesses: int, hours: float, later: float
) -> None:
    now = formulas.base_level(accesses=accesses, lifetime_hours=hours)

    assert formulas.base_level(accesses=accesses + 1, lifetime_hours=hours) > now
    assert formulas.base_level(accesses=accesses, lifetime_hours=hours + later) <= now


@pytest.mark.parametrize(
    ("accesses", "hours", "decay"), [(0, 1.0, 0.5), (1, -1.0, 0.5), (1, math.nan, 0.5), (1, 1, 1)]
)
def test_base_level_refuses_what_has_no_logarithm(
    accesses: int, hours: float, decay: float
) -> None:
    with pytest.raises(ValueError, match="must be"):
        formulas.base_level(accesses=accesses, lifetime_hours=hours, decay=decay)


def _value(belief: Belief, days: float = 0.0) -> float:
    return formulas.effective_confidence(belief=belief, days_since_access=days).value


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

    parts = formulas.effective_confidence(belief=doubted, days_since_access=30)

    product = parts.stored * parts.verification * parts.dispute * parts.taint * parts.retention
    assert product == parts.value


@given(days=DAYS, later=DAYS, half_life=st.floats(0.1, 1000))
def test_retention_never_rises(days: float, later: float, half_life: float) -> None:
    now = formulas.retention(days_since_access=days, half_life_days=half_life, pinned=False)
    then = formulas.retention(
        days_since_access=days + later, half_life_days=half_life, pinned=False
    )

    assert 0.0 <= then <= now <= 1.0


def test_the_day_it_falls_below_the_floor_is_known() -> None:
    at = formulas.falls_below_at(belief=BELIEF, last_accessed_at=MONDAY, floor=0.2)

    assert at == MONDAY + timedelta(days=120)


@given(confidence=st.floats(0.01, 1), floor=st.floats(0.01, 1))
def test_on_that_day_it_is_at_the_floor_or_was_never_above(confidence: float, floor: float) -> None:
    belief = replace(BELIEF, confidence=confidence)

    at = formulas.falls_below_at(belief=belief, last_accessed_at=MONDAY, floor=floor)

    assert at is not None
    days = (at - MONDAY) / timedelta(days=1)
    assert _value(belief, days=days) == pytest.approx(min(confidence, floor), rel=1e-6)


def test_a_pinned_memory_never_falls_below() -> None:
    pinned = replace(BELIEF, pinned=True)

    assert formulas.falls_below_at(belief=pinned, last_accessed_at=MONDAY, floor=0.5) is None


def test_proven_use_lifts_confidence_a_little() -> None:
    assert formulas.lifted_by_use(confidence=0.8, use=PROVEN) == pytest.approx(0.85)


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
    assert formulas.lifted_by_use(confidence=0.8, use=use) == 0.8


@pytest.mark.parametrize(("before", "after"), [(0.93, 0.95), (0.95, 0.95), (1.0, 1.0)])
def test_use_lifts_to_its_cap_and_lowers_nothing(before: float, after: float) -> None:
    assert formulas.lifted_by_use(confidence=before, use=PROVEN) == after


def test_inputs_outside_of_their_range_are_refused() -> None:
    with pytest.raises(ValueError, match="confidence"):
        _value(replace(BELIEF, confidence=1.2))
    with pytest.raises(ValueError, match="days_since_access"):
        _value(BELIEF, days=-1)
    with pytest.raises(ValueError, match="half_life_days"):
        _value(replace(BELIEF, half_life_days=0))
    with pytest.raises(ValueError, match="floor"):
        formulas.falls_below_at(belief=BELIEF, last_accessed_at=MONDAY, floor=0)


@pytest.mark.parametrize(("before", "after"), [(0.5, 0.9), (0.9, 0.9), (0.97, 0.97)])
def test_what_a_person_confirmed_is_surer_and_never_less_sure(before: float, after: float) -> None:
    assert formulas.confirmed(confidence=before) == after


def test_importance_at_intake_of_the_worked_example() -> None:
    assert formulas.importance_at_intake(surprise=0.67, confidence=0.95) == pytest.approx(0.729)


def test_frequency_of_the_worked_example() -> None:
    assert formulas.frequency(accesses=3, max_accesses=50) == pytest.approx(0.352, abs=0.001)


def test_recency_decays_by_the_day() -> None:
    recency = formulas.recency(decay=FACTUAL_DECAY, age_hours=720)

    assert recency == pytest.approx(math.exp(-3.0))


def test_importance_and_tier_of_the_worked_example() -> None:
    result = formulas.importance(relevance=0.4, frequency=0.352, recency=0.0, surprise=0.45)

    assert result.value == pytest.approx(0.298, abs=0.0005)
    assert [round(factor.value, 3) for factor in result.factors] == [0.12, 0.088, 0.0, 0.09]
    assert formulas.tier(importance=result.value) is Tier.CURRENT


@pytest.mark.parametrize(
    ("governance", "importance", "age_days", "is_due"),
    [
        (Governance.CONSTITUTIONAL, 0.0, 10_000, False),
        (Governance.LEGISLATIVE, 0.0, 10_000, False),
        (Governance.FACTUAL, 0.298, 45, False),
        (Governance.FACTUAL, 0.09, 45, True),
        (Governance.FACTUAL, 0.09, 30, False),
        (Governance.EPHEMERAL, 0.08, 20, True),
        (Governance.EPHEMERAL, 0.15, 20, False),
    ],
)
def test_archival_of_the_worked_examples(
    governance: Governance, importance: float, age_days: float, is_due: bool
) -> None:
    due = formulas.is_due_for_archival(
        governance=governance, tags=("auth",), importance=importance, age_days=age_days
    )

    assert due == is_due


def test_a_protected_tag_prevents_archival() -> None:
    assert not formulas.is_due_for_archival(
        governance=Governance.EPHEMERAL, tags=("exact_value",), importance=0.0, age_days=999
    )


@pytest.mark.parametrize(
    ("importance", "tier"),
    [(0.7, Tier.LONG_TERM), (0.699, Tier.SHORT_TERM), (0.3, Tier.SHORT_TERM), (0.0, Tier.CURRENT)],
)
def test_tiers_begin_at_their_thresholds(importance: float, tier: Tier) -> None:
    assert formulas.tier(importance=importance) is tier


@given(relevance=SHARES, frequency=SHARES, recency=SHARES, surprise=SHARES)
def test_importance_is_a_share_and_the_sum_of_its_factors(
    relevance: float, frequency: float, recency: float, surprise: float
) -> None:
    result = formulas.importance(
        relevance=relevance, frequency=frequency, recency=recency, surprise=surprise
    )

    assert 0.0 <= result.value <= 1.0
    assert total(factors=result.factors) == result.value


@given(
    hours=st.floats(0, 1e5), later=st.floats(0, 1e5), beta=st.sampled_from((None, 0.5, 0.8, 1.2))
)
def test_strength_never_rises(hours: float, later: float, beta: float | None) -> None:
    now = formulas.strength(initial=1.0, decay=FACTUAL_DECAY, beta=beta, age_hours=hours)
    then = formulas.strength(initial=1.0, decay=FACTUAL_DECAY, beta=beta, age_hours=hours + later)

    assert 0.0 <= then <= now <= 1.0


@given(accesses=st.integers(0, 1000), most=st.integers(0, 1000))
def test_frequency_is_a_share(accesses: int, most: int) -> None:
    assert 0.0 <= formulas.frequency(accesses=accesses, max_accesses=most) <= 1.0


def test_a_layer_without_beta_keeps_its_strength() -> None:
    assert formulas.strength(initial=0.6, decay=0.0, beta=None, age_hours=1e6) == 0.6


def test_inputs_of_importance_outside_of_their_range_are_refused() -> None:
    with pytest.raises(ValueError, match="surprise"):
        formulas.importance(relevance=0, frequency=0, recency=0, surprise=1.1)
    with pytest.raises(ValueError, match="confidence"):
        formulas.importance_at_intake(surprise=0.5, confidence=math.nan)
    with pytest.raises(ValueError, match="age_hours"):
        formulas.recency(decay=0.1, age_hours=-1)
    with pytest.raises(ValueError, match="accesses"):
        formulas.frequency(accesses=-1, max_accesses=3)
