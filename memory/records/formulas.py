"""Formulas of belief and value: confidence, importance, activation; pure, each with its source.

Confidence says how far a memory may be believed now. The effective one is the stored one times a
factor for each doubt times retention since the last access. Everything comes from a stored base and
a date: multiplying a stored value each night compounds. Time alone makes a memory stale; only
evidence makes it contradicted. Use may lift confidence once, and only use that ended well for two
people; it never clears a review flag or a taint.

Importance is FadeMem's: what it is worth to keep, from which tier and archival follow. Its decay
rates are per day. Activation is ACT-R's base level: how likely a memory is needed now (Anderson &
Lebiere 1998). A score that is a sum carries its parts as factors, so that it can be explained.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory import taxonomy
from memory.taxonomy import Governance, Tier, Verification

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
CONFIRMED = 0.9  # of what a person confirmed in person, at least; default, not measured
RELEVANCE_WEIGHT = 0.30
FREQUENCY_WEIGHT = 0.25
RECENCY_WEIGHT = 0.25
SURPRISE_WEIGHT = 0.20
LONG_TERM_FROM = 0.7  # importance
SHORT_TERM_FROM = 0.3  # importance
INTAKE_BASE = 0.5
INTAKE_SURPRISE = 0.2
INTAKE_CONFIDENCE = 0.1
HOURS_PER_DAY = 24.0  # the unit of decay
ACTIVATION_DECAY = 0.5  # d, Anderson & Lebiere 1998
MINIMUM_LIFETIME_HOURS = 1.0  # the base level has no bound as the lifetime goes to 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """One summand of a score."""

    name: str
    value: float


def total(*, factors: tuple[Factor, ...]) -> float:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Importance:
    """An importance 0..1 and the weighted parts that sum to it."""

    value: float
    factors: tuple[Factor, ...]


def frequency(*, accesses: int, max_accesses: int) -> float:
    """Compute ln(n + 1) / ln(n_max + 1), 0..1; 0 when nothing was ever accessed.

    Capped at 1, since n may be counted later than n_max. Raises ValueError for negative counts.
    """
    if accesses < 0 or max_accesses < 0:
        raise ValueError(f"accesses must be 0 or more, not {accesses} of {max_accesses}")
    if max_accesses == 0:
        return min(1.0, float(accesses))
    return min(1.0, math.log(accesses + 1) / math.log(max_accesses + 1))


def recency(*, decay: float, age_hours: float) -> float:
    """Compute exp(-λ · t), 0..1; t is the age since last access in days, the unit of λ."""
    return math.exp(-decay * _elapsed_days(decay=decay, age_hours=age_hours))


def strength(*, initial: float, decay: float, beta: float | None, age_hours: float) -> float:
    """Compute v(t) = v(0) · exp(-λ · t^β), t in days; constant when β is None (layer 1).

    β < 1 falls fast, then slowly; β > 1 slowly, then fast (Weibull).
    """
    checked_not_negative(name="initial", value=initial)
    days = _elapsed_days(decay=decay, age_hours=age_hours)
    return initial if beta is None else initial * math.exp(-decay * days**beta)


def importance(
    *, relevance: float, frequency: float, recency: float, surprise: float
) -> Importance:
    """Compute I = 0.30·relevance + 0.25·frequency + 0.25·recency + 0.20·surprise; all 0..1.

    Raises ValueError for an input outside of 0..1.
    """
    weighted = (
        ("relevance", RELEVANCE_WEIGHT, relevance),
        ("frequency", FREQUENCY_WEIGHT, frequency),
        ("recency", RECENCY_WEIGHT, recency),
        ("surprise", SURPRISE_WEIGHT, surprise),
    )
    factors = tuple(
        Factor(name=name, value=weight * checked_share(name=name, value=value))
        for name, weight, value in weighted
    )
    return Importance(value=total(factors=factors), factors=factors)


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


def is_due_for_archival(
    *, governance: Governance, tags: tuple[str, ...], importance: float, age_days: float
) -> bool:
    """Say whether its layer archives a memory of this age and importance."""
    row = taxonomy.governance_row(governance=governance)
    if row.archive_after_days is None or row.archive_below_importance is None:
        return False
    if taxonomy.is_protected(tags=tags):
        return False
    return age_days > row.archive_after_days and importance < row.archive_below_importance


def _elapsed_days(*, decay: float, age_hours: float) -> float:
    checked_not_negative(name="decay", value=decay)
    return checked_not_negative(name="age_hours", value=age_hours) / HOURS_PER_DAY


def base_level(*, accesses: int, lifetime_hours: float, decay: float = ACTIVATION_DECAY) -> float:
    """Compute B = ln(n / (1 - d)) - d · ln(L) (Anderson & Lebiere 1998).

    n: accesses, its creation being the first; L: hours since creation, at least one; d: 0 ≤ d < 1.
    Raises ValueError outside of these.
    """
    checked_not_negative(name="lifetime_hours", value=lifetime_hours)
    if accesses < 1:
        raise ValueError(f"accesses must be at least 1 (the creation), not {accesses}")
    if not 0.0 <= decay < 1.0:
        raise ValueError(f"decay must be within 0..1, 1 excluded, not {decay}")
    lifetime = max(lifetime_hours, MINIMUM_LIFETIME_HOURS)
    return math.log(accesses / (1.0 - decay)) - decay * math.log(lifetime)
