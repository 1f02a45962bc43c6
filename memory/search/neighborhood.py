"""Neighborhood: what stands beside a hit counts for it.

An episode is scored together with the turns before and after it in its session: an answer rarely
repeats the words of its question. Only what a neighbor has above the lowest candidate of a path
counts, so that an episode is not worth more than other memories for having neighbors at all.

The files of the first ten say where the answer is; a memory further down that is about the same
files is likely to belong to it. The boost is `0.3 · shared / max(|files of the first ten|, 1)`,
scaled to the range of the fusion scores, so that it never drowns them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from memory.search.fusion import Fused, FusedCandidate, Item

WEIGHT: Final = 0.3
FIRST: Final = 10  # ranks whose files are the neighborhood
LAST: Final = 50  # rank down to which the others may rise
PREVIOUS: Final = 0.50  # of the turn before
NEXT: Final = 0.25  # of the turn after


@dataclass(frozen=True, slots=True, kw_only=True)
class Boost:
    """What the neighborhood added, and how many of its files the memory shares."""

    shared: int
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbors:
    """The memories before and after an episode in its session; None at the ends."""

    previous: UUID | None
    next: UUID | None


def turns_around(*, turns: Mapping[UUID, Neighbors]) -> dict[UUID, Neighbors]:
    """Return the turns of these episodes and of those beside them, as far as they are known."""
    before = {id: turn.previous for id, turn in turns.items() if turn.previous}
    after = {id: turn.next for id, turn in turns.items() if turn.next}
    before.update({next: id for id, next in tuple(after.items())})
    after.update({previous: id for id, previous in tuple(before.items())})
    return {
        id: Neighbors(previous=before.get(id), next=after.get(id))
        for id in sorted({*before, *after})
    }


def with_sessions(
    *, candidates: tuple[FusedCandidate, ...], turns: Mapping[UUID, Neighbors]
) -> tuple[FusedCandidate, ...]:
    """Add 0.5 · above(previous) + 0.25 · above(next) to each path's score of an episode.

    above(x): its score minus the lowest of the path, 0 where it was not found. Episodes of `turns`
    that no path found become candidates, at the lowest score of the path plus what is added.
    """
    every = {one.memory_id: one for one in candidates}
    scores = {id: one.scores for id, one in every.items()}
    lows: dict[str, float] = {}
    for one in candidates:
        for path, score in one.scores.items():
            lows[path] = min(score, lows.get(path, score))
    for id, turn in turns.items():
        one = every.get(id) or FusedCandidate(memory_id=id, scores={}, item=Item.DIALOGUE)
        found = dict(one.scores)
        for path, low in lows.items():
            added = sum(
                weight * (scores[near][path] - low)
                for near, weight in ((turn.previous, PREVIOUS), (turn.next, NEXT))
                if near is not None and path in scores.get(near, {})
            )
            if added > 0:
                found[path] = found.get(path, low) + added
        every[id] = replace(one, scores=found)
    return tuple(every.values())


def boosts(*, fused: tuple[Fused, ...], files: Mapping[UUID, tuple[str, ...]]) -> dict[UUID, Boost]:
    """Return the boosts of a ranking, best first, of those that share a file; 0..WEIGHT."""
    near = {file for item in fused[:FIRST] for file in files.get(item.memory_id, ())}
    if not near:
        return {}
    span = fused[0].score - fused[-1].score
    found = {}
    for item in fused[FIRST:LAST]:
        shared = len(near.intersection(files.get(item.memory_id, ())))
        if shared:
            found[item.memory_id] = Boost(shared=shared, value=WEIGHT * span * shared / len(near))
    return found
