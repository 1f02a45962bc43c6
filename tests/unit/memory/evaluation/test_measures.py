"""Measures of rankings, the tables made of them, and what is fitted by them."""

import json
import math
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.evaluation import dataset, fitting, measures, report
from memory.evaluation.fitting import ScoredPair
from memory.evaluation.measures import Asked, Evaluation, Interval
from memory.evaluation.report import NotComparable
from memory.search.relevance import Sign

GRADES = {"a": 3, "b": 2, "c": 1}
SECOND = 1 / math.log2(3)  # the discount of the second rank

ids = st.sampled_from([f"m{number}" for number in range(12)])
rankings = st.lists(ids, unique=True, max_size=12)
judgments = st.dictionaries(ids, st.integers(1, 3), min_size=1, max_size=6)
ranks = st.integers(1, 12)
RANKED = (measures.recall_at, measures.precision_at, measures.reciprocal_rank, measures.ndcg_at)


@pytest.mark.parametrize(
    ("measure", "ranked", "k", "value"),
    [
        (measures.recall_at, ("a", "x", "c"), 10, 2 / 3),
        (measures.recall_at, ("a", "x", "c"), 2, 1 / 3),
        (measures.precision_at, ("a", "x"), 10, 0.1),  # empty ranks count as noise
        (measures.reciprocal_rank, ("x", "y", "b"), 10, 1 / 3),
        (measures.reciprocal_rank, ("x", "y", "b"), 2, 0),
        (
            measures.ndcg_at,
            ("b", "a", "c"),
            10,
            (2 + 3 * SECOND + 1 / 2) / (3 + 2 * SECOND + 1 / 2),
        ),
    ],
)
def test_worked_examples(measure, ranked, k, value) -> None:  # type: ignore[no-untyped-def]
    assert measure(ranked=ranked, grades=GRADES, k=k) == pytest.approx(value)


@pytest.mark.parametrize("measure", RANKED)
@given(ranked=rankings, grades=judgments, k=ranks)
def test_measures_stay_within_0_and_1(measure, ranked, grades, k) -> None:  # type: ignore[no-untyped-def]
    assert 0.0 <= measure(ranked=ranked, grades=grades, k=k) <= 1.0 + 1e-12
    if measure in {measures.reciprocal_rank, measures.ndcg_at}:
        best = sorted(grades, key=lambda id: -grades[id])
        assert measure(ranked=best, grades=grades, k=k) == pytest.approx(1.0)


shares = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def _interval(values: Sequence[float]) -> Interval | None:
    """Return the mean of per-query values with its interval."""
    return measures.quotient(numerators=values, denominators=(1.0,) * len(values))


def test_an_interval_is_as_wide_as_the_standard_error_says() -> None:
    found = _interval((0.0, 1.0) * 200)

    assert found is not None
    assert found.mean == 0.5
    assert (found.low, found.high) == pytest.approx((0.451, 0.549), abs=0.006)  # ± 1.96 / 40


def test_a_share_is_taken_of_both_sums_and_of_nothing_there_is_none() -> None:
    found = measures.quotient(numerators=(1.0, 0.0, 1.0, 0.0), denominators=(1.0, 1.0, 1.0, 0.0))

    assert found is not None
    assert found.mean == pytest.approx(2 / 3)
    assert found.count == 4
    assert _interval(()) is None
    assert measures.quotient(numerators=(0.0,), denominators=(0.0,)) is None
    with pytest.raises(ValueError, match="2 numerators for 1"):
        measures.quotient(numerators=(0.1, 0.2), denominators=(1.0,))


def test_a_difference_on_every_query_is_no_accident() -> None:
    first = tuple(number / 100 for number in range(50))
    second = tuple(value + 0.02 for value in first)

    apart = _interval(second)
    found = measures.paired(first=first, second=second)

    assert found is not None
    assert apart is not None
    assert found.excludes_zero
    assert found.high - found.low < (apart.high - apart.low) / 100


