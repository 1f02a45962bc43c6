"""A reranker moves the best hits, keeps the rest below, and stays explained."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records.factors import Factor, total
from memory.search import rerank
from memory.search.candidates import Item
from memory.search.fusion import Fused
from memory.search.query import QueryKind
from memory.search.ranking import Standing

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

    first, second, last = rerank.blend(standings=standings, scores=scores)

    assert (first.memory_id, first.moved.rank_before, first.moved.score) == (UUID(int=1), 1, 0.9)  # type: ignore[union-attr]
    assert first.score == pytest.approx(0.95)
    assert [second.score, last.score] == pytest.approx([0.5, 0.25])


@given(scores=SCORES, given_=SCORES)
def test_parts_sum_to_the_score_and_what_was_not_read_stays_below(
    scores: list[float], given_: list[float]
) -> None:
    standings = _standings(*scores)
    reranked = {one.memory_id: value for one, value in zip(standings, given_, strict=False)}

    blended = rerank.blend(standings=standings, scores=reranked)

    assert {one.memory_id for one in blended} == {one.memory_id for one in standings}
    assert all(total(factors=one.factors) == pytest.approx(one.score) for one in blended)
    read = [one.score for one in blended if one.moved]
    assert all(one.score <= min(read) + 1e-9 for one in blended if not one.moved)


def test_without_scores_nothing_changes() -> None:
    standings = _standings(0.4, 0.2)

    assert rerank.blend(standings=standings, scores={}) == standings


@pytest.mark.parametrize(
    ("scores", "kind", "pays"),
    [
        ((1.0, 0.95), QueryKind.SEMANTIC, True),
        ((1.0, 0.5), QueryKind.SEMANTIC, False),
        ((1.0, 0.95), QueryKind.IDENTIFIER, False),
        ((1.0,), QueryKind.SEMANTIC, False),
        ((), QueryKind.SEMANTIC, False),
    ],
)
def test_it_pays_where_the_first_hardly_leads_and_no_name_decides(
    scores: tuple[float, ...], kind: QueryKind, pays: bool
) -> None:
    assert rerank.worth_it(standings=_standings(*scores), kind=kind, items={}, things={}) is pays


@pytest.mark.parametrize(
    ("turns", "code", "kind", "is_dialogue", "fits"),
    [
        (3, 0, QueryKind.SEMANTIC, True, True),
        (2, 0, QueryKind.SEMANTIC, False, True),
        (3, 0, QueryKind.IDENTIFIER, False, False),
        (0, 3, QueryKind.SEMANTIC, False, False),
        (0, 2, QueryKind.SEMANTIC, False, True),
    ],
)
def test_what_most_of_the_best_hits_are_decides(
    turns: int, code: int, kind: QueryKind, is_dialogue: bool, fits: bool
) -> None:
    standings = _standings(1.0, 0.4, 0.3, 0.2)
    made_of = [Item.DIALOGUE] * turns + [Item.CODE] * code
    items = {UUID(int=number): item for number, item in enumerate(made_of)}

    assert rerank.is_dialogue(kind=kind, standings=standings, items=items) is is_dialogue
    assert rerank.fits(kind=kind, standings=standings, items=items) is fits
    assert rerank.worth_it(kind=kind, standings=standings, items=items, things={}) is is_dialogue


def test_nothing_found_is_neither_dialogue_nor_code() -> None:
    assert not rerank.is_dialogue(kind=QueryKind.SEMANTIC, standings=(), items={})
    assert rerank.fits(kind=QueryKind.SEMANTIC, standings=(), items={})


def test_a_share_outside_of_0_to_1_is_refused() -> None:
    with pytest.raises(ValueError, match="share"):
        rerank.blend(standings=_standings(1.0), scores={UUID(int=0): 1.0}, share=1.5)


@pytest.mark.parametrize(
    ("scores", "about", "pays"),
    [
        ((1.0, 0.60, 0.58, 0.55), "xaaa", True),
        ((1.0, 0.60, 0.58, 0.55), "xaab", False),
        ((1.0, 0.60, 0.58, 0.49), "xaaa", False),
        ((1.0, 0.60, 0.50, 0.45, 0.41), "axaaa", True),
        ((1.0, 0.60, 0.50, 0.40, 0.33, 0.32, 0.31), "xyzuaaa", False),
        ((0.0, 0.0, 0.0), "aaa", False),
    ],
)
def test_reranking_pays_where_close_facts_are_about_one_thing(
    scores: tuple[float, ...], about: str, pays: bool
) -> None:
    things = {UUID(int=number): frozenset(thing) for number, thing in enumerate(about)}

    assert rerank.has_close_facts(standings=_standings(*scores), things=things) is pays
