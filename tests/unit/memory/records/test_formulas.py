"""Confidence, importance and activation: worked examples, and what must always hold."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import formulas
from memory.taxonomy import Tier, Verification

HOURS = st.floats(0, 1e6)
DAYS = st.floats(0, 1e4)
BELIEF: dict[str, Any] = {
    "confidence": 0.8,
    "verification": Verification.UNVERIFIED,
    "is_tainted": False,
    "is_disputed": False,
    "floor": 0.0,
    "half_life_days": 60,
    "pinned": False,
}


def _confidence(days: float = 0.0, **given: object) -> float:
    return formulas.effective_confidence(**{**BELIEF, **given}, days_idle=days)


def test_worked_examples() -> None:
    base = formulas.base_level(accesses=12, lifetime_hours=720)

    assert base == pytest.approx(3.178 - 3.288, abs=0.003)
    assert formulas.importance_at_intake(surprise=0.67, confidence=0.95) == pytest.approx(0.729)
    assert [formulas.confirmed(confidence=n) for n in (0.5, 0.9, 0.97)] == [0.9, 0.9, 0.97]
    tiers = [formulas.tier(importance=value) for value in (0.7, 0.699, 0.3, 0.0)]
    assert tiers == [Tier.LONG_TERM, Tier.SHORT_TERM, Tier.SHORT_TERM, Tier.CURRENT]


@given(accesses=st.integers(1, 10_000), hours=HOURS, later=HOURS)
def test_base_level_follows_use_and_age(accesses: int, hours: float, later: float) -> None:
    now = formulas.base_level(accesses=accesses, lifetime_hours=hours)

    assert formulas.base_level(accesses=accesses + 1, lifetime_hours=hours) > now
    assert formulas.base_level(accesses=accesses, lifetime_hours=hours + later) <= now


@pytest.mark.parametrize(
    ("days", "doubt", "factor"),
    [
        (60, {}, 0.5),
        (10_000, {"pinned": True}, 1.0),
        (10_000, {"half_life_days": None}, 1.0),
        (0, {"verification": Verification.VERIFIED}, 1.0),
        (0, {"verification": Verification.STALE}, 0.7),
        (0, {"verification": Verification.CONTRADICTED}, 0.3),
        (0, {"is_tainted": True}, 0.7),
        (0, {"is_disputed": True}, 0.8),
        (10_000, {"floor": 0.4}, 0.5),
        (10_000, {"floor": 1.0}, 1.0),
        (10_000, {"floor": 0.4, "is_disputed": True}, 0.4),
        (60, {"verification": Verification.STALE, "is_tainted": True}, 0.245),
    ],
)
def test_doubts_have_their_factors(days: float, doubt: dict[str, object], factor: float) -> None:
    assert _confidence(days, **doubt) == pytest.approx(0.8 * factor)


@given(days=DAYS, later=DAYS, half_life=st.floats(0.1, 1000))
def test_retention_never_rises(days: float, later: float, half_life: float) -> None:
    now, then = (
        formulas.retention(days_idle=passed, half_life_days=half_life, pinned=False)
        for passed in (days, days + later)
    )

    assert 0.0 <= then <= now <= 1.0


def test_inputs_outside_of_their_range_are_refused() -> None:
    for accesses, hours in ((0, 1.0), (1, -1.0), (1, math.nan)):
        with pytest.raises(ValueError, match="must be"):
            formulas.base_level(accesses=accesses, lifetime_hours=hours)
    with pytest.raises(ValueError, match="confidence"):
        _confidence(confidence=1.2)
    with pytest.raises(ValueError, match="days_idle"):
        _confidence(-1)
    with pytest.raises(ValueError, match="half_life_days"):
        _confidence(half_life_days=0)
    with pytest.raises(ValueError, match="confidence"):
        formulas.importance_at_intake(surprise=0.5, confidence=math.nan)
