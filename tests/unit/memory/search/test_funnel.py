"""The funnel counts what each step of a search kept."""

from uuid import UUID

from memory.search import funnel
from memory.search.fusion import Contribution, Fused
from memory.search.ranking import Standing


def _standing(number: int, *paths: str) -> Standing:
    contributions = tuple(
        Contribution(path=path, score=1.0, rank=0, weight=0.5, value=0.5) for path in paths
    )
    fused = Fused(memory_id=UUID(int=number), score=1.0, contributions=contributions)
    return Standing(memory_id=fused.memory_id, score=1.0, factors=(), multipliers=(), fused=fused)


def test_steps_are_counted() -> None:
    standings = (_standing(1, "dense", "keyword"), _standing(2, "dense"), _standing(3, "graph"))

    counted = funnel.of(standings=standings, limit=2, shown=1, threshold=0.3)

    assert counted.paths == {"dense": 2, "graph": 1, "keyword": 1}
    assert (counted.found, counted.judged, counted.shown) == (3, 2, 1)
