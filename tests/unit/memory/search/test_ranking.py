"""Fusion, profiles, rerankers, relevance: scores are sums of parts in any order."""

import math
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.customization.phases import Phase, weights_of
from memory.records.formulas import Factor, total
from memory.search import fusion, query, ranking, refinement
from memory.search import pool as pools
from memory.search import relevance as relevances
from memory.search.fusion import SHARES, WEIGHTS, Fused, FusedCandidate, Item, Method, Turns
from memory.search.pool import Pool
from memory.search.query import QueryKind, Wording
from memory.search.ranking import PROFILES, Evidence, Standing, Task
from memory.search.refinement import Rerank
from memory.search.relevance import (
    ANY,
    CALIBRATIONS,
    NO_VECTORS,
    Calibration,
    Observed,
    Rivals,
    Sign,
)
from memory.search.request import SearchRequest, Silence
from memory.taxonomy import MemoryType, Source

SEMANTIC = WEIGHTS[QueryKind.SEMANTIC]
PATHS = ("dense", "keyword", "graph")
ANY_SCORES = st.dictionaries(st.sampled_from(PATHS), st.floats(-100, 100), min_size=1)


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
@given(scores=st.lists(ANY_SCORES, max_size=6))
def test_scores_are_sums_of_their_parts(method: Method, scores: list[dict[str, float]]) -> None:
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


def test_a_turn_gains_a_part_of_what_is_before_it_and_half_as_much_of_what_is_behind() -> None:
    candidates = tuple(
        _candidate(id, dense=score) for id, score in ((1, 0.9), (2, 0.4), (3, 0.6), (9, 0.2))
    )

    found = fusion.with_sessions(candidates=candidates, turns=_turns(1, 2, 3, 4, 5))

    scores = {one.memory_id.int: one.scores.get("dense") for one in found}
    answer = 0.2 + 0.3 * 0.4  # one that no path found comes with its question
    first, second, third = 0.9 + 0.15 * 0.2, 0.4 + 0.3 * 0.7 + 0.15 * 0.4, 0.6 + 0.3 * 0.2
    assert scores == pytest.approx({1: first, 2: second, 3: third, 9: 0.2, 4: answer, 5: None})


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


@given(pool=_pools(), profile=st.sampled_from(tuple(PROFILES)), data=st.data())
def test_the_order_found_does_not_matter(pool: Pool, profile: str, data: st.DataObject) -> None:
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


@given(pool=_pools())
def test_the_whole_ranking_says_whether_anything_fits(pool: Pool) -> None:
    standings = pools.rank(pool=pool, request=SearchRequest(query=pool.asked.normalized))
    values = {
        one.memory_id: value.value for one, value in pools.judge(pool=pool, standings=standings)
    }
    reached = replace(pool, threshold=max(values.values()))
    missed = replace(pool, threshold=math.nextafter(max(values.values()), 2.0))

    shown, silent = (
        pools.judge(pool=one, standings=standings, silence=Silence.QUERY, limit=1)
        for one in (reached, missed)
    )

    assert [one.memory_id for one, _ in shown] == [standings[0].memory_id]
    assert silent == ()


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


SCORES = st.dictionaries(
    st.sampled_from(("dense", "keyword", "graph")), st.floats(0.01, 1), min_size=1
)
EVIDENCE = st.builds(
    Evidence, memory_id=st.just(UUID(int=0)), type=st.sampled_from(MemoryType),
    source=st.sampled_from(Source),
    files=st.lists(st.sampled_from("abcdef"), max_size=3, unique=True).map(tuple),
    age_days=st.floats(0, 900), idle_days=st.floats(0, 900), accesses=st.integers(0, 500),
    confidence=st.floats(0, 1),
)  # fmt: skip
ITEMS = st.lists(st.tuples(SCORES, EVIDENCE), max_size=30)
TASKS = st.builds(
    Task,
    profile=st.sampled_from(tuple(PROFILES.values())),
    weights=st.sampled_from(tuple(WEIGHTS.values())),
    types=st.sampled_from((None, *Phase)).map(lambda phase: weights_of(phase=phase, own={})),
)


