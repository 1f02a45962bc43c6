"""Fusion: one ranking out of several paths (spec 3.1, stage 3).

Min-max with weights by query kind is the default: per query, each path's scores are brought to 0..1
and weighted. Measured, it beats reciprocal rank fusion, which throws the margins away; that one
stays for paths that have ranks only. Both give 0..1 for any number of paths: the weights of the
paths that found anything are scaled to sum to 1, so that a missing path (no vectors, no graph)
lowers nobody. The result depends neither on the order of candidates nor of paths; ties are broken
by id. Source of reciprocal rank fusion: Cormack, Clarke & Buettcher (2009).
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from memory.retrieval.candidates import Candidate, Path
from memory.retrieval.query import QueryKind

RRF_K = 60  # spec 3.1

Weights = Mapping[QueryKind, Mapping[str, float]]

NAMED = 0.15  # of entities beside the others; the spec has no figure, the judged set decides none
WEIGHTS: Weights = {  # spec 3.1, starting values
    kind: {Path.DENSE: dense, Path.KEYWORD: keyword, Path.GRAPH: graph, Path.ENTITIES: NAMED}
    for kind, dense, keyword, graph in (
        (QueryKind.IDENTIFIER, 0.20, 0.50, 0.30),
        (QueryKind.SEMANTIC, 0.50, 0.25, 0.25),
        (QueryKind.STRUCTURAL, 0.15, 0.25, 0.60),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What one path gave: its own score (None: it has ranks only), rank from 0, and the summand."""

    path: str
    score: float | None
    rank: int
    weight: float
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fused:
    """A memory's fusion score and the contributions that sum to it, in the order of path names."""

    memory_id: UUID
    score: float
    contributions: tuple[Contribution, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranked:
    score: float | None
    order: float
    rank: int


def minmax(
    *, candidates: tuple[Candidate, ...], kind: QueryKind, weights: Weights = WEIGHTS
) -> tuple[Fused, ...]:
    """Fuse by Σ w · (s - min) / (max - min) over the paths, best first; 0..1.

    On a path whose scores are all equal each of them counts 1. Raises ValueError for a path without
    a weight, a score that is not finite, or a memory given twice.
    """
    by_path = _by_path(candidates)
    scaled = _scaled(weights[kind], by_path)
    values = {path: _normalized(ranked) for path, ranked in by_path.items()}
    return _fused(candidates, by_path, scaled, values)


def reciprocal_rank(
    *,
    candidates: tuple[Candidate, ...],
    kind: QueryKind,
    weights: Weights = WEIGHTS,
    k: int = RRF_K,
) -> tuple[Fused, ...]:
    """Fuse by Σ w · (k + 1) / (k + rank + 1), rank from 0, best first; 0..1.

    This is w / (k + rank + 1) times a constant, so that the best possible score is 1 instead of
    0.016. Raises ValueError as `minmax` does.
    """
    by_path = _by_path(candidates)
    scaled = _scaled(weights[kind], by_path)
    values = {
        path: {id: (k + 1) / (k + found.rank + 1) for id, found in ranked.items()}
        for path, ranked in by_path.items()
    }
    return _fused(candidates, by_path, scaled, values)


def _by_path(candidates: tuple[Candidate, ...]) -> dict[str, dict[UUID, _Ranked]]:
    if len({candidate.memory_id for candidate in candidates}) != len(candidates):
        raise ValueError("a memory is among the candidates twice")
    paths = {path for each in candidates for path in (*each.scores, *each.ranks)}
    return {path: _ranked(path, candidates) for path in sorted(paths)}


def _ranked(path: str, candidates: Iterable[Candidate]) -> dict[UUID, _Ranked]:
    found = [each for each in candidates if path in each.scores or path in each.ranks]
    order = {each.memory_id: _order(path, each) for each in found}
    best_first = sorted(found, key=lambda each: (-order[each.memory_id], each.memory_id))
    return {
        each.memory_id: _Ranked(
            score=each.scores.get(path),
            order=order[each.memory_id],
            rank=each.ranks.get(path, position),
        )
        for position, each in enumerate(best_first)
    }


def _order(path: str, candidate: Candidate) -> float:
    value = candidate.scores[path] if path in candidate.scores else -candidate.ranks[path]
    if not math.isfinite(value):
        raise ValueError(f"the {path} score of {candidate.memory_id} is {value}")
    return value


def _scaled(weights: Mapping[str, float], paths: Iterable[str]) -> dict[str, float]:
    present = {}
    for path in paths:
        if path not in weights:
            raise ValueError(f"no weight for the path {path!r}; known are {', '.join(weights)}")
        present[path] = weights[path]
    whole = math.fsum(present.values()) or 1.0  # only paths that count nothing found anything
    return {path: weight / whole for path, weight in present.items()}


def _normalized(ranked: Mapping[UUID, _Ranked]) -> dict[UUID, float]:
    orders = [found.order for found in ranked.values()]
    low, span = min(orders), max(orders) - min(orders)
    return {id: (found.order - low) / span if span else 1.0 for id, found in ranked.items()}


def _fused(
    candidates: tuple[Candidate, ...],
    by_path: Mapping[str, Mapping[UUID, _Ranked]],
    weights: Mapping[str, float],
    values: Mapping[str, Mapping[UUID, float]],
) -> tuple[Fused, ...]:
    fused = []
    for candidate in candidates:
        id = candidate.memory_id
        contributions = tuple(
            Contribution(
                path=path,
                score=ranked[id].score,
                rank=ranked[id].rank,
                weight=weights[path],
                value=weights[path] * values[path][id],
            )
            for path, ranked in by_path.items()
            if id in ranked
        )
        score = math.fsum(part.value for part in contributions)
        fused.append(Fused(memory_id=id, score=score, contributions=contributions))
    return tuple(sorted(fused, key=lambda each: (-each.score, each.memory_id)))
