"""FadeMem importance: worked examples, and what must always hold."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import importance as fade
from memory.records.factors import total
from memory.taxonomy import Governance, Tier

SHARES = st.floats(0, 1)
FACTUAL_DECAY = 0.10


def test_importance_at_intake_of_the_worked_example() -> None:
    assert fade.importance_at_intake(surprise=0.67, confidence=0.95) == pytest.approx(0.729)


def test_frequency_of_the_worked_example() -> None:
    assert fade.frequency(accesses=3, max_accesses=50) == pytest.approx(0.352, abs=0.001)


def test_recency_of_the_worked_example_with_its_decay_per_hour() -> None:
    recency = fade.recency(decay=FACTUAL_DECAY, age_hours=720, unit_hours=1)

    assert recency == pytest.approx(0.0, abs=1e-9)


def test_recency_decays_by_the_day() -> None:
    recency = fade.recency(decay=FACTUAL_DECAY, age_hours=720)

    assert recency == pytest.approx(math.exp(-3.0))


def test_importance_and_tier_of_the_worked_example() -> None:
    result = fade.importance(relevance=0.4, frequency=0.352, recency=0.0, surprise=0.45)

    assert result.value == pytest.approx(0.298, abs=0.0005)
    assert [round(factor.value, 3) for factor in result.factors] == [0.12, 0.088, 0.0, 0.09]
    assert fade.tier(importance=result.value) is Tier.CURRENT


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
    due = fade.is_due_for_archival(
        governance=governance, tags=("auth",), importance=importance, age_days=age_days
    )

    assert due == is_due


def test_a_protected_tag_prevents_archival() -> None:
    assert not fade.is_due_for_archival(
        governance=Governance.EPHEMERAL, tags=("exact_value",), importance=0.0, age_days=999
    )


@pytest.mark.parametrize(
    ("importance", "tier"),
    [(0.7, Tier.LONG_TERM), (0.699, Tier.SHORT_TERM), (0.3, Tier.SHORT_TERM), (0.0, Tier.CURRENT)],
)
def test_tiers_begin_at_their_thresholds(importance: float, tier: Tier) -> None:
    assert fade.tier(importance=importance) is tier


@given(relevance=SHARES, frequency=SHARES, recency=SHARES, surprise=SHARES)
def test_importance_is_a_share_and_the_sum_of_its_factors(
    relevance: float, frequency: float, recency: float, surprise: float
) -> None:
    result = fade.importance(
        relevance=relevance, frequency=frequency, recency=recency, surprise=surprise
    )

    assert 0.0 <= result.value <= 1.0
    assert total(factors=result.factors) == result.value


@given(
    hours=st.floats(0, 1e5), later=st.floats(0, 1e5), beta=st.sampled_from((None, 0.5, 0.8, 1.2))
)
def test_strength_never_rises(hours: float, later: float, beta: float | None) -> None:
    now = fade.strength(initial=1.0, decay=FACTUAL_DECAY, beta=beta, age_hours=hours)
    then = fade.strength(initial=1.0, decay=FACTUAL_DECAY, beta=beta, age_hours=hours + later)

    assert 0.0 <= then <= now <= 1.0


@given(accesses=st.integers(0, 1000), most=st.integers(0, 1000))
def test_frequency_is_a_share(accesses: int, most: int) -> None:
    assert 0.0 <= fade.frequency(accesses=accesses, max_accesses=most) <= 1.0


def test_a_layer_without_beta_keeps_its_strength() -> None:
    assert fade.strength(initial=0.6, decay=0.0, beta=None, age_hours=1e6) == 0.6


def test_inputs_outside_of_their_range_are_refused() -> None:
    with pytest.raises(ValueError, match="surprise"):
        fade.importance(relevance=0, frequency=0, recency=0, surprise=1.1)
    with pytest.raises(ValueError, match="confidence"):
        fade.importance_at_intake(surprise=0.5, confidence=math.nan)
    with pytest.raises(ValueError, match="age_hours"):
        fade.recency(decay=0.1, age_hours=-1)
    with pytest.raises(ValueError, match="accesses"):
        fade.frequency(accesses=-1, max_accesses=3)
