"""Fusion ignores the order of candidates and paths, and its parts sum to its score."""

import math
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.search import fusion
from memory.search.fusion import Fused, FusedCandidate, Item, Method
from memory.search.query import QueryKind

METHODS = pytest.mark.parametrize("method", Method)
PATHS = ("dense", "keyword", "graph")
SCORES = st.dictionaries(st.sampled_from(PATHS), st.floats(-100, 100), min_size=1)
KINDS = st.sampled_from(QueryKind)


def _candidate(id: int, item: Item = Item.PROSE, **scores: float) -> FusedCandidate:
    return FusedCandidate(memory_id=UUID(int=id), scores=scores, item=item)


def _fused(*candidates: FusedCandidate, kind: QueryKind = QueryKind.SEMANTIC) -> dict[int, float]:
    """Return the scores by id, in their order."""
    return {one.memory_id.int: one.score for one in fusion.fuse(candidates=candidates, kind=kind)}


def test_minmax_weighs_normalized_scores_by_kind() -> None:
    scores = _fused(
        _candidate(1, dense=0.9, keyword=2.0, graph=0.0),
        _candidate(2, dense=0.5, keyword=6.0, graph=1.0),
        _candidate(3, dense=0.7, keyword=4.0),
    )

    assert scores == pytest.approx({1: 0.5, 2: 0.5, 3: 0.25 + 0.125})
    assert list(scores) == [1, 2, 3]


def test_the_kind_of_the_query_turns_the_ranking() -> None:
    candidates = (
        _candidate(1, dense=0.9, keyword=1.0, graph=1.0),
        _candidate(2, dense=0.1, keyword=9.0, graph=1.0),
    )

    first = {kind: next(iter(_fused(*candidates, kind=kind))) for kind in QueryKind}

    assert first == {QueryKind.IDENTIFIER: 2, QueryKind.SEMANTIC: 1, QueryKind.STRUCTURAL: 2}


def test_reciprocal_rank_counts_ranks_alone() -> None:
    candidates = (
        _candidate(1, dense=0.9, keyword=1.0),
        _candidate(2, dense=0.8, keyword=5.0),
        _candidate(3, dense=0.1, keyword=3.0),
    )
    weights = {kind: {"keyword": 0.5, "dense": 0.5} for kind in QueryKind}

    fused = fusion.fuse(
        candidates=candidates,
        kind=QueryKind.SEMANTIC,
        method=Method.RECIPROCAL_RANK,
        weights=weights,
    )

    scores = {one.memory_id.int: one.score for one in fused}
    assert scores == pytest.approx(  # ranks from 0; 61 / (61 + rank) each
        {1: (1 + 61 / 63) / 2, 2: (61 / 62 + 1) / 2, 3: (61 / 63 + 61 / 62) / 2}
    )


def test_a_missing_path_lowers_nobody() -> None:
    assert _fused(_candidate(1, keyword=5.0), _candidate(2, keyword=1.0)) == {1: 1.0, 2: 0.0}


def test_ties_are_broken_by_id() -> None:
    assert list(_fused(*(_candidate(id, dense=0.5) for id in (3, 1, 2)))) == [1, 2, 3]


def test_what_a_memory_is_made_of_turns_the_ranking_of_a_question() -> None:
    shares = {
        item: _fused(
            _candidate(1, item, dense=1.0, keyword=0.0), _candidate(2, item, dense=0.0, keyword=1.0)
        )[1]
        for item in Item
    }

    assert shares == pytest.approx({Item.PROSE: 2 / 3, Item.DIALOGUE: 0.5, Item.CODE: 0.8})


@pytest.mark.parametrize("kind", [QueryKind.IDENTIFIER, QueryKind.STRUCTURAL])
def test_queries_for_names_and_connections_weigh_everything_alike(kind: QueryKind) -> None:
    other = _candidate(9, dense=0.0, keyword=0.0)
    found = {
        _fused(_candidate(1, item, dense=1.0, keyword=0.5), other, kind=kind)[1] for item in Item
    }

    assert len(found) == 1


def test_what_source_text_names_counts_less_for_a_question_in_words() -> None:
    candidates = (
        _candidate(1, Item.CODE, dense=0.0, entities=1.0),
        _candidate(2, dense=0.0, entities=1.0),
        _candidate(3, Item.CODE, dense=1.0),
    )

    question = _fused(*candidates)
    name = _fused(*candidates, kind=QueryKind.IDENTIFIER)

    assert question == pytest.approx({1: 0.077, 2: 0.231, 3: 0.923}, abs=0.001)
    assert name == pytest.approx({1: 0.429, 2: 0.429, 3: 0.571}, abs=0.001)


@METHODS
def test_nothing_found_is_fused_to_nothing(method: Method) -> None:
    assert fusion.fuse(candidates=(), kind=QueryKind.SEMANTIC, method=method) == ()


def _whole(
    candidates: tuple[FusedCandidate, ...], kind: QueryKind, method: Method
) -> tuple[Fused, ...]:
    return fusion.fuse(candidates=candidates, kind=kind, method=method)


@METHODS
@given(scores=st.lists(SCORES, min_size=1, max_size=6), kind=KINDS)
def test_scores_are_shares_and_their_parts_sum_to_them(
    method: Method, scores: list[dict[str, float]], kind: QueryKind
) -> None:
    candidates = tuple(_candidate(id, **each) for id, each in enumerate(scores))

    for each in _whole(candidates, kind, method):
        assert math.fsum(part.value for part in each.contributions) == each.score
        assert -1e-9 <= each.score <= 1 + 1e-9


@METHODS
@given(scores=st.lists(st.floats(-100, 100), min_size=2, max_size=6, unique=True))
def test_one_path_keeps_its_own_order(method: Method, scores: list[float]) -> None:
    candidates = tuple(_candidate(id, dense=score) for id, score in enumerate(scores))

    first = _whole(candidates, QueryKind.SEMANTIC, method)[0]

    assert scores[first.memory_id.int] == pytest.approx(max(scores))


@METHODS
@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ((_candidate(1, astrology=1.0),), "no weight"),
        ((_candidate(1, dense=math.nan),), "score"),
        ((_candidate(1, dense=0.1), _candidate(1, dense=0.2)), "twice"),
    ],
)
def test_impossible_candidates_are_refused(
    method: Method, candidates: tuple[FusedCandidate, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        fusion.fuse(candidates=candidates, kind=QueryKind.SEMANTIC, method=method)
