"""Formulas of belief and value: confidence, importance, activation; pure, each with its source.

Confidence says how far a memory may be believed now. The effective one is the stored one times a
factor for each doubt times retention since it was last stated or confirmed: that it was shown to
somebody, tagged or pinned says nothing about its truth. Everything comes from a stored base and a
date: multiplying a stored value each night compounds. Time lowers retention alone, down to the
memory's own floor: stale is what its source no longer says, contradicted what evidence denies.

Activation is ACT-R's base level: how likely a memory is needed now (Anderson & Lebiere 1998). A
score that is a sum carries its parts as factors, so that it can be explained.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from memory.taxonomy import Tier, Verification

VERIFICATION_FACTORS: dict[Verification, float] = {
    Verification.UNVERIFIED: 1.0,
    Verification.EVIDENCED: 1.0,
    Verification.VERIFIED: 1.0,
    Verification.STALE: 0.7,
    Verification.CONTRADICTED: 0.3,
}
TAINTED_FACTOR = 0.7
DISPUTED_FACTOR = 0.8  # of each side of an open conflict
CONFIRMED = 0.9  # of what a person confirmed in person, at least; default, not measured
LONG_TERM_FROM = 0.7  # importance
SHORT_TERM_FROM = 0.3  # importance
INTAKE_BASE = 0.5
INTAKE_SURPRISE = 0.2
INTAKE_CONFIDENCE = 0.1
ACTIVATION_DECAY = 0.5  # d, Anderson & Lebiere 1998
MINIMUM_LIFETIME_HOURS = 1.0  # the base level has no bound as the lifetime goes to 0


class Factor(NamedTuple):
    """One summand of a score."""

    name: str
    value: float


def total(*, factors: Sequence[Factor]) -> float:
    """Add the parts exactly (Shewchuk's sum, so their order does not matter)."""
    return math.fsum([factor.value for factor in factors])


def checked_share(*, name: str, value: float) -> float:
    """Return `value` when within 0..1; raise ValueError naming it otherwise (also for NaN)."""
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must be within 0..1, not {value}")
    return value


def checked_not_negative(*, name: str, value: float) -> float:
    """Return `value` when finite and at least 0; raise ValueError naming it otherwise."""
    if not 0.0 <= value < math.inf:
        raise ValueError(f"{name} must be 0 or more and finite, not {value}")
    return value


def retention(*, days_idle: float, half_life_days: float | None, pinned: bool) -> float:
    """Compute 0.5^(days / half-life), 0..1; 1 when pinned or without a half-life.

    Raises ValueError for a negative age or a half-life that is not above 0.
    """
    checked_not_negative(name="days_idle", value=days_idle)
    if half_life_days is not None and not half_life_days > 0.0:
        raise ValueError(f"half_life_days must be above 0, not {half_life_days}")
    if pinned or half_life_days is None:
        return 1.0
    return float(0.5 ** (days_idle / half_life_days))


def effective_confidence(
    *,
    confidence: float,
    verification: Verification,
    is_tainted: bool,
    is_disputed: bool,
    floor: float,
    half_life_days: float | None,
    pinned: bool,
    days_idle: float,
) -> float:
    """Compute the confidence to act on now, 0..1; `half_life_days` None = it never decays.

    `days_idle` are those since it was last stated or confirmed. Time takes a confidence to the
    floor and no further; doubts count in full.
    """
    stored = checked_share(name="confidence", value=confidence)
    kept = stored * retention(days_idle=days_idle, half_life_days=half_life_days, pinned=pinned)
    doubts = (TAINTED_FACTOR if is_tainted else 1.0) * (DISPUTED_FACTOR if is_disputed else 1.0)
    return max(kept, min(stored, floor)) * VERIFICATION_FACTORS[verification] * doubts


def confirmed(*, confidence: float) -> float:
    """Compute the stored confidence after a person confirmed in person: at least 0.9."""
    return max(checked_share(name="confidence", value=confidence), CONFIRMED)


def importance_at_intake(*, surprise: float, confidence: float) -> float:
    """Compute I = 0.5 + 0.2·surprise + 0.1·confidence, before anything is known about its use."""
    checked_share(name="surprise", value=surprise)
    checked_share(name="confidence", value=confidence)
    return INTAKE_BASE + INTAKE_SURPRISE * surprise + INTAKE_CONFIDENCE * confidence


def tier(*, importance: float) -> Tier:
    """Choose the tier: from 0.7 long term, from 0.3 short term, else current."""
    if importance >= LONG_TERM_FROM:
        return Tier.LONG_TERM
    return Tier.SHORT_TERM if importance >= SHORT_TERM_FROM else Tier.CURRENT


def base_level(*, accesses: int, lifetime_hours: float) -> float:
    """Compute B = ln(n / (1 - d)) - d · ln(L) (Anderson & Lebiere 1998).

    n: accesses, its creation being the first; L: hours since creation, at least one. Raises
    ValueError outside of these.
    """
    checked_not_negative(name="lifetime_hours", value=lifetime_hours)
    if accesses < 1:
        raise ValueError(f"accesses must be at least 1 (the creation), not {accesses}")
    lifetime = max(lifetime_hours, MINIMUM_LIFETIME_HOURS)
    return math.log(accesses / (1.0 - ACTIVATION_DECAY)) - ACTIVATION_DECAY * math.log(lifetime)
