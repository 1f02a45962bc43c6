"""What is fitted says what is so, is chosen by unseen queries, and only where it is no accident."""

import numpy as np
import pytest

from memory.evaluation import fitting
from memory.evaluation.fitting import ScoredPair
from memory.search.relevance import Sign

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
