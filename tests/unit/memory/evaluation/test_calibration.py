"""A fitted calibration says what is so, points the right way, and withholds what it may."""

import numpy as np
import pytest

from memory.evaluation import calibration as fitting
from memory.evaluation.calibration import Pair
from memory.search import relevance as relevances
from memory.search.relevance import Sign

SIGNS = (Sign.COSINE, Sign.MATCHED, Sign.MISSING)


def _pairs(count: int = 2_000, *, slope: float = 6.0) -> tuple[Pair, ...]:
    """Pairs whose truth is drawn from L(-3 + slope · cosine); two hits a query."""
    draw = np.random.default_rng(5)
    cosines, matched = draw.random(count), draw.random(count)
    true = draw.random(count) < 1 / (1 + np.exp(3 - slope * cosines))
    return tuple(
        Pair(
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


def test_the_slope_that_made_the_truth_is_found() -> None:
    row = fitting.fit(key="x", pairs=_pairs(), signs=SIGNS)

    assert row.slopes[Sign.COSINE] == pytest.approx(6.0, abs=0.8)
    assert row.intercept == pytest.approx(-3.0, abs=0.5)


def test_a_sign_that_points_the_wrong_way_is_left_out() -> None:
    row = fitting.fit(key="x", pairs=_pairs(), signs=(Sign.COSINE, Sign.COSINE_LEAD))

    assert set(row.slopes) == {Sign.COSINE}


def test_signs_that_tell_nothing_cannot_be_fitted() -> None:
    with pytest.raises(ValueError, match="no sign"):
        fitting.fit(key="x", pairs=_pairs(slope=-6.0), signs=(Sign.COSINE,))


def test_what_is_said_is_so_in_every_bin_with_enough_pairs() -> None:
    pairs = _pairs(8_000)
    row = fitting.fit(key="x", pairs=pairs, signs=SIGNS)

    found = fitting.reliability(pairs=pairs, calibration=row)

    assert found.brier < found.base_brier
    assert all(abs(one.said - one.true) < 0.08 for one in found.bins if one.count > 100)


def test_the_threshold_withholds_at_most_a_tenth_of_the_answerable() -> None:
    pairs = _pairs()
    row = fitting.fit(key="x", pairs=pairs, signs=SIGNS)

    effect = fitting.silence(pairs=pairs, calibration=row, threshold=row.threshold)

    assert 0.05 <= effect.withheld <= 0.10
    assert effect.recall > effect.withheld


def test_pairs_of_one_outcome_cannot_be_fitted() -> None:
    answered = tuple(pair for pair in _pairs(200) if pair.answers)

    with pytest.raises(ValueError, match="pairs that do not"):
        fitting.fit(key="x", pairs=answered, signs=SIGNS)


def test_a_calibration_without_pairs_has_no_reliability() -> None:
    row = fitting.fit(key="x", pairs=_pairs(200), signs=SIGNS)

    with pytest.raises(ValueError, match="needs pairs"):
        fitting.reliability(pairs=(), calibration=row)


def test_the_value_of_a_pair_is_the_products() -> None:
    pair = _pairs(2)[0]
    row = fitting.fit(key="x", pairs=_pairs(400), signs=SIGNS)

    value = relevances.relevance(signs=pair.signs, calibration=row).value
    effect = fitting.silence(pairs=(pair,), calibration=row, threshold=value)

    assert effect == fitting.Silence(recall=0.0, withheld=0.0)
