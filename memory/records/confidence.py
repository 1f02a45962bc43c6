"""Confidence: how far a memory may be believed now; computed, never stored.

Effective confidence is the stored one times a factor for each doubt times retention since last
access. Everything comes from a stored base and a date: multiplying a stored value each night
compounds. Time alone makes a memory stale; only evidence makes it contradicted. Use may lift
confidence once, and only use that ended well for two people; it never clears a review flag or a
taint.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory.records.factors import checked_not_negative, checked_share
from memory.taxonomy import Verification

VERIFICATION_FACTORS: dict[Verification, float] = {
    Verification.UNVERIFIED: 1.0,
    Verification.VERIFIED: 1.0,
    Verification.STALE: 0.7,
    Verification.CONTRADICTED: 0.3,
}
DISPUTED_FACTOR = 0.8
TAINTED_FACTOR = 0.7
USE_INJECTIONS = 5  # good injections
USE_PEOPLE = 2  # different people
USE_LIFT = 0.05
USE_CAP = 0.95
CONFIRMED = 0.9  # of what a person confirmed in person, at least; ours: people raise it


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """What is stored about the belief in a memory; `half_life_days` None = never decays."""

    confidence: float
    verification: Verification
    is_disputed: bool
    is_tainted: bool
    half_life_days: float | None
    pinned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveConfidence:
    """The product and its factors: stored · verification · dispute · taint · retention."""

    stored: float
    verification: float
    dispute: float
    taint: float
    retention: float
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """How a memory fared: injections into sessions that ended well, uncorrected, and whose."""

    good_injections: int
    people: int
    corrections: int
    was_lifted: bool
    needs_review: bool
    is_tainted: bool


def retention(*, days_since_access: float, half_life_days: float | None, pinned: bool) -> float:
    """Compute 0.5^(days / half-life), 0..1; 1 when pinned or without a half-life.

    Raises ValueError for a negative age or a half-life that is not above 0.
    """
    checked_not_negative(name="days_since_access", value=days_since_access)
    if half_life_days is not None and not half_life_days > 0.0:
        raise ValueError(f"half_life_days must be above 0, not {half_life_days}")
    if pinned or half_life_days is None:
        return 1.0
    return float(0.5 ** (days_since_access / half_life_days))


def effective_confidence(*, belief: Belief, days_since_access: float) -> EffectiveConfidence:
    """Compute the confidence to act on now, 0..1, with its factors."""
    stored = checked_share(name="confidence", value=belief.confidence)
    verification = VERIFICATION_FACTORS[belief.verification]
    dispute = DISPUTED_FACTOR if belief.is_disputed else 1.0
    taint = TAINTED_FACTOR if belief.is_tainted else 1.0
    kept = retention(
        days_since_access=days_since_access,
        half_life_days=belief.half_life_days,
        pinned=belief.pinned,
    )
    return EffectiveConfidence(
        stored=stored,
        verification=verification,
        dispute=dispute,
        taint=taint,
        retention=kept,
        value=stored * verification * dispute * taint * kept,
    )


def falls_below_at(*, belief: Belief, last_accessed_at: datetime, floor: float) -> datetime | None:
    """Compute when c · 0.5^(days/h) reaches `floor`: days = h · log2(c / floor).

    None when it never does; the last access itself when it is not above the floor even then.
    Raises ValueError unless 0 < floor ≤ 1.
    """
    if not 0.0 < floor <= 1.0:
        raise ValueError(f"floor must be above 0 and at most 1, not {floor}")
    fresh = effective_confidence(belief=belief, days_since_access=0.0).value
    if fresh <= floor:
        return last_accessed_at
    if belief.pinned or belief.half_life_days is None:
        return None
    return last_accessed_at + timedelta(days=belief.half_life_days * math.log2(fresh / floor))


def is_proven_by_use(*, use: Use) -> bool:
    """Say whether use earns the one lift: good injections, people, no flag, no correction."""
    is_flagged = use.needs_review or use.is_tainted or use.was_lifted or use.corrections > 0
    return not is_flagged and use.good_injections >= USE_INJECTIONS and use.people >= USE_PEOPLE


def confirmed(*, confidence: float) -> float:
    """Compute the stored confidence after a person confirmed in person: at least 0.9."""
    return max(checked_share(name="confidence", value=confidence), CONFIRMED)


def lifted_by_use(*, confidence: float, use: Use) -> float:
    """Compute the stored confidence after use: +0.05 once, up to 0.95, never lower."""
    checked_share(name="confidence", value=confidence)
    if not is_proven_by_use(use=use):
        return confidence
    return max(confidence, min(USE_CAP, confidence + USE_LIFT))
