"""The score of a hit under a named profile, as parts that sum to it.

A profile is data: how the paths are fused, how much each term counts, and what multiplies the sum.
`plain` is the fusion alone; `cognitive` mixes fusion, activation and confidence; `coding` weighs
fusion, closeness, recency and use, then multiplies by what the phase, the source and the belief
make of it: closeness alone finds less, because names are in the words and hardly in a vector.
Which one is the default is decided by evaluation.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from memory.records import activation
from memory.records.factors import Factor, checked_not_negative, checked_share, total
from memory.search.candidates import Path
from memory.search.evidence import Evidence
from memory.taxonomy import MemoryType, source_row

ACTIVATION_SCALE: Final = 10.0  # cognitive
USE_SCALE: Final = 101  # accesses + 1 at which use counts fully
VOLATILITY: Final = (
    0.02  # changes a day of a memory's files; ours, until the code graph counts them
)
HOURS_A_DAY: Final = 24
TOPICAL: Final = 0.15  # of topics beside the other paths, as of names; ours


class Term(StrEnum):
    """What a profile adds up."""

    FUSION = "fusion"
    COSINE = "cosine"
    RECENCY = "recency"
    USE = "use"
    ACTIVATION = "activation"
    CONFIDENCE = "confidence"


class Multiplier(StrEnum):
    """What a profile multiplies the sum by."""

    PHASE = "phase"
    TRUST = "trust"
    BELIEF = "belief"


class Method(StrEnum):
    """How the paths become one score."""

    MINMAX = "minmax"
    RECIPROCAL_RANK = "reciprocal_rank"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A named way to score: weights by term, and of the paths that it counts unlike the others."""

    name: str
    method: Method
    terms: Mapping[Term, float]
    multipliers: frozenset[Multiplier]
    paths: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The value of each term, and of each multiplier, before a profile weighs them."""

    terms: Mapping[Term, float]
    multipliers: Mapping[Multiplier, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A score, the parts that sum to it, and the multipliers that are in every part."""

    value: float
    factors: tuple[Factor, ...]
    multipliers: tuple[Factor, ...] = ()


_NAMES: Final = {name: name.value for name in (*Term, *Multiplier)}  # read often
_ALWAYS: Final = frozenset({Multiplier.PHASE})  # 1 when the request names no phase
PROFILES: Final[Mapping[str, Profile]] = {
    profile.name: profile
    for profile in (
        Profile(name="plain", method=Method.MINMAX, terms={Term.FUSION: 1.0}, multipliers=_ALWAYS),
        Profile(
            name="topical",  # plain, and what is in a topic of the first hits
            method=Method.MINMAX,
            terms={Term.FUSION: 1.0},
            multipliers=_ALWAYS,
            paths={Path.COMMUNITIES: TOPICAL},
        ),
        Profile(
            name="rrf",
            method=Method.RECIPROCAL_RANK,
            terms={Term.FUSION: 1.0},
            multipliers=_ALWAYS,
        ),
        Profile(
            name="coding",  # of closeness's 0.60 the fusion has 0.40, for it counts words
            method=Method.MINMAX,
            terms={Term.FUSION: 0.40, Term.COSINE: 0.20, Term.RECENCY: 0.25, Term.USE: 0.15},
            multipliers=frozenset(Multiplier),
        ),
        Profile(
            name="cognitive",
            method=Method.MINMAX,
            terms={Term.FUSION: 0.60, Term.ACTIVATION: 0.25, Term.CONFIDENCE: 0.15},
            multipliers=_ALWAYS,
        ),
    )
}
DEFAULT: Final = PROFILES["plain"]


def inputs_of(
    *,
    evidence: Evidence,
    fusion: float,
    cosine: float | None,
    weights: Mapping[MemoryType, float],
    profile: Profile | None = None,
) -> Inputs:
    """Turn what is known of a candidate into terms and multipliers, those of a profile or all.

    recency = exp(-idle days · volatility), use = ln(1 + n) / ln(101), activation = A / 10 with
    A = ln(n / 0.5) - 0.5 · ln(hours) above the layer's floor, n counting the creation; a missing or
    negative cosine counts 0. Raises ValueError for negative ages and counts.
    """
    terms = _TERMS if profile is None else profile.terms
    wanted = _MULTIPLIERS if profile is None else profile.multipliers
    return Inputs(
        terms={term: _TERMS[term](evidence, fusion, cosine) for term in terms},
        multipliers={name: _MULTIPLIERS[name](evidence, weights) for name in wanted},
    )


def score(*, profile: Profile, inputs: Inputs) -> Score:
    """Compute (Σ weight · term) · Π multiplier."""
    used = tuple(
        [
            Factor(name=_NAMES[name], value=inputs.multipliers[name])
            for name in _MULTIPLIERS
            if name in profile.multipliers
        ]
    )
    whole = math.prod([factor.value for factor in used])
    factors = tuple(
        [
            Factor(name=_NAMES[term], value=weight * inputs.terms[term] * whole)
            for term, weight in profile.terms.items()
        ]
    )
    return Score(value=total(factors=factors), factors=factors, multipliers=used)


def _activation(evidence: Evidence) -> float:
    accesses = int(checked_not_negative(name="accesses", value=evidence.accesses))
    hours = evidence.age_days * HOURS_A_DAY
    base = activation.base_level(accesses=accesses + 1, lifetime_hours=hours)
    return max(base, evidence.activation_floor) / ACTIVATION_SCALE


def _recency(evidence: Evidence) -> float:
    idle = checked_not_negative(name="idle_days", value=evidence.idle_days)
    return math.exp(-idle * VOLATILITY)


def _use(evidence: Evidence) -> float:
    accesses = int(checked_not_negative(name="accesses", value=evidence.accesses))
    return math.log1p(accesses) / math.log(USE_SCALE)


def _belief(evidence: Evidence) -> float:
    return checked_share(name="confidence", value=evidence.confidence)


_TERMS: Final[Mapping[Term, Callable[[Evidence, float, float | None], float]]] = {
    Term.FUSION: lambda _, fusion, __: checked_share(name="fusion", value=min(fusion, 1.0)),
    Term.COSINE: lambda _, __, cosine: max(cosine or 0.0, 0.0),
    Term.RECENCY: lambda evidence, _, __: _recency(evidence),
    Term.USE: lambda evidence, _, __: _use(evidence),
    Term.ACTIVATION: lambda evidence, _, __: _activation(evidence),
    Term.CONFIDENCE: lambda evidence, _, __: _belief(evidence),
}
_MULTIPLIERS: Final[
    Mapping[Multiplier, Callable[[Evidence, Mapping[MemoryType, float]], float]]
] = {
    Multiplier.PHASE: lambda evidence, weights: weights.get(evidence.type, 1.0),
    Multiplier.TRUST: lambda evidence, _: source_row(source=evidence.source).trust_multiplier,
    Multiplier.BELIEF: lambda evidence, _: _belief(evidence),
}