@given(values=shares)
def test_the_mean_lies_within_its_interval_and_that_within_the_values(values: list[float]) -> None:
    found = _interval(values)

    assert found is not None
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


MEMORIES = [
    {"id": "old", "content": "Five tries.", "type": "fact", "contradicts": ["new"]},
    {"id": "new", "content": "Twelve tries.", "type": "fact"},
    {"id": "far", "content": "The ring is visible.", "type": "fact"},
]
QUERIES = [
    {"id": "q1", "text": "how many tries", "kind": "question", "relevant": {"new": 3, "old": 1}},
    {"id": "q2", "text": "what color", "kind": "nothing", "relevant": {}, "confusable": ["far"]},
]


def _asked(query_id: str, *ranked: str, pack: tuple[str, ...] = (), took_ms: float = 2.0) -> Asked:
    return Asked(
        query_id=query_id, ranked=ranked, best_relevance=0.4, silent=not pack, pack=pack,
        pack_tokens=10 * len(pack), took_ms=took_ms,
    )  # fmt: skip


SYSTEMS = {
    "plain": (_asked("q1", "new", "old", "far", pack=("new", "old")), _asked("q2", "far")),
    "rrf": (_asked("q1", "far", "new", pack=("far",)), _asked("q2", "far", pack=("far",))),
}


@pytest.fixture
def evaluation() -> Evaluation:
    """Two profiles: the second ranks worse and is never silent."""
    texts = ["\n".join(json.dumps(row) for row in rows) for rows in (MEMORIES, QUERIES)]
    return Evaluation(
        judged=dataset.parse(name="own", memories=texts[0], queries=texts[1]), split=None,
        embedder="hashing/words-384", embedded=3, refused={}, degraded=(), systems=SYSTEMS,
    )  # fmt: skip


def _means(evaluation: Evaluation, profile: str, kind: str = "all") -> dict[str, float | None]:
    values = measures.values_of(evaluation=evaluation, profile=profile)
    rows = {row.kind: row for row in measures.table(values=values)}
    return {name: value and value.mean for name, value in rows[kind].measures.items()}


def test_ranks_are_of_answerable_queries_and_silence_of_all(evaluation: Evaluation) -> None:
    plain, rrf = _means(evaluation, "plain"), _means(evaluation, "rrf")

    assert (plain["recall@10"], rrf["recall@10"], rrf["MRR"]) == (1.0, 0.5, 0.5)
    assert _means(evaluation, "plain", "nothing")["MRR"] is None
    assert (plain["silence precision"], plain["silence recall"], plain["withheld"]) == (1, 1, 0)
    assert (rrf["silence precision"], rrf["silence recall"], rrf["withheld"]) == (None, 0, 0)
    assert (plain["contradictions in pack"], plain["confusable in pack"]) == (1, 0)
    assert (rrf["contradictions in pack"], rrf["confusable in pack"]) == (0, 1)
    assert plain["pack tokens"] == 20


def test_the_tables_name_all_that_was_measured(evaluation: Evaluation) -> None:
    refused = {"m9": "It is too short."}

    text = report.markdown(
        evaluation=replace(evaluation, refused=refused, degraded=("no_vectors",))
    )

    assert "# Evaluation: own, both halves" in text
    assert "3 memories, 3 of them embedded by hashing/words-384; 2 queries, 1 of them" in text
    assert "| question | 1 | plain | 1.000 [1.000, 1.000] |" in text
    assert "| all | 2 | rrf - plain | **-0.500 [-0.500, -0.500]** |" in text
    assert "Not let in: 1 memories, such as m9: It is too short." in text
    assert "Degraded: no_vectors." in text


