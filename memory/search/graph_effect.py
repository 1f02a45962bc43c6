"""What the graph did to a ranking: whether its first eight would be others without it.

The graph's part is what its path adds to the fusion, what the neighborhood of files adds, and the
memories that no other path brought. Taken out, the other paths are fused as if it had found
nothing, and all else is equal: the other terms, the phase, the profile. Changed are the first eight
if a memory among them, or their order, is another one. Both orders are those of the ranking, before
a reranker looks at it and before what is not relevant enough is left out.

No second search is needed: which memories the other paths brought follows from their scores, since
each path brings its best ones up to its limit. Memories of equal score at a limit are told apart by
id, and where a scan reads the beginnings of vectors, whole cosines stand for theirs.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from uuid import UUID

from memory.search import fusion, neighborhood, ranking
from memory.search.fusion import FusedCandidate, Path
from memory.search.neighborhood import Neighbors
from memory.search.ranking import Standing, Task

FIRST: Final = 8
OTHERS: Final = tuple(path.value for path in Path if path is not Path.GRAPH)


def first(*, standings: tuple[Standing, ...]) -> tuple[UUID, ...]:
    """Return the first eight of a ranking."""
    return tuple(one.memory_id for one in standings[:FIRST])


def without_boost(*, standings: tuple[Standing, ...]) -> tuple[UUID, ...]:
    """Return which were the first eight if nothing were boosted.

    A boost only raises, so unless one of the first has it they are those that they are.
    """
    if not any(one.boost for one in standings[:FIRST]):
        return first(standings=standings)
    return _best(
        {one.memory_id: ranking.unboosted(standing=one, fused=one.fused) for one in standings}
    )


def without_graph(
    *, candidates: tuple[FusedCandidate, ...], standings: tuple[Standing, ...], task: Task
) -> tuple[UUID, ...]:
    """Return which were the first eight of these candidates, which have nothing of the graph.

    `standings` are those of the ranking with it, whose other terms are the same.
    """
    fused = fusion.fuse(
        candidates=candidates,
        kind=task.kind,
        method=task.profile.method,
        weights=task.weights,
        shares=task.shares,
    )
    other = {one.memory_id: one for one in fused}
    return _best(
        {
            one.memory_id: ranking.unboosted(standing=one, fused=other[one.memory_id])
            for one in standings
            if one.memory_id in other
        }
    )


def take_graph_out(
    *,
    candidates: tuple[FusedCandidate, ...],
    turns: Mapping[UUID, Neighbors],
    limits: Mapping[str, int],
) -> tuple[FusedCandidate, ...]:
    """Return the candidates as they were if the graph had found nothing.

    Those that another path brought, up to its limit, without the graph's scores; then what stands
    beside them in their sessions.
    """
    brought: set[UUID] = set()
    for path in OTHERS:
        held = sorted(
            (-one.scores[path], one.memory_id) for one in candidates if path in one.scores
        )
        brought.update(memory_id for _, memory_id in held[: limits[path]])
    bare = tuple(
        replace(
            one, scores={path: score for path, score in one.scores.items() if path != Path.GRAPH}
        )
        for one in candidates
        if one.memory_id in brought
    )
    around = neighborhood.turns_around(
        turns={id: turn for id, turn in turns.items() if id in brought}
    )
    return neighborhood.with_sessions(
        candidates=bare, turns={id: turn for id, turn in around.items() if id in turns}
    )


def _best(scores: Mapping[UUID, float]) -> tuple[UUID, ...]:
    ordered = sorted((-score, memory_id) for memory_id, score in scores.items())
    return tuple(memory_id for _, memory_id in ordered[:FIRST])
