"""Measures of rankings and their intervals: worked examples, bounds, and what does not matter."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.evaluation import measures
from memory.evaluation.measures import Interval

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