def test_the_values_for_json_are_plain_and_whole(evaluation: Evaluation) -> None:
    found = json.loads(json.dumps(report.plain(evaluation=evaluation)))

    assert found["systems"]["plain"]["queries"]["q1"]["ranked"] == ["new", "old", "far"]
    assert found["systems"]["plain"]["took_ms"] == {"p50": 2.0, "p95": 2.0}
    assert found["differences"]["rrf - plain"]["question"]["MRR"]["mean"] == -0.5


def _report(**recalls: float) -> dict[str, Any]:
    queries = {
        id: {
            "kind": "typo",
            "silent": not recall,
            "measures": dict.fromkeys(("recall@10", "nDCG@10", "MRR", "precision@10"), recall),
        }
        for id, recall in recalls.items()
    }
    queries["none"] = {"kind": "nothing", "silent": True, "measures": {}}
    return {"digest": "d", "split": "held", "systems": {"plain": {"queries": queries}}}


def test_the_second_is_measured_against_the_first_and_what_nothing_answers_by_silence() -> None:
    first, second = _report(q1=0.0, q2=0.5), _report(q1=1.0, q2=0.5)

    all_, nothing, typo = report.compare(first=first, second=second, profile="plain")

    recall, silent = typo.measures["recall@10"], all_.measures["silent"]
    assert recall is not None
    assert silent is not None
    assert (recall.mean, recall.count) == (0.5, 2)
    assert silent.mean == pytest.approx(-1 / 3)
    assert (nothing.kind, nothing.measures["recall@10"]) == ("nothing", None)
    assert nothing.measures["silent"] is not None


def test_reports_that_do_not_belong_together_are_refused() -> None:
    changes: tuple[tuple[dict[str, Any], str], ...] = (
        ({"digest": "e"}, "differ in 'digest'"),
        ({"split": "train"}, "differ in 'split'"),
        ({"systems": {"rrf": {}}}, "nothing of the profile 'plain'"),
        ({"systems": []}, "nothing of the profile 'plain'"),
        ({"systems": {"plain": {"queries": {}}}}, "same queries"),
    )
    whole = _report(q1=1.0)
    for change, message in changes:
        with pytest.raises(NotComparable, match=message):
            report.compare(first=whole, second={**whole, **change}, profile="plain")


SIGNS = (Sign.COSINE, Sign.MATCHED, Sign.MISSING)