def _given(
    items: list[tuple[dict[str, float], Evidence]],
) -> tuple[tuple[FusedCandidate, ...], dict[UUID, Evidence]]:
    ids = tuple(UUID(int=number) for number in range(len(items)))
    candidates = tuple(
        FusedCandidate(memory_id=id, scores=scores)
        for id, (scores, _) in zip(ids, items, strict=True)
    )
    return candidates, {id: known for id, (_, known) in zip(ids, items, strict=True)}


@given(items=ITEMS, task=TASKS)
def test_parts_sum_to_the_score_and_scores_fall(
    items: list[tuple[dict[str, float], Evidence]], task: Task
) -> None:
    candidates, evidence = _given(items)

    standings = ranking.rank(candidates=candidates, evidence=evidence, task=task)

    assert len(standings) == len(items)
    assert all(total(factors=one.factors) == pytest.approx(one.score) for one in standings)
    scores = [one.score for one in standings]
    assert scores == sorted(scores, reverse=True)


def test_a_candidate_that_may_not_be_seen_any_more_is_left_out() -> None:
    candidate = FusedCandidate(memory_id=UUID(int=1), scores={"dense": 0.5})
    task = Task(profile=PROFILES["plain"], weights=WEIGHTS[QueryKind.SEMANTIC])

    assert ranking.rank(candidates=(candidate,), evidence={}, task=task) == ()


CLOSE = 0.5  # cosine, and fusion score, of what is weighed below
GOTCHA = Evidence(memory_id=UUID(int=1), type=MemoryType.GOTCHA, source=Source.IMPORT, accesses=100)


def _parts(profile: str, evidence: Evidence = GOTCHA, phase: Phase | None = None) -> list[float]:
    """Return the part of the fusion and those of the other terms."""
    types = weights_of(phase=phase, own={})
    task = Task(profile=PROFILES[profile], weights={}, types=types)
    share, others, _ = ranking.weigh(evidence=evidence, cosine=CLOSE, task=task)
    return [share * CLOSE, *(factor.value for factor in others)]


def test_the_unified_score_of_the_worked_example_and_the_floor_of_activation() -> None:
    hours = 4 * math.exp(0.28)  # so that ln 2 - ln(hours) / 2 is -0.14
    fresh = replace(GOTCHA, accesses=0, age_days=hours / 24, activation_floor=-2.0, confidence=0.95)
    old = replace(GOTCHA, accesses=0, age_days=10_000, activation_floor=2.0)

    _, *others = _parts("cognitive", fresh)

    assert others == pytest.approx([0.25 * -0.0140, 0.15 * 0.95])
    assert _parts("cognitive", old)[1] == pytest.approx(0.25 * 0.2)


def test_coding_adds_its_parts_and_multiplies_by_phase_source_and_belief() -> None:
    weighed = replace(GOTCHA, source=Source.EXTRACTED, confidence=0.5)

    assert _parts("coding") == pytest.approx([0.20, 0.10, 0.25, 0.15])
    assert sum(_parts("coding", weighed, Phase.IMPLEMENT)) == pytest.approx(0.70 * 1.4 * 0.85 * 0.5)


@given(
    name=st.sampled_from(tuple(PROFILES)),
    belief=st.floats(0, 1),
    days=st.floats(0, 1000),
    later=st.floats(0, 1000),
)
def test_no_profile_rises_by_idle_days(name: str, belief: float, days: float, later: float) -> None:
    fresh = replace(GOTCHA, confidence=belief, idle_days=days)

    idle = sum(_parts(name, replace(fresh, idle_days=days + later)))
    usual = sum(_parts(name, fresh))
    assert 0.0 <= idle <= usual
    assert sum(_parts(name, fresh, Phase.IMPLEMENT)) == pytest.approx(1.4 * usual)


SCORE_LISTS = st.lists(st.floats(0, 1), min_size=1, max_size=40)


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


@given(scores=SCORE_LISTS, given_=SCORE_LISTS)
def test_what_was_not_read_stays_below(scores: list[float], given_: list[float]) -> None:
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


SHARE = st.floats(0, 1)
ROWS = st.sampled_from(tuple(CALIBRATIONS.values()))
USUAL = Rivals(cosine=0.2, matched=0.1)
ENGLISH = Wording(words=4, is_french=False)
MINILM = CALIBRATIONS["local/all-minilm-l6-v2"]


