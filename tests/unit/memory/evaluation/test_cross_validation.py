"""Signs and thresholds are chosen by queries that had no part in the slopes."""

import numpy as np
import pytest

from memory.evaluation import calibration as fitting
from memory.evaluation import cross_validation
from memory.evaluation.calibration import Pair
from memory.search.relevance import Sign

GOOD, NOISE = (Sign.COSINE,), (Sign.COSINE, Sign.MATCHED)


def _pairs(queries: int = 120) -> tuple[Pair, ...]:
    """One hit a query: the cosine tells whether it answers, mostly; matched words tell nothing."""
    draw = np.random.default_rng(7)
    answers = draw.random(queries) < 0.6
    cosines = np.clip(0.3 + 0.3 * answers + 0.15 * draw.standard_normal(queries), 0, 1)
    matched = draw.random(queries)
    return tuple(
        Pair(
            query_id=f"q{number}",
            signs={Sign.COSINE: cosines[number], Sign.MATCHED: matched[number]},
            answers=bool(answers[number]),
            answerable=bool(answers[number]),
        )
        for number in range(queries)
    )


def test_a_sign_that_tells_nothing_is_not_chosen() -> None:
    row, _ = cross_validation.chosen(key="x", pairs=_pairs(), options=(GOOD, NOISE))

    assert set(row.slopes) == {Sign.COSINE}


def test_a_sign_that_parts_better_is_chosen() -> None:
    row, found = cross_validation.chosen(
        key="x", pairs=_pairs(), options=((Sign.MATCHED, Sign.COSINE_LEAD), NOISE)
    )

    assert Sign.COSINE in row.slopes
    assert found.parting > 0.8


def test_the_threshold_is_set_by_unseen_queries() -> None:
    pairs = _pairs()

    row, found = cross_validation.chosen(key="x", pairs=pairs, options=(GOOD,))

    assert row.threshold == found.threshold >= fitting.LEAST
    assert 0.05 <= found.silence.withheld <= 0.15
    assert found.silence.recall > found.silence.withheld


def test_the_order_of_pairs_does_not_matter() -> None:
    pairs = _pairs()

    assert cross_validation.crossed(pairs=pairs, signs=GOOD) == cross_validation.crossed(
        pairs=pairs[::-1], signs=GOOD
    )


def test_without_options_there_is_nothing_to_choose() -> None:
    with pytest.raises(ValueError, match="nothing to choose"):
        cross_validation.chosen(key="x", pairs=_pairs(), options=())
