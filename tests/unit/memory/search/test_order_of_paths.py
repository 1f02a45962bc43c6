"""In which order the paths return what they found changes neither the order of hits nor a score."""

from dataclasses import replace
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from memory.search import pool as pools
from memory.search import query
from memory.search.fusion import FusedCandidate, Item
from memory.search.neighborhood import Neighbors
from memory.search.pool import Pool
from memory.search.ranking import Evidence
from memory.search.relevance import CALIBRATIONS
from memory.search.request import PROFILES, SearchRequest
from memory.taxonomy import MemoryType, Source

FEW = st.sampled_from((0.0, 0.25, 0.25000001, 0.5, 1.0))  # so that there are ties
FILES = st.sampled_from(((), ("a.py",), ("a.py", "b.py")))
FOUND = st.tuples(st.none() | FEW, FEW, FEW, FEW, st.sampled_from(Item), FILES)


@st.composite
def _pools(draw: st.DrawFn) -> Pool:
    rows = draw(st.lists(FOUND, min_size=1, max_size=40))
    ids = [UUID(int=number + 1) for number in range(len(rows))]
    turns = [id for id, row in zip(ids, rows, strict=True) if row[4] is Item.DIALOGUE]
    return Pool(
        asked=query.understand(text=draw(st.sampled_from(("lock of carts", "a.py", "calls a.py")))),
        found=tuple(
            FusedCandidate(
                memory_id=id, scores=_scores(*row[:2], row[3]), matched=row[2], item=row[4]
            )
            for id, row in zip(ids, rows, strict=True)
        ),
        known={
            id: Evidence(
                memory_id=id,
                type=MemoryType.EPISODE if row[4] is Item.DIALOGUE else MemoryType.FACT,
                source=Source.USER_TAUGHT,
                files=row[5],
                item=row[4],
            )
            for id, row in zip(ids, rows, strict=True)
        },
        calibration=draw(st.sampled_from(tuple(CALIBRATIONS.values()))),
        threshold=0.0,
        turns={
            id: Neighbors(
                previous=turns[place - 1] if place else None,
                next=turns[place + 1] if place + 1 < len(turns) else None,
            )
            for place, id in enumerate(turns)
        },
    )


def _scores(dense: float | None, keyword: float, graph: float) -> dict[str, float]:
    scores = {"keyword": keyword, "graph": graph}
    found = {path: score for path, score in scores.items() if score > 0}
    return found if dense is None else {**found, "dense": dense}


@given(pool=_pools(), profile=st.sampled_from(PROFILES), data=st.data())
def test_the_order_of_what_was_found_does_not_matter(
    pool: Pool, profile: str, data: st.DataObject
) -> None:
    request = SearchRequest(query=pool.asked.normalized, profile=profile)
    mixed = replace(
        pool,
        found=tuple(
            replace(one, scores=dict(reversed(one.scores.items())))
            for one in data.draw(st.permutations(pool.found))
        ),
        known=dict(reversed(pool.known.items())),
        turns=dict(reversed(pool.turns.items())),
    )

    first, second = (pools.rank(pool=one, request=request) for one in (pool, mixed))

    assert first == second
    assert pools.judge(pool=pool, standings=first) == pools.judge(pool=mixed, standings=second)
