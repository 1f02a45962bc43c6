"""Ranking: from candidates to an order with reasons.

First fusion, then the boost of the neighborhood, then the score of a named profile. What comes out
keeps every part, so that it can be explained and put in order anew by a reranker.

A profile is data: how the paths are fused, how much each term counts, and what multiplies the sum.
`plain` is the fusion alone; `cognitive` mixes fusion, activation and confidence; `coding` weighs
fusion, closeness, recency and use, then multiplies by what the phase, the source and the belief
make of it: closeness alone finds less, because names are in the words and hardly in a vector.
Which one is the default is decided by evaluation.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from memory.records import formulas
from memory.records.formulas import Factor, total
from memory.search import fusion
from memory.taxonomy import MemoryType, Source, source_row

NEIGHBORHOOD: Final = "neighborhood"  # the name of the boost among the parts
ACTIVATION_SCALE: Final = 10.0
USE_SCALE: Final = 101  # accesses + 1 at which use counts fully
VOLATILITY: Final = 0.02  # changes a day of a memory's files; a default, not measured
HOURS_A_DAY: Final = 24
TOPICAL: Final = 0.15  # of topics beside the other paths, as of names; a default, not measured


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


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingProfile:
    """A named way to score: weights by term, and of the paths that it counts unlike the others."""

    name: str
    terms: Mapping[Term, float]
    method: fusion.Method = fusion.Method.MINMAX
    multipliers: tuple[Multiplier, ...] = (Multiplier.PHASE,)  # 1 without a phase
    paths: Mapping[str, float] = field(default_factory=dict)


PROFILES: Final[Mapping[str, RankingProfile]] = {
    profile.name: profile
    for profile in (
        RankingProfile(name="plain", terms={Term.FUSION: 1.0}),
        RankingProfile(  # plain, and what is in a topic of the first hits
            name="topical", terms={Term.FUSION: 1.0}, paths={fusion.Path.COMMUNITIES: TOPICAL}
        ),
        RankingProfile(name="rrf", terms={Term.FUSION: 1.0}, method=fusion.Method.RECIPROCAL_RANK),
        RankingProfile(
            name="coding",  # of closeness's 0.60 the fusion has 0.40, for it counts words
            terms={Term.FUSION: 0.40, Term.COSINE: 0.20, Term.RECENCY: 0.25, Term.USE: 0.15},
            multipliers=tuple(Multiplier),
        ),
        RankingProfile(
            name="cognitive",
            terms={Term.FUSION: 0.60, Term.ACTIVATION: 0.25, Term.CONFIDENCE: 0.15},
        ),
    )
}
DEFAULT: Final = PROFILES["plain"]


def profile_of(*, name: str | None) -> RankingProfile:
    """Return a profile by its name, the default without one."""
    return PROFILES[name] if name else DEFAULT


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of a candidate besides its paths: ages in days, beliefs and shares 0..1.

    `idle_days`: since it was last stated or confirmed; `in_conversation`: that it has a place in
    one, and so neighbors; `accesses`: of agents; `missing`: the share of the query's
    identifiers that it has in no spelling; `text`: what a reranker reads, empty when none is asked,
    and then `things`, the keys of what it names, are not read either.
    """

    memory_id: UUID
    type: MemoryType
    source: Source
    files: tuple[str, ...] = ()
    age_days: float = 0.0
    idle_days: float = 0.0
    accesses: int = 0
    activation_floor: float = 0.0
    confidence: float = 1.0
    missing: float = 0.0
    text: str = ""
    things: frozenset[str] = frozenset()
    item: fusion.Item = fusion.Item.PROSE
    in_conversation: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """How a search ranks: its profile, the weights of its paths, and those of types in its phase.

    `shares` change the weights of paths for some kinds of memories.
    """

    profile: RankingProfile
    weights: Mapping[str, float]
    shares: fusion.Shares = field(default_factory=dict)
    types: Mapping[MemoryType, float] = field(default_factory=dict)


# What a point of fusion counts, the other terms of the sum, and the multipliers.
Weighed = tuple[float, list[Factor], tuple[Factor, ...]]


class Moved(NamedTuple):
    """What a reranker did: the rank before (from 0), and its own score 0..1."""

    rank_before: int
    score: float


