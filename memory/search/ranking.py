"""Ranking: from candidates to an order with reasons.

Fusion, then the boost of the neighborhood, then the profile's score. What comes out keeps every
part, so that it can be explained and put in order anew by a reranker.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from memory.customization import phases
from memory.customization.phases import Own, Phase
from memory.records.factors import Factor, total
from memory.search import fusion, neighborhood, scoring
from memory.search.candidates import Candidate, Path
from memory.search.evidence import Evidence
from memory.search.fusion import Fused, Shares, Weights
from memory.search.neighborhood import Boost
from memory.search.query import QueryKind
from memory.search.scoring import Inputs, Method, Profile, Term

NEIGHBORHOOD = "neighborhood"  # the name of the boost among the parts
_TERMS: Final = frozenset(term.value for term in Term)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What a reranker did: the rank before (from 0), and its own score 0..1."""

    rank_before: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A memory's place in the order: its score, the factors that sum to it, and where from."""

    memory_id: UUID
    score: float
    factors: tuple[Factor, ...]
    multipliers: tuple[Factor, ...]
    fused: Fused
    boost: Boost | None = None
    moved: Moved | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """How a search ranks: kind of its query, profile, phase of the work, and weights of paths.

    `own` are the weights of phases that a project has of its own.
    """

    kind: QueryKind
    profile: Profile
    phase: Phase | None = None
    weights: Weights = field(default_factory=lambda: fusion.WEIGHTS)
    shares: Shares = field(default_factory=lambda: fusion.SHARES)
    own: Own = field(default_factory=dict)


def rank(
    *, candidates: tuple[Candidate, ...], evidence: Mapping[UUID, Evidence], task: Task
) -> tuple[Standing, ...]:
    """Put the candidates with evidence in order, best first; ties are broken by id.

    Raises ValueError as `fusion.minmax` and `scoring.inputs_of` do.
    """
    fused = _fused(candidates, task)
    weights = phases.weights_of(phase=task.phase, own=task.own)
    files = {id: item.files for id, item in evidence.items()}
    boosts = neighborhood.boosts(fused=fused, files=files)
    cosines = {item.memory_id: item.scores.get(Path.DENSE) for item in candidates}
    standings = tuple(
        _standing(
            item,
            boosts.get(item.memory_id),
            scoring.inputs_of(
                evidence=evidence[item.memory_id],
                fusion=item.score,
                cosine=cosines[item.memory_id],
                weights=weights,
                profile=task.profile,
            ),
            task.profile,
        )
        for item in fused
        if item.memory_id in evidence
    )
    return in_order(standings=standings)


def summands(*, candidates: tuple[Candidate, ...], task: Task) -> Mapping[UUID, tuple[float, ...]]:
    """Return what each path adds to the fusion of each candidate, as `rank` would count it."""
    if task.profile.method is Method.MINMAX:
        return fusion.minmax_summands(
            candidates=candidates, kind=task.kind, weights=task.weights, shares=task.shares
        )
    return {
        one.memory_id: tuple([part.value for part in one.contributions])
        for one in _fused(candidates, task)
    }


def unboosted(
    *, standing: Standing, profile: Profile, summands: tuple[float, ...] | None = None
) -> float:
    """Return the score that a standing had without a boost, and with other parts of its fusion."""
    share = _share(profile, standing.multipliers)
    own = (part.value for part in standing.fused.contributions)
    of_paths = [value * share for value in (own if summands is None else summands)]
    others = [one.value for one in standing.factors if one.name in _TERMS]
    return math.fsum((*of_paths, *others) if share else others)


def in_order(*, standings: tuple[Standing, ...]) -> tuple[Standing, ...]:
    """Return them best first; ties are broken by id."""
    return tuple(sorted(standings, key=lambda each: (-each.score, each.memory_id)))


def _fused(candidates: tuple[Candidate, ...], task: Task) -> tuple[Fused, ...]:
    if not candidates:
        return ()
    if task.profile.method is Method.RECIPROCAL_RANK:
        return fusion.reciprocal_rank(candidates=candidates, kind=task.kind, weights=task.weights)
    return fusion.minmax(
        candidates=candidates, kind=task.kind, weights=task.weights, shares=task.shares
    )


def _standing(fused: Fused, boost: Boost | None, inputs: Inputs, profile: Profile) -> Standing:
    scored = scoring.score(profile=profile, inputs=inputs)
    share = _share(profile, scored.multipliers)
    others = tuple([factor for factor in scored.factors if factor.name != Term.FUSION])
    factors = (*_paths(fused, boost, share), *others) if share else others
    return Standing(
        memory_id=fused.memory_id,
        score=total(factors=factors),
        factors=factors,
        multipliers=scored.multipliers,
        fused=fused,
        boost=boost if share else None,
    )


def _share(profile: Profile, multipliers: tuple[Factor, ...]) -> float:
    """Return what a point of fusion counts in the score."""
    whole = math.prod([factor.value for factor in multipliers])
    return profile.terms.get(Term.FUSION, 0.0) * whole


def _paths(fused: Fused, boost: Boost | None, share: float) -> tuple[Factor, ...]:
    """Return the fusion's part as one a path and one for the neighborhood."""
    paths = tuple(
        [Factor(name=part.path, value=part.value * share) for part in fused.contributions]
    )
    if boost is None:
        return paths
    return (*paths, Factor(name=NEIGHBORHOOD, value=boost.value * share))
