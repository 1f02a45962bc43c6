"""Fusion: one ranking out of several paths.

Min-max with weights by query kind is the default: per query, each path's scores are brought to 0..1
and weighted. Measured, it beats reciprocal rank fusion, which throws the margins away; the profile
`rrf` keeps that one for comparison. Both give 0..1 for any number of paths: the weights of the
paths that found anything are scaled to sum to 1, so that a missing path (no vectors, no graph)
lowers nobody.

A question in words weighs meaning and words by what a memory is made of: turns of a conversation
say little each, and source text hardly has the question's words. What source text names counts
less, since it names all it is made of: a function called `check` is no answer to every question
with that word.

The result depends neither on the order of candidates nor of paths; ties are broken by id. Source of
reciprocal rank fusion: Cormack, Clarke & Buettcher (2009).
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from memory.search.query import QueryKind


class Path(StrEnum):
    """The ways a memory can be found; the columns of the table of weights."""

    DENSE = "dense"
    KEYWORD = "keyword"
    GRAPH = "graph"
    ENTITIES = "entities"
    COMMUNITIES = "communities"  # in a topic of the first hits


class Item(StrEnum):
    """What a memory is made of; how much its meaning counts beside its words."""

    PROSE = "prose"
    DIALOGUE = "dialogue"  # a turn of a session
    CODE = "code"  # source text


class Method(StrEnum):
    """How the paths become one score."""

    MINMAX = "minmax"
    RECIPROCAL_RANK = "reciprocal_rank"


Weights = Mapping[QueryKind, Mapping[str, float]]
Shares = Mapping[Item, float]

RRF_K: Final = 60
NAMED: Final = 0.15  # of entities beside the others; a default, the judged set decides none
NAMED_BY_SOURCE: Final = 1 / 3  # of that for source text; measured
SHARES: Final[Shares] = {  # of meaning in meaning and words; measured
    Item.DIALOGUE: 0.50,
    Item.CODE: 0.80,
}
WEIGHTS: Final[Weights] = {
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FusedCandidate:
    """A memory with its score on each path that found it; higher is better on all of them.

    Meaning scores by the cosine (-1..1), the others above 0. `matched` is the share of the words
    that were asked for, by their rarity.
    """

    memory_id: UUID
    scores: Mapping[str, float]
    item: Item = Item.PROSE
    matched: float = 0.0


class Contribution(NamedTuple):
    """What one path gave: its own score, rank from 0, its weight, and the summand."""

    path: str
    score: float
    rank: int
    weight: float
    value: float


class Fused(NamedTuple):
    """A memory's fusion score and the contributions that sum to it, in the order of path names."""

    memory_id: UUID
    score: float
    contributions: tuple[Contribution, ...]


def fuse(
    *,
    candidates: tuple[FusedCandidate, ...],
    kind: QueryKind,
    method: Method = Method.MINMAX,
    weights: Weights = WEIGHTS,
    shares: Shares = SHARES,
) -> tuple[Fused, ...]:
    """Fuse by Σ w · (s - min) / (max - min), or Σ w · (k + 1) / (k + rank + 1); best first, 0..1.

    On a path whose scores are all equal each of them counts 1. `shares` change the weights of a
    semantic query for some kinds of memories. Reciprocal ranks, from 0, are those of the source
    times a constant, so that the best possible score is 1 instead of 0.016; they know no shares.
    Raises ValueError for a path without a weight, a score that is not finite, or a memory given
    twice.
    """
    if len({candidate.memory_id for candidate in candidates}) != len(candidates):
        raise ValueError("a memory is among the candidates twice")
    by_path = _scores_by_path(candidates)
    scaled = _scaled_weights(by_path, kind, method, weights, shares)
    parts: list[list[Contribution]] = [[] for _ in candidates]
    for path in sorted(by_path):
        scores = by_path[path]
        order = sorted(scores, key=lambda at: (-scores[at], candidates[at].memory_id))
        low, span = scores[order[-1]], scores[order[0]] - scores[order[-1]]
        for rank, at in enumerate(order):
            if method is Method.RECIPROCAL_RANK:
                share = (RRF_K + 1) / (RRF_K + rank + 1)
            else:
                share = (scores[at] - low) / span if span else 1.0
            weight = scaled[candidates[at].item][path]
            parts[at].append(Contribution(path, scores[at], rank, weight, weight * share))
    fused = (
        Fused(
            memory_id=candidate.memory_id,
            score=math.fsum([part.value for part in own]),
            contributions=tuple(own),
        )
        for candidate, own in zip(candidates, parts, strict=True)
    )
    return tuple(sorted(fused, key=lambda each: (-each.score, each.memory_id)))


def _scores_by_path(candidates: tuple[FusedCandidate, ...]) -> dict[str, dict[int, float]]:
    """Return the scores of each path by the position of the candidate."""
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for at, candidate in enumerate(candidates):
        for path, score in candidate.scores.items():
            if not math.isfinite(score):
                raise ValueError(f"the {path} score of {candidate.memory_id} is {score}")
            found[path][at] = score
    return found


def _scaled_weights(
    paths: Mapping[str, object], kind: QueryKind, method: Method, weights: Weights, shares: Shares
) -> dict[Item, dict[str, float]]:
    """Return the weights of these paths for each kind of memory, scaled to sum to 1."""
    given = weights[kind]
    unknown = next((path for path in paths if path not in given), None)
    if unknown is not None:
        raise ValueError(f"no weight for the path {unknown!r}; known are {', '.join(given)}")
    scaled = {}
    for item in Item:
        own = dict(given)
        if item in shares and kind is QueryKind.SEMANTIC and method is Method.MINMAX:
            both = given.get(Path.DENSE, 0.0) + given.get(Path.KEYWORD, 0.0)
            own[Path.DENSE] = both * shares[item]
            own[Path.KEYWORD] = both - own[Path.DENSE]
            if item is Item.CODE:
                own[Path.ENTITIES] = given.get(Path.ENTITIES, 0.0) * NAMED_BY_SOURCE
        whole = math.fsum(own[path] for path in paths) or 1.0  # paths that count nothing found all
        scaled[item] = {path: own[path] / whole for path in paths}
    return scaled