def _observed(*evidence: tuple[float | None, float]) -> tuple[Observed, ...]:
    return tuple(
        Observed(memory_id=UUID(int=number), cosine=cosine, matched=matched)
        for number, (cosine, matched) in enumerate(evidence)
    )


def _first(
    observed: tuple[Observed, ...], row: Calibration, wording: Wording = ENGLISH
) -> relevances.Relevance:
    found = relevances.judge(observed=observed, calibration=row, wording=wording)
    return found[observed[0].memory_id]


@given(row=ROWS, evidence=st.lists(st.tuples(SHARE, SHARE), min_size=1, max_size=40))
def test_parts_explain_relevance(row: Calibration, evidence: list[tuple[float, float]]) -> None:
    found = _first(_observed(*evidence), row)

    assert 0.0 <= found.value <= 1.0
    assert relevances.logistic(total(factors=found.parts)) == found.value


@given(row=ROWS, low=SHARE, high=SHARE, others=st.lists(SHARE, min_size=12, max_size=30))
def test_more_matched_words_never_lower_it(
    row: Calibration, low: float, high: float, others: list[float]
) -> None:
    rest = tuple((0.2, share) for share in others)
    less, more = (
        _first(_observed((0.4, share), *rest), row).value for share in sorted((low, high))
    )

    assert less <= more + 1e-9


def test_a_memory_that_stands_out_and_lacks_no_identifier_is_more_relevant() -> None:
    alone = _observed((0.5, 0.2), *((0.1, 0.0),) * 20)
    crowded = _observed((0.5, 0.2), *((0.48, 0.2),) * 20)
    has = Observed(memory_id=UUID(int=1), cosine=0.5, matched=0.5)
    lacks = has._replace(missing=1.0)

    assert _first(alone, MINILM).value > 2 * _first(crowded, MINILM).value
    assert _first((lacks,), MINILM).value < _first((has,), MINILM).value


def test_the_only_memory_of_a_store_can_be_relevant_and_noise_is_not() -> None:
    for row in CALIBRATIONS.values():
        cosine = None if row.key == NO_VECTORS else 0.7
        assert _first(_observed((cosine, 0.9)), row).value >= row.threshold
        assert _first(_observed((cosine and 0.02, 0.0)), row).value < row.threshold


def test_signs_are_relative_to_the_rivals_and_those_equally_close_are_equally_the_closest() -> None:
    observed = _observed(*((0.9, 0.5),) * 3, *((0.3, 0.1),) * 9)
    some = _observed((0.5, 0.0), (0.9, 0.0), (0.5, 0.0), (None, 0.0))

    signs = relevances.signs_of(observed=observed, usual=USUAL, wording=ENGLISH)[UUID(int=0)]
    found = relevances.signs_of(observed=some, usual=USUAL, wording=ENGLISH)

    assert signs[Sign.COSINE_LEAD] == pytest.approx(0.6)
    assert signs[Sign.MATCHED_LEAD] == pytest.approx(0.4)
    assert signs[Sign.COSINE_STANDING] == pytest.approx((0.9 - 0.45) / (0.2598076 + 0.03))
    assert signs[Sign.COSINE_WORDS] == pytest.approx(3.6)
    assert [found[UUID(int=id)].get(Sign.CLOSEST) for id in range(4)] == [1 / 2, 1.0, 1 / 2, None]


def test_what_is_as_close_to_a_french_or_longer_query_is_more_relevant() -> None:
    observed = _observed((0.4, 0.1), *((0.2, 0.0),) * 20)

    for wording in (Wording(words=4, is_french=True), Wording(words=8, is_french=False)):
        assert _first(observed, MINILM, wording).value > _first(observed, MINILM).value


def test_slopes_point_the_way_their_signs_mean() -> None:
    slopes = [item for row in CALIBRATIONS.values() for item in row.slopes.items()]
    chosen = relevances.calibration_of(model="openai/new@512", has_vectors=True)
    worded = relevances.calibration_of(model="local/all-minilm-l6-v2", has_vectors=False)

    assert all((slope < 0) == (sign is Sign.MISSING) for sign, slope in slopes)
    assert all(0 < row.threshold < 1 for row in CALIBRATIONS.values())
    assert (chosen.key, worded.key) == (ANY, NO_VECTORS)
    assert {Sign.COSINE, Sign.COSINE_LEAD}.isdisjoint({*chosen.slopes, *worded.slopes})