class Standing(NamedTuple):
    """A memory's place in the order: its score, the factors that sum to it, and where from.

    The multipliers are in every factor.
    """

    memory_id: UUID
    score: float
    factors: tuple[Factor, ...]
    multipliers: tuple[Factor, ...]
    fused: fusion.Fused
    boost: fusion.Boost | None = None
    moved: Moved | None = None


def rank(
    *,
    candidates: tuple[fusion.FusedCandidate, ...],
    evidence: Mapping[UUID, Evidence],
    task: Task,
    is_boosted: bool = True,
) -> tuple[Standing, ...]:
    """Put the candidates with evidence in order, best first; ties are broken by id.

    Without `is_boosted`, as if none shared a file. Raises as `fusion.fuse` does.
    """
    fused = fusion.fuse(
        candidates=candidates, weights=task.weights, shares=task.shares, method=task.profile.method
    )
    files = {id: item.files for id, item in evidence.items()} if is_boosted else {}
    boosts = fusion.boosts(fused=fused, files=files)
    cosines = {}
    if Term.COSINE in task.profile.terms:
        cosines = {one.memory_id: one.scores.get(fusion.Path.DENSE) for one in candidates}
    standings = []
    for one in fused:
        if known := evidence.get(one.memory_id):
            weighed = weigh(evidence=known, cosine=cosines.get(one.memory_id), task=task)
            standings.append(_standing_of(one, weighed, boosts.get(one.memory_id)))
    return in_order(standings=standings)


def _standing_of(fused: fusion.Fused, weighed: Weighed, boost: fusion.Boost | None) -> Standing:
    """Return where a memory stands; nothing but the fusion is boosted."""
    share, others, multipliers = weighed
    if not share:
        factors, boost = list(others), None
    else:
        factors = [Factor(part.path, part.value * share) for part in fused.contributions]
        if boost is not None:
            factors.append(Factor(NEIGHBORHOOD, boost.value * share))
        factors += others
    score = total(factors=factors)
    return Standing(fused.memory_id, score, tuple(factors), multipliers, fused, boost)


def in_order(*, standings: Iterable[Standing]) -> tuple[Standing, ...]:
    """Return them best first; ties are broken by id."""
    return tuple(sorted(standings, key=lambda each: (-each.score, each.memory_id)))


def weigh(*, evidence: Evidence, cosine: float | None, task: Task) -> Weighed:
    """Compute (Σ weight · term) · Π multiplier: what a point of fusion counts, the other terms of
    the sum, each multiplied, and the multipliers.

    recency = exp(-idle days · volatility), use = ln(1 + n) / ln(101), activation = A / 10 with
    A = ln(n / 0.5) - 0.5 · ln(hours) above the layer's floor, n counting the creation; a missing or
    negative cosine counts 0.
    """
    profile = task.profile
    multipliers = tuple(
        [Factor(one, _multiplier(one, evidence, task)) for one in profile.multipliers]
    )
    whole = math.prod([factor.value for factor in multipliers])
    factors = [
        Factor(term, weight * _term(term, evidence, cosine) * whole)
        for term, weight in profile.terms.items()
        if term is not Term.FUSION
    ]
    return profile.terms.get(Term.FUSION, 0.0) * whole, factors, multipliers


def _multiplier(multiplier: Multiplier, evidence: Evidence, task: Task) -> float:
    """Return what the sum is multiplied by."""
    if multiplier is Multiplier.PHASE:
        return task.types.get(evidence.type, 1.0)
    if multiplier is Multiplier.TRUST:
        return source_row(source=evidence.source).trust_multiplier
    return evidence.confidence


def _term(term: Term, evidence: Evidence, cosine: float | None) -> float:
    """Return what a term other than the fusion is worth, before its weight."""
    if term is Term.COSINE:
        return max(cosine or 0.0, 0.0)
    if term is Term.CONFIDENCE:
        return evidence.confidence
    if term is Term.RECENCY:
        return math.exp(-evidence.idle_days * VOLATILITY)
    if term is Term.USE:
        return math.log1p(evidence.accesses) / math.log(USE_SCALE)
    hours = evidence.age_days * HOURS_A_DAY
    base = formulas.base_level(accesses=evidence.accesses + 1, lifetime_hours=hours)
    return max(base, evidence.activation_floor) / ACTIVATION_SCALE
