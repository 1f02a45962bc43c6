"""Fusion ignores the order of candidates, its parts sum to its score; neighbors lift some."""

import math
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.search import fusion
from memory.search.fusion import SHARES, WEIGHTS, Fused, FusedCandidate, Item, Method, Turns
from memory.search.query import QueryKind

SEMANTIC = WEIGHTS[QueryKind.SEMANTIC]
PATHS = ("dense", "keyword", "graph")
SCORES = st.dictionaries(st.sampled_from(PATHS), st.floats(-100, 100), min_size=1)


def _candidate(id: int, item: Item = Item.PROSE, **scores: float) -> FusedCandidate:
    return FusedCandidate(memory_id=UUID(int=id), scores=scores, item=item)


def _fused(*candidates: FusedCandidate, kind: QueryKind = QueryKind.SEMANTIC) -> dict[int, float]:
    """Return the scores by id, in their order."""
    shares = SHARES if kind is QueryKind.SEMANTIC else {}
    fused = fusion.fuse(candidates=candidates, weights=WEIGHTS[kind], shares=shares)
    return {one.memory_id.int: one.score for one in fused}


def test_minmax_weighs_normalized_scores_by_kind() -> None:
    scores = _fused(
        _candidate(1, dense=0.9, keyword=2.0, graph=0.0),
        _candidate(2, dense=0.5, keyword=6.0, graph=1.0),
        _candidate(3, dense=0.7, keyword=4.0),
    )

    assert scores == pytest.approx({1: 0.5, 2: 0.5, 3: 0.25 + 0.125})
    assert list(scores) == [1, 2, 3]  # ties are broken by id
    assert _fused(_candidate(1, keyword=5.0), _candidate(2, keyword=1.0)) == {1: 1.0, 2: 0.0}


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
    weights = {"keyword": 0.5, "dense": 0.5}

    fused = fusion.fuse(candidates=candidates, weights=weights, method=Method.RECIPROCAL_RANK)

    scores = {one.memory_id.int: one.score for one in fused}
    assert scores == pytest.approx(  # ranks from 0; 61 / (61 + rank) each
        {1: (1 + 61 / 63) / 2, 2: (61 / 62 + 1) / 2, 3: (61 / 63 + 61 / 62) / 2}
    )


def test_what_a_memory_is_made_of_turns_the_ranking_of_a_question() -> None:
    shares = {
        item: _fused(
            _candidate(1, item, dense=1.0, keyword=0.0), _candidate(2, item, dense=0.0, keyword=1.0)
        )[1]
        for item in Item
    }

    assert shares == pytest.approx({Item.PROSE: 2 / 3, Item.DIALOGUE: 0.5, Item.CODE: 0.8})


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


@pytest.mark.parametrize("method", Method)
@given(scores=st.lists(SCORES, max_size=6))
def test_scores_are_shares_and_their_parts_sum_to_them(
    method: Method, scores: list[dict[str, float]]
) -> None:
    candidates = tuple(_candidate(id, **each) for id, each in enumerate(scores))

    fused = fusion.fuse(candidates=candidates, weights=SEMANTIC, method=method)

    assert len(fused) == len(scores)
    for each in fused:
        assert math.fsum(part.value for part in each.contributions) == each.score
        assert -1e-9 <= each.score <= 1 + 1e-9


def test_a_path_without_a_weight_and_a_score_without_a_size_are_refused() -> None:
    with pytest.raises(KeyError, match="astrology"):
        _fused(_candidate(1, astrology=1.0))
    with pytest.raises(ValueError, match="score"):
        _fused(_candidate(1, dense=math.nan))


RANKED = tuple(Fused(UUID(int=number), 1.0 - number / 100, ()) for number in range(60))
TOP = {UUID(int=0): ("a.py", "b.py"), UUID(int=9): ("c.py", "d.py")}


def test_ranks_after_ten_and_up_to_fifty_rise_by_the_share_of_files_they_have() -> None:
    files = {**TOP, UUID(int=20): ("a.py", "d.py", "x.py")}

    boost = fusion.boosts(fused=RANKED, files=files)[UUID(int=20)]

    assert boost.shared == 2
    assert boost.value == pytest.approx(0.3 * 0.59 * 2 / 4)

    files = {**TOP, **{UUID(int=place): ("a.py",) for place in (3, 10, 49, 50)}}

    assert fusion.boosts(fused=RANKED, files=files).keys() == {UUID(int=10), UUID(int=49)}
    assert fusion.boosts(fused=RANKED, files={UUID(int=20): ("a.py",)}) == {}


def _turns(*ids: int) -> Turns:
    whole = (None, *(UUID(int=id) for id in ids), None)
    every = zip(whole, whole[1:], whole[2:], strict=False)
    return {id: (before, after) for before, id, after in every if id is not None}


def test_an_episode_gains_half_of_what_is_before_it_and_a_quarter_of_what_is_behind() -> None:
    candidates = tuple(
        _candidate(id, dense=score) for id, score in ((1, 0.9), (2, 0.4), (3, 0.6), (9, 0.2))
    )

    found = fusion.with_sessions(candidates=candidates, turns=_turns(1, 2, 3, 4, 5))

    scores = {one.memory_id.int: one.scores.get("dense") for one in found}
    answer = 0.2 + 0.5 * 0.4  # one that no path found comes with its question
    first, second, third = 0.9 + 0.25 * 0.2, 0.4 + 0.5 * 0.7 + 0.25 * 0.4, 0.6 + 0.5 * 0.2
    assert scores == pytest.approx({1: first, 2: second, 3: third, 9: 0.2, 4: answer, 5: None})
