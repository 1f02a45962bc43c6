"""The final score of a hit under a named profile, as parts that sum to it (spec 3.1, stage 5).

`cognitive` mixes fusion, activation and confidence; the fusion score must be brought to 0..1 first,
or confidence alone ranks. `coding` weighs closeness, recency and use, then multiplies by what the
phase, the source and the belief make of it. Which one is the default is decided by evaluation.
"""

import math
from dataclasses import dataclass

from memory.formulas.factors import Factor, checked_not_negative, checked_share, total

FUSION_WEIGHT = 0.60  # spec 3.1, cognitive
ACTIVATION_WEIGHT = 0.25  # spec 3.1, cognitive
CONFIDENCE_WEIGHT = 0.15  # spec 3.1, cognitive
ACTIVATION_SCALE = 10.0  # spec 3.1, cognitive
COSINE_WEIGHT = 0.60  # spec 3.1, coding
RECENCY_WEIGHT = 0.25  # spec 3.1, coding
USE_WEIGHT = 0.15  # spec 3.1, coding
USE_SCALE = 101  # accesses + 1 at which use counts fully, spec 3.1


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingEvidence:
    """What `coding` looks at; `volatility` is changes a day of the memory's files, accesses n."""

    cosine: float
    days_since_access: float
    volatility: float
    accesses: int
    phase_weight: float
    trust_multiplier: float
    effective_confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A score and the parts that sum to it."""

    value: float
    factors: tuple[Factor, ...]


def cognitive(*, fusion: float, activation: float, confidence: float) -> Score:
    """Compute 0.60·fusion + 0.25·A/10 + 0.15·confidence.

    fusion and confidence: 0..1, else ValueError; A: ACT-R activation.
    """
    checked_share(name="fusion", value=fusion)
    checked_share(name="confidence", value=confidence)
    return _score(
        Factor(name="fusion", value=FUSION_WEIGHT * fusion),
        Factor(name="activation", value=ACTIVATION_WEIGHT * activation / ACTIVATION_SCALE),
        Factor(name="confidence", value=CONFIDENCE_WEIGHT * confidence),
    )


def coding(*, evidence: CodingEvidence) -> Score:
    """Compute (0.6·cosine + 0.25·exp(-days · volatility) + 0.15·ln(1 + n) / ln(101)) · m.

    m: phase weight · trust multiplier · effective confidence; a negative cosine counts 0.
    Raises ValueError for negative ages, counts and weights.
    """
    days = checked_not_negative(name="days_since_access", value=evidence.days_since_access)
    volatility = checked_not_negative(name="volatility", value=evidence.volatility)
    accesses = checked_not_negative(name="accesses", value=evidence.accesses)
    use = math.log1p(accesses) / math.log(USE_SCALE)
    m = _multiplier(evidence)
    return _score(
        Factor(name="cosine", value=COSINE_WEIGHT * max(evidence.cosine, 0.0) * m),
        Factor(name="recency", value=RECENCY_WEIGHT * math.exp(-days * volatility) * m),
        Factor(name="use", value=USE_WEIGHT * use * m),
    )


def _multiplier(evidence: CodingEvidence) -> float:
    phase = checked_not_negative(name="phase_weight", value=evidence.phase_weight)
    trust = checked_not_negative(name="trust_multiplier", value=evidence.trust_multiplier)
    belief = checked_share(name="effective_confidence", value=evidence.effective_confidence)
    return phase * trust * belief


def _score(*factors: Factor) -> Score:
    return Score(value=total(factors=factors), factors=factors)
