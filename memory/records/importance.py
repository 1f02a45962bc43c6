"""FadeMem importance and what follows from it: strength, tier, archival.

The decay rates of governance layers are per day. One seed applies them per hour, which halves a
fact in seven hours; `unit_hours` exists so that its worked example can be reproduced, and nothing
else passes it.
"""

import math
from dataclasses import dataclass

from memory import taxonomy
from memory.records.factors import Factor, checked_not_negative, checked_share, total
from memory.taxonomy import Governance, Tier

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


def recency(*, decay: float, age_hours: float, unit_hours: float = HOURS_PER_DAY) -> float:
    """Compute exp(-λ · t), 0..1; t is the age since last access in the unit of λ."""
    return math.exp(-decay * _elapsed(decay=decay, age_hours=age_hours, unit_hours=unit_hours))


def strength(*, initial: float, decay: float, beta: float | None, age_hours: float) -> float:
    """Compute v(t) = v(0) · exp(-λ · t^β), t in days; constant when β is None (layer 1).

    β < 1 falls fast, then slowly; β > 1 slowly, then fast (Weibull).
    """
    checked_not_negative(name="initial", value=initial)
    days = _elapsed(decay=decay, age_hours=age_hours, unit_hours=HOURS_PER_DAY)
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


def _elapsed(*, decay: float, age_hours: float, unit_hours: float) -> float:
    checked_not_negative(name="decay", value=decay)
    return checked_not_negative(name="age_hours", value=age_hours) / unit_hours
