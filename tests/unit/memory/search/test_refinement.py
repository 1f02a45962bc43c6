"""A reranker moves the best hits, keeps the rest below, and stays explained."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records.formulas import Factor, total
from memory.search import refinement
from memory.search.fusion import Fused, Item
from memory.search.query import QueryKind
from memory.search.ranking import Evidence, Standing
from memory.search.refinement import Rerank
from memory.taxonomy import MemoryType, Source

SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=40)


def _standings(*scores: float) -> tuple[Standing, ...]:
    return tuple(
        Standing(
            memory_id=UUID(int=number),
            score=score,
            factors=(Factor(name="dense", value=score),),
            multipliers=(),
            fused=Fused(memory_id=UUID(int=number), score=score, contributions=()),
        )
        for number, score in enumerate(sorted(scores, reverse=True))
    )


def test_a_hit_the_reranker_likes_rises_and_says_from_where() -> None:
    standings = _standings(1.0, 0.9, 0.0)
    scores = {UUID(int=0): 0.1, UUID(int=1): 0.9, UUID(int=2): 0.5}

    first, second, last = refinement.blend(standings=standings, scores=scores)

    assert (first.memory_id, first.moved.rank_before, first.moved.score) == (UUID(int=1), 1, 0.9)  # type: ignore[union-attr]
    assert first.score == pytest.approx(0.95)
    assert [second.score, last.score] == pytest.approx([0.5, 0.25])


@given(scores=SCORES, given_=SCORES)
def test_parts_sum_to_the_score_and_what_was_not_read_stays_below(
    scores: list[float], given_: list[float]
) -> None:
    standings = _standings(*scores)
    reranked = {one.memory_id: value for one, value in zip(standings, given_, strict=False)}

    blended = refinement.blend(standings=standings, scores=reranked)

    assert {one.memory_id for one in blended} == {one.memory_id for one in standings}
    assert all(total(factors=one.factors) == pytest.approx(one.score) for one in blended)
    read = [one.score for one in blended if one.moved]
    assert all(one.score <= min(read) + 1e-9 for one in blended if not one.moved)


def _is_due(wish: str, kind: QueryKind, standings: tuple[Standing, ...], *made_of: Item) -> bool:
    """Say whether a reranker looks, given what the first hits are made of and the rest is prose."""
    evidence = {
        one.memory_id: Evidence(
            memory_id=one.memory_id,
            type=MemoryType.FACT,
            source=Source.IMPORT,
            item=made_of[place] if place < len(made_of) else Item.PROSE,
        )
        for place, one in enumerate(standings)
    }
    return refinement.is_due(wish=wish, kind=kind, standings=standings, evidence=evidence)


def test_it_pays_where_the_first_hardly_leads_and_no_name_decides() -> None:
    close, apart = _standings(1.0, 0.95), _standings(1.0, 0.5)

    assert _is_due(Rerank.AUTO, QueryKind.SEMANTIC, close)
    assert not _is_due(Rerank.AUTO, QueryKind.SEMANTIC, apart)
    assert not _is_due(Rerank.AUTO, QueryKind.IDENTIFIER, close)
    assert not _is_due(Rerank.AUTO, QueryKind.SEMANTIC, _standings(1.0))
    assert not any(_is_due(wish, QueryKind.SEMANTIC, ()) for wish in Rerank)
    assert refinement.blend(standings=close, scores={}) == close


def test_what_most_of_the_best_hits_are_decides() -> None:
    standings = _standings(1.0, 0.4, 0.3, 0.2)
    for turns, code, kind, is_dialogue, fits in (
        (3, 0, QueryKind.SEMANTIC, True, True),
        (2, 0, QueryKind.SEMANTIC, False, True),
        (3, 0, QueryKind.IDENTIFIER, False, False),
        (0, 3, QueryKind.SEMANTIC, False, False),
        (0, 2, QueryKind.SEMANTIC, False, True),
    ):
        made_of = (*[Item.DIALOGUE] * turns, *[Item.CODE] * code)
        due = [_is_due(wish, kind, standings, *made_of) for wish in Rerank]
        assert due == [is_dialogue, False, is_dialogue, fits]  # usual, none, auto, on


def test_reranking_pays_where_close_facts_are_about_one_thing() -> None:
    for scores, about, pays in (
        ((1.0, 0.60, 0.58, 0.55), "xaaa", True),
        ((1.0, 0.60, 0.58, 0.55), "xaab", False),
        ((1.0, 0.60, 0.58, 0.49), "xaaa", False),
        ((1.0, 0.60, 0.50, 0.45, 0.41), "axaaa", True),
        ((1.0, 0.60, 0.50, 0.40, 0.33, 0.32, 0.31), "xyzuaaa", False),
        ((0.0, 0.0, 0.0), "aaa", False),
    ):
        things = {UUID(int=number): frozenset(thing) for number, thing in enumerate(about)}
        found = refinement.has_close_facts(standings=_standings(*scores), things=things)
        assert found is pays, about
