"""The order of what the paths found changes no score; what the graph brought can be taken out."""

from dataclasses import replace
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from memory.search import pool as pools
from memory.search import query
from memory.search.fusion import FusedCandidate, Item
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
            id: (
                turns[place - 1] if place else None,
                turns[place + 1] if place + 1 < len(turns) else None,
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


def test_what_the_graph_alone_brought_is_known_by_the_limits_of_the_others() -> None:
    scores = (
        {"dense": 0.9},
        {"dense": 0.5, "graph": 1.0},  # behind the limit of meaning
        {"dense": 0.6, "keyword": 2.0},
        {"dense": 0.4, "keyword": 1.0, "graph": 0.2},
        {"dense": 0.3, "graph": 0.2, "entities": 0.7},
    )
    pool = Pool(
        asked=query.understand(text="a.py"),
        found=tuple(
            FusedCandidate(memory_id=UUID(int=place), scores=each)
            for place, each in enumerate(scores)
        ),
        known={},
        calibration=CALIBRATIONS["any"],
        threshold=0.0,
        limits={"dense": 2, "keyword": 2, "entities": 1, "communities": 0},
    )

    left = {one.memory_id.int: dict(one.scores) for one in pools.without_graph(pool=pool).found}

    assert left == {
        0: {"dense": 0.9},
        2: {"dense": 0.6, "keyword": 2.0},
        3: {"dense": 0.4, "keyword": 1.0},
        4: {"dense": 0.3, "entities": 0.7},
    }


def test_what_is_beside_a_turn_knows_what_is_beside_it() -> None:
    first, middle, last = (UUID(int=number) for number in (1, 2, 3))

    around = pools.turns_around(turns={middle: (first, last)})

    assert around == {first: (None, middle), middle: (first, last), last: (middle, None)}
