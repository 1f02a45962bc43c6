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
from itertools import islice
from typing import Final
from uuid import UUID

from memory.search import fusion, ranking
from memory.search.fusion import Candidate, Method, Path
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
    return _best({one.memory_id: ranking.unboosted(standing=one) for one in standings})


def without_graph(
    *, candidates: tuple[Candidate, ...], standings: tuple[Standing, ...], task: Task
) -> tuple[UUID, ...]:
    """Return which were the first eight of these candidates, which have nothing of the graph.

    `standings` are those of the ranking with it, whose other terms are the same.
    """
    summands = summands_of(candidates=candidates, task=task)
    return _best(
        {
            one.memory_id: ranking.unboosted(standing=one, summands=summands[one.memory_id])
            for one in standings
            if one.memory_id in summands
        }
    )


def summands_of(
    *, candidates: tuple[Candidate, ...], task: Task
) -> Mapping[UUID, tuple[float, ...]]:
    """Return what each path adds to the fusion of each candidate, as `rank` would count it."""
    if task.profile.method is Method.MINMAX:
        return fusion.minmax_summands(
            candidates=candidates, kind=task.kind, weights=task.weights, shares=task.shares
        )
    fused = fusion.fuse(
        candidates=candidates, kind=task.kind, method=task.profile.method, weights=task.weights
    )
    return {one.memory_id: tuple([part.value for part in one.contributions]) for one in fused}


def brought_by_others(
    *, candidates: tuple[Candidate, ...], limits: Mapping[str, int]
) -> frozenset[UUID]:
    """Return the memories that are among the best of another path, up to its limit."""
    found: set[UUID] = set()
    for path in OTHERS:
        held = sorted(
            (-one.scores[path], one.memory_id) for one in candidates if path in one.scores
        )
        found.update(memory_id for _, memory_id in islice(held, limits[path]))
    return frozenset(found)


def _best(scores: Mapping[UUID, float]) -> tuple[UUID, ...]:
    ordered = sorted((-score, memory_id) for memory_id, score in scores.items())
    return tuple(memory_id for _, memory_id in ordered[:FIRST])
