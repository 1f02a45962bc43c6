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

An episode is scored together with the turns before and after it in its session: an answer rarely
repeats the words of its question. Only what a neighbor has above the lowest candidate of a path
counts, so that an episode is not worth more than other memories for having neighbors at all. The
files of the first ten say where the answer is; a memory further down that is about the same files
is likely to belong to it.

The result depends neither on the order of candidates nor of paths; ties are broken by id. Source of
reciprocal rank fusion: Cormack, Clarke & Buettcher (2009).
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
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


Shares = Mapping[Item, float]
Turns = Mapping[UUID, tuple[UUID | None, UUID | None]]  # before and after an episode; None: an end

RRF_K: Final = 60
NAMED: Final = 0.15  # of entities beside the others; a default, the judged set decides none
NAMED_BY_SOURCE: Final = 1 / 3  # of that for source text; measured
BOOST: Final = 0.3  # of the range of the scores, for what shares all files of the first
FIRST: Final = 10  # ranks whose files are the neighborhood
LAST: Final = 50  # rank down to which the others may rise
PREVIOUS: Final = 0.30  # of the turn before; both measured on conversations of people
NEXT: Final = 0.15  # of the turn after
SHARES: Final[Shares] = {  # of meaning in meaning and words; measured
    Item.DIALOGUE: 0.50,
    Item.CODE: 0.80,
}
WEIGHTS: Final[Mapping[QueryKind, Mapping[str, float]]] = {
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


class Boost(NamedTuple):
    """What the neighborhood added, and how many of its files the memory shares."""

    shared: int
    value: float


def with_sessions(
    *, candidates: tuple[FusedCandidate, ...], turns: Turns
) -> tuple[FusedCandidate, ...]:
    """Add 0.3 · above(previous) + 0.15 · above(next) to each path's score of an episode.

    above(x): its score minus the lowest of the path, 0 where it was not found. Episodes of `turns`
    that no path found become candidates, at the lowest score of the path plus what is added.
    """
    known = {one.memory_id: one for one in candidates}
    every = dict(known)
    lows: dict[str, float] = {}
    for one in candidates:
        for path, score in one.scores.items():
            lows[path] = min(score, lows.get(path, score))
    for id, (previous, next) in turns.items():
        one = every.get(id, FusedCandidate(memory_id=id, scores={}, item=Item.DIALOGUE))
        found = dict(one.scores)
        for path, low in lows.items():
            added = sum(
                weight * (known[near].scores[path] - low)
                for near, weight in ((previous, PREVIOUS), (next, NEXT))
                if near in known and path in known[near].scores
            )
            if added > 0:
                found[path] = found.get(path, low) + added
        every[id] = replace(one, scores=found)
    return tuple(every.values())


def fuse(
    *,
    candidates: tuple[FusedCandidate, ...],
    weights: Mapping[str, float],
    shares: Shares = MappingProxyType({}),
    method: Method = Method.MINMAX,
) -> tuple[Fused, ...]:
    """Fuse by Σ w · (s - min) / (max - min), or Σ w · (k + 1) / (k + rank + 1); best first, 0..1.

    On a path whose scores are all equal each of them counts 1. `shares` change the weights for some
    kinds of memories. Reciprocal ranks, from 0, are those of the source times a constant, so that
    the best possible score is 1 instead of 0.016. Raises KeyError for a path without a weight,
    ValueError for a score that is not finite.
    """
    by_path = _scores_by_path(candidates)
    scaled = {item: _scaled_weights(item, by_path, weights, shares) for item in Item}
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
        Fused(candidate.memory_id, math.fsum([part.value for part in own]), tuple(own))
        for candidate, own in zip(candidates, parts, strict=True)
    )
    return tuple(sorted(fused, key=lambda each: (-each.score, each.memory_id)))


def _scores_by_path(candidates: tuple[FusedCandidate, ...]) -> dict[str, dict[int, float]]:
    """Return the scores of candidates by their places. Raises ValueError for an infinite one."""
    by_path: dict[str, dict[int, float]] = defaultdict(dict)
    for at, candidate in enumerate(candidates):
        for path, score in candidate.scores.items():
            if not math.isfinite(score):
                raise ValueError(f"the {path} score of {candidate.memory_id} is {score}")
            by_path[path][at] = score
    return by_path


def boosts(*, fused: tuple[Fused, ...], files: Mapping[UUID, tuple[str, ...]]) -> dict[UUID, Boost]:
    """Compute 0.3 · range of the scores · shared / |files of the first ten|, for ranks 11 to 50.

    Of those that share a file; so it never drowns the scores.
    """
    near = {file for item in fused[:FIRST] for file in files.get(item.memory_id, ())}
    if not near:
        return {}
    span = fused[0].score - fused[-1].score
    found = {}
    for item in fused[FIRST:LAST]:
        shared = len(near.intersection(files.get(item.memory_id, ())))
        if shared:
            found[item.memory_id] = Boost(shared, BOOST * span * shared / len(near))
    return found


def _scaled_weights(
    item: Item, paths: Iterable[str], weights: Mapping[str, float], shares: Shares
) -> dict[str, float]:
    """Return the weights of these paths for a kind of memory, scaled to sum to 1."""
    own = dict(weights)
    if item in shares:
        both = own.get(Path.DENSE, 0.0) + own.get(Path.KEYWORD, 0.0)
        own[Path.DENSE] = both * shares[item]
        own[Path.KEYWORD] = both - own[Path.DENSE]
        if item is Item.CODE:
            own[Path.ENTITIES] = own.get(Path.ENTITIES, 0.0) * NAMED_BY_SOURCE
    whole = math.fsum(own[path] for path in paths) or 1.0  # paths that count nothing found all
    return {path: own[path] / whole for path in paths}
