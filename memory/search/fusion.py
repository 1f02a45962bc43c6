"""Fusion: one ranking out of several paths.

Min-max with weights by query kind is the default: per query, each path's scores are brought to 0..1
and weighted. Measured, it beats reciprocal rank fusion, which throws the margins away; that one
stays for paths that have ranks only. Both give 0..1 for any number of paths: the weights of the
paths that found anything are scaled to sum to 1, so that a missing path (no vectors, no graph)
lowers nobody. A question in words weighs meaning and words by what a memory is made of: turns of a
conversation say little each, and source text hardly has the question's words. What source text
names counts less, since it names all it is made of: a function called `check` is no answer to every
question with that word. The result depends
neither on the order of candidates nor of paths; ties are broken by id. Source of reciprocal rank
fusion: Cormack, Clarke & Buettcher (2009).
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from memory.search.candidates import Candidate, Item, Path
from memory.search.query import QueryKind

RRF_K = 60

Weights = Mapping[QueryKind, Mapping[str, float]]
Shares = Mapping[Item, float]

SHARES: Shares = {Item.DIALOGUE: 0.50, Item.CODE: 0.80}  # of meaning in meaning and words; measured

NAMED = 0.15  # of entities beside the others; the spec has no figure, the judged set decides none
NAMED_BY_SOURCE = 1 / 3  # of that for source text; measured
WEIGHTS: Weights = {  # starting values
    kind: {
        Path.DENSE: dense,
        Path.KEYWORD: keyword,
        Path.GRAPH: graph,
        Path.ENTITIES: NAMED,
        Path.COMMUNITIES: 0.0,  # no gain on the judged sets; a profile may count it
    }
    for kind, dense, keyword, graph in (
        (QueryKind.IDENTIFIER, 0.20, 0.50, 0.30),
        (QueryKind.SEMANTIC, 0.50, 0.25, 0.25),
        (QueryKind.STRUCTURAL, 0.15, 0.25, 0.60),
    )
}


def with_paths(*, paths: Mapping[str, float]) -> Weights:
    """Return the weights with those of some paths in the stead of the usual ones."""
    return {kind: {**weights, **paths} for kind, weights in WEIGHTS.items()} if paths else WEIGHTS


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


class _Place(NamedTuple):
    """Where a candidate stands on a path: which one it is, its value and score, its rank from 0."""

    at: int
    order: float
    score: float | None
    rank: int


Values = Callable[[list[_Place]], list[float]]


def minmax(
    *,
    candidates: tuple[Candidate, ...],
    kind: QueryKind,
    weights: Weights = WEIGHTS,
    shares: Shares = SHARES,
) -> tuple[Fused, ...]:
    """Fuse by Σ w · (s - min) / (max - min) over the paths, best first; 0..1.

    On a path whose scores are all equal each of them counts 1. `shares` change the weights of a
    semantic query for some kinds of memories. Raises ValueError for a path without
    a weight, a score that is not finite, or a memory given twice.
    """
    of_kind = shares if kind is QueryKind.SEMANTIC else {}
    return _fused(
        candidates,
        _by_item(weights[kind], of_kind),
        lambda places: _normalized([one.order for one in places]),
    )


def minmax_summands(
    *,
    candidates: tuple[Candidate, ...],
    kind: QueryKind,
    weights: Weights = WEIGHTS,
    shares: Shares = SHARES,
) -> dict[UUID, tuple[float, ...]]:
    """Return the summands of `minmax` alone, in no order: in a quarter of its time.

    Raises ValueError as it does for paths and scores.
    """
    of_kind = shares if kind is QueryKind.SEMANTIC else {}
    by_path: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for index, one in enumerate(candidates):
        for path in {**one.scores, **one.ranks} if one.ranks else one.scores:
            by_path[path].append((index, _order(path, one)))
    scaled = {item: _scaled(own, by_path) for item, own in _by_item(weights[kind], of_kind).items()}
    parts: list[list[float]] = [[] for _ in candidates]
    for path, places in by_path.items():
        values = _normalized([order for _, order in places])
        for (index, _), value in zip(places, values, strict=True):
            parts[index].append(scaled[candidates[index].item][path] * value)
    return {one.memory_id: tuple(own) for one, own in zip(candidates, parts, strict=True)}


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
    return _fused(
        candidates,
        _by_item(weights[kind], {}),
        lambda places: [(k + 1) / (k + one.rank + 1) for one in places],
    )


def _by_path(candidates: tuple[Candidate, ...]) -> dict[str, list[_Place]]:
    """Return the places of each path, best first."""
    if len({candidate.memory_id for candidate in candidates}) != len(candidates):
        raise ValueError("a memory is among the candidates twice")
    found: dict[str, list[int]] = defaultdict(list)
    for index, each in enumerate(candidates):
        for path in {**each.scores, **each.ranks} if each.ranks else each.scores:
            found[path].append(index)
    return {path: _places(path, candidates, found[path]) for path in sorted(found)}


def _places(path: str, candidates: tuple[Candidate, ...], found: list[int]) -> list[_Place]:
    best_first = sorted(
        (-_order(path, candidates[index]), candidates[index].memory_id, index) for index in found
    )
    return [
        _Place(
            at=index,
            order=-negative,
            score=candidates[index].scores.get(path),
            rank=candidates[index].ranks.get(path, position),
        )
        for position, (negative, _, index) in enumerate(best_first)
    ]


def _order(path: str, candidate: Candidate) -> float:
    value = candidate.scores[path] if path in candidate.scores else -candidate.ranks[path]
    if not math.isfinite(value):
        raise ValueError(f"the {path} score of {candidate.memory_id} is {value}")
    return value


def _by_item(weights: Mapping[str, float], shares: Shares) -> dict[Item, Mapping[str, float]]:
    """Return the weights of the paths for each kind of memory."""
    return {item: _shared(item, weights, shares) if item in shares else weights for item in Item}


def _shared(item: Item, weights: Mapping[str, float], shares: Shares) -> Mapping[str, float]:
    both = weights.get(Path.DENSE, 0.0) + weights.get(Path.KEYWORD, 0.0)
    meaning = both * shares[item]
    shared = {**weights, Path.DENSE: meaning, Path.KEYWORD: both - meaning}
    if item is not Item.CODE:
        return shared
    return {**shared, Path.ENTITIES: weights.get(Path.ENTITIES, 0.0) * NAMED_BY_SOURCE}


def _scaled(weights: Mapping[str, float], paths: Iterable[str]) -> dict[str, float]:
    present = {}
    for path in paths:
        if path not in weights:
            raise ValueError(f"no weight for the path {path!r}; known are {', '.join(weights)}")
        present[path] = weights[path]
    whole = math.fsum(present.values()) or 1.0  # only paths that count nothing found anything
    return {path: weight / whole for path, weight in present.items()}


def _normalized(orders: list[float]) -> list[float]:
    low = min(orders)
    span = max(orders) - low
    return [(order - low) / span if span else 1.0 for order in orders]


def _fused(
    candidates: tuple[Candidate, ...], weights: Mapping[Item, Mapping[str, float]], values: Values
) -> tuple[Fused, ...]:
    by_path = _by_path(candidates)
    scaled = {item: _scaled(own, by_path) for item, own in weights.items()}
    parts: list[list[Contribution]] = [[] for _ in candidates]
    for path, places in by_path.items():
        for one, value in zip(places, values(places), strict=True):
            weight = scaled[candidates[one.at].item][path]
            parts[one.at].append(
                Contribution(
                    path=path, score=one.score, rank=one.rank, weight=weight, value=weight * value
                )
            )
    fused = (
        Fused(
            memory_id=candidate.memory_id,
            score=math.fsum([part.value for part in own]),
            contributions=tuple(own),
        )
        for candidate, own in zip(candidates, parts, strict=True)
    )
    return tuple(sorted(fused, key=lambda each: (-each.score, each.memory_id)))
