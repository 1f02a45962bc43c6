"""Fusion ignores the order of candidates and paths, and its parts sum to its score."""

import math
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.search import fusion
from memory.search.candidates import Candidate, Item
from memory.search.fusion import Fused
from memory.search.query import QueryKind

METHODS = pytest.mark.parametrize("method", [fusion.minmax, fusion.reciprocal_rank])
PATHS = ("dense", "keyword", "graph")
SCORES = st.dictionaries(st.sampled_from(PATHS), st.floats(-100, 100), min_size=1)
KINDS = st.sampled_from(QueryKind)


def _candidate(id: int, **scores: float) -> Candidate:
    return Candidate(memory_id=UUID(int=id), scores=scores)


def _ids(fused: tuple[Fused, ...]) -> list[int]:
    return [each.memory_id.int for each in fused]


def test_minmax_weighs_normalized_scores_by_kind() -> None:
    candidates = (
        _candidate(1, dense=0.9, keyword=2.0, graph=0.0),
        _candidate(2, dense=0.5, keyword=6.0, graph=1.0),
        _candidate(3, dense=0.7, keyword=4.0),
    )

    fused = fusion.minmax(candidates=candidates, kind=QueryKind.SEMANTIC)

    scores = {each.memory_id.int: each.score for each in fused}
    assert scores == pytest.approx({1: 0.5, 2: 0.5, 3: 0.25 + 0.125})
    assert _ids(fused) == [1, 2, 3]


def test_the_kind_of_the_query_turns_the_ranking() -> None:
    candidates = (
        _candidate(1, dense=0.9, keyword=1.0, graph=1.0),
        _candidate(2, dense=0.1, keyword=9.0, graph=1.0),
    )

    by_kind = {kind: _ids(fusion.minmax(candidates=candidates, kind=kind))[0] for kind in QueryKind}

    assert by_kind == {
        QueryKind.IDENTIFIER: 2,
        QueryKind.SEMANTIC: 1,
        QueryKind.STRUCTURAL: 2,
    }


def test_reciprocal_rank_of_the_worked_example() -> None:
    # the design counts the rank from 0 without the + 1, so its k = 60 is our 59
    weights = {kind: {"keyword": 0.5, "dense": 0.5} for kind in QueryKind}
    fused = fusion.reciprocal_rank(
        candidates=(
            Candidate(memory_id=UUID(int=42), scores={}, ranks={"keyword": 2, "dense": 0}),
        ),
        kind=QueryKind.SEMANTIC,
        weights=weights,
        k=59,
    )

    assert fused[0].score / 60 * 2 == pytest.approx(0.03280, abs=0.00001)


def test_a_missing_path_lowers_nobody() -> None:
    candidates = (_candidate(1, keyword=5.0), _candidate(2, keyword=1.0))

    fused = fusion.minmax(candidates=candidates, kind=QueryKind.SEMANTIC)

    assert [each.score for each in fused] == [1.0, 0.0]


def test_ties_are_broken_by_id() -> None:
    candidates = tuple(_candidate(id, dense=0.5) for id in (3, 1, 2))

    assert _ids(fusion.minmax(candidates=candidates, kind=QueryKind.SEMANTIC)) == [1, 2, 3]


def test_what_a_memory_is_made_of_turns_the_ranking_of_a_question() -> None:
    close, worded = {"dense": 1.0, "keyword": 0.0}, {"dense": 0.0, "keyword": 1.0}
    shares = {}
    for item in Item:
        candidates = (
            Candidate(memory_id=UUID(int=1), scores=close, item=item),
            Candidate(memory_id=UUID(int=2), scores=worded, item=item),
        )
        fused = fusion.minmax(candidates=candidates, kind=QueryKind.SEMANTIC)
        shares[item] = {one.memory_id.int: one.score for one in fused}[1]

    assert shares == pytest.approx({Item.PROSE: 2 / 3, Item.DIALOGUE: 0.5, Item.CODE: 0.8})


@pytest.mark.parametrize("kind", [QueryKind.IDENTIFIER, QueryKind.STRUCTURAL])
def test_queries_for_names_and_connections_weigh_everything_alike(kind: QueryKind) -> None:
    scores = {"dense": 1.0, "keyword": 0.5}
    other = Candidate(memory_id=UUID(int=9), scores={"dense": 0.0, "keyword": 0.0})
    found = {
        fusion.minmax(
            candidates=(Candidate(memory_id=UUID(int=1), scores=scores, item=item), other),
            kind=kind,
        )[0].score
        for item in Item
    }

    assert len(found) == 1


def test_what_source_text_names_counts_less_for_a_question_in_words() -> None:
    named = {"dense": 0.0, "entities": 1.0}
    candidates = (
        Candidate(memory_id=UUID(int=1), scores=named, item=Item.CODE),
        Candidate(memory_id=UUID(int=2), scores=named),
        Candidate(memory_id=UUID(int=3), scores={"dense": 1.0}, item=Item.CODE),
    )

    def scores(kind: QueryKind) -> list[float]:
        fused = fusion.minmax(candidates=candidates, kind=kind)
        return [round(one.score, 3) for one in sorted(fused, key=lambda one: one.memory_id)]

    assert scores(QueryKind.SEMANTIC) == [0.077, 0.231, 0.923]
    assert scores(QueryKind.IDENTIFIER) == [0.429, 0.429, 0.571]


@METHODS
def test_nothing_found_is_fused_to_nothing(method: type) -> None:
    assert method(candidates=(), kind=QueryKind.SEMANTIC) == ()


@METHODS
@given(scores=st.lists(SCORES, min_size=1, max_size=6), kind=KINDS, data=st.data())
def test_the_order_of_candidates_and_paths_does_not_matter(
    method: type, scores: list[dict[str, float]], kind: QueryKind, data: st.DataObject
) -> None:
    candidates = [_candidate(id, **each) for id, each in enumerate(scores)]
    turned = [_candidate(id, **dict(reversed(each.items()))) for id, each in enumerate(scores)]

    shuffled = tuple(data.draw(st.permutations(turned)))

    assert method(candidates=tuple(candidates), kind=kind) == method(candidates=shuffled, kind=kind)


@METHODS
@given(scores=st.lists(SCORES, min_size=1, max_size=6), kind=KINDS)
def test_scores_are_shares_and_their_parts_sum_to_them(
    method: type, scores: list[dict[str, float]], kind: QueryKind
) -> None:
    candidates = tuple(_candidate(id, **each) for id, each in enumerate(scores))

    fused = method(candidates=candidates, kind=kind)

    for each in fused:
        assert math.fsum(part.value for part in each.contributions) == each.score
        assert -1e-9 <= each.score <= 1 + 1e-9


@METHODS
@given(scores=st.lists(st.floats(-100, 100), min_size=2, max_size=6, unique=True))
def test_one_path_keeps_its_own_order(method: type, scores: list[float]) -> None:
    candidates = tuple(_candidate(id, dense=score) for id, score in enumerate(scores))

    ranked = _ids(method(candidates=candidates, kind=QueryKind.SEMANTIC))

    assert scores[ranked[0]] == pytest.approx(max(scores))


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
    method: type, candidates: tuple[Candidate, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        method(candidates=candidates, kind=QueryKind.SEMANTIC)