def _pairs(count: int = 2_000, *, slope: float = 6.0) -> tuple[ScoredPair, ...]:
    """Pairs whose truth is drawn from L(-3 + slope · cosine); two hits a query."""
    draw = np.random.default_rng(5)
    cosines, matched = draw.random(count), draw.random(count)
    true = draw.random(count) < 1 / (1 + np.exp(3 - slope * cosines))
    return tuple(
        ScoredPair(
            query_id=str(number // 2),
            signs={
                Sign.COSINE: cosines[number],
                Sign.COSINE_LEAD: -cosines[number],
                Sign.MATCHED: matched[number],
                Sign.MATCHED_LEAD: 0.0,
            },
            answers=bool(true[number]),
            answerable=bool(true[number // 2 * 2 : number // 2 * 2 + 2].any()),
        )
        for number in range(count)
    )


def test_the_slope_that_made_the_truth_is_found_and_a_sign_that_points_the_wrong_way_not() -> None:
    row = fitting.fit(key="x", pairs=_pairs(), signs=SIGNS)
    turned = fitting.fit(key="x", pairs=_pairs(), signs=(Sign.COSINE, Sign.COSINE_LEAD))

    assert row.slopes[Sign.COSINE] == pytest.approx(6.0, abs=0.8)
    assert row.intercept == pytest.approx(-3.0, abs=0.5)
    assert set(turned.slopes) == {Sign.COSINE}


def test_what_parts_nothing_cannot_be_fitted() -> None:
    for pairs, message in (
        (_pairs(slope=-6.0), "no sign"),
        (tuple(pair for pair in _pairs(200) if pair.answers), "pairs that do not"),
    ):
        with pytest.raises(ValueError, match=message):
            fitting.fit(key="x", pairs=pairs, signs=(Sign.COSINE,))


def test_what_is_said_is_so_and_at_most_a_tenth_of_the_answerable_is_withheld() -> None:
    pairs = _pairs(8_000)
    row = fitting.fit(key="x", pairs=pairs, signs=SIGNS)

    found = fitting.reliability(pairs=pairs, calibration=row)
    effect = fitting.silence(pairs=pairs, calibration=row)

    assert found.brier < found.base_brier
    assert all(abs(one.said - one.true) < 0.08 for one in found.bins if one.count > 100)
    assert 0.05 <= effect.withheld <= 0.10
    assert effect.recall > effect.withheld


GOOD, NOISE = (Sign.COSINE,), (Sign.COSINE, Sign.MATCHED)


def _queries(count: int = 120) -> tuple[ScoredPair, ...]:
    """One hit a query: the cosine tells whether it answers, mostly; matched words tell nothing."""
    draw = np.random.default_rng(7)
    answers = draw.random(count) < 0.6
    cosines = np.clip(0.3 + 0.3 * answers + 0.15 * draw.standard_normal(count), 0, 1)
    matched = draw.random(count)
    return tuple(
        ScoredPair(
            query_id=f"q{number}",
            signs={Sign.COSINE: cosines[number], Sign.MATCHED: matched[number]},
            answers=bool(answers[number]),
            answerable=bool(answers[number]),
        )
        for number in range(count)
    )


def test_a_sign_is_chosen_where_it_parts_better_and_the_threshold_by_unseen_queries() -> None:
    pairs, weaker = _queries(), (Sign.MATCHED, Sign.COSINE_LEAD)

    alone, crossed = fitting.choose_signs(key="x", pairs=pairs, options=(GOOD, NOISE))
    row, found = fitting.choose_signs(key="x", pairs=pairs, options=(weaker, NOISE))

    assert set(alone.slopes) == {Sign.COSINE}
    assert Sign.COSINE in row.slopes
    assert found.parting > 0.8
    assert crossed == fitting.cross_validate(pairs=pairs[::-1], signs=GOOD)  # in whatever order
    assert alone.threshold == crossed.threshold >= fitting.LEAST
    assert 0.05 <= crossed.silence.withheld <= 0.15
    assert crossed.silence.recall > crossed.silence.withheld


def test_a_fitted_row_is_written_as_the_file_of_calibrations_takes_it() -> None:
    row, crossed = fitting.choose_signs(key="x/1", pairs=_queries(), options=(GOOD,))
    checked = fitting.Checked(calibration=row, crossed=crossed, halves={})

    lines = report.calibrations(rows=(checked,)).splitlines()

    read = tomllib.loads("\n".join(line for line in lines if not line.startswith(" ")))
    assert read["x/1"] | {"key": "x/1"} == asdict(row)


def _measured(good: tuple[int, int, int], value: float) -> dict[tuple[int, int, int], list[float]]:
    """A hill around a point: worth `value` there, less with each step away."""
    return {
        point: [value - 0.02 * sum(abs(a - b) for a, b in zip(point, good, strict=True))] * 40
        for point in fitting.weight_grid()
    }


def test_the_top_of_the_hill_is_found_and_no_lucky_point_and_no_chance_wins() -> None:
    usual, hill = [0.5] * 40, _measured((6, 3, 1), 0.9)
    noisy = {point: [0.0, 1.0] * 20 for point in fitting.weight_grid()}

    found = fitting.choose_weights(measured=hill, usual=usual)
    beside = fitting.choose_weights(measured={**hill, (1, 1, 8): [1.0] * 40}, usual=usual)
    chance = fitting.choose_weights(measured=noisy, usual=[1.0, 0.0] * 20)

    assert found.weights == {"dense": 0.6, "keyword": 0.3, "graph": 0.1}
    assert beside.weights["dense"] == 0.6
    assert (found.is_better, chance.is_better) == (True, False)
