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

from memory.search import ranking
from memory.search.candidates import Candidate, Path
from memory.search.ranking import Standing, Task
from memory.search.scoring import Profile

FIRST: Final = 8
OTHERS: Final = tuple(path.value for path in Path if path is not Path.GRAPH)


def first(*, standings: tuple[Standing, ...]) -> tuple[UUID, ...]:
    """Return the first eight of a ranking."""
    return tuple(one.memory_id for one in standings[:FIRST])


def without_boost(*, standings: tuple[Standing, ...], profile: Profile) -> tuple[UUID, ...]:
    """Return which were the first eight if nothing were boosted.

    A boost only raises, so unless one of the first has it they are those that they are.
    """
    if not any(one.boost for one in standings[:FIRST]):
        return first(standings=standings)
    return _best(
        {one.memory_id: ranking.unboosted(standing=one, profile=profile) for one in standings}
    )


def without_graph(
    *, candidates: tuple[Candidate, ...], standings: tuple[Standing, ...], task: Task
) -> tuple[UUID, ...]:
    """Return which were the first eight of these candidates, which have nothing of the graph.

    `standings` are those of the ranking with it, whose other terms are the same.
    """
    summands = ranking.summands(candidates=candidates, task=task)
    return _best(
        {
            one.memory_id: ranking.unboosted(
                standing=one, profile=task.profile, summands=summands[one.memory_id]
            )
            for one in standings
            if one.memory_id in summands
        }
    )


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
