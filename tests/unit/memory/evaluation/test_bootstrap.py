"""Intervals: the mean lies in them, the same seed repeats them, pairs are sharper than two."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.evaluation import bootstrap

shares = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_values_that_are_all_equal_leave_no_doubt() -> None:
    found = bootstrap.interval(values=(0.5,) * 20)

    assert found is not None
    assert (found.mean, found.low, found.high, found.count) == (0.5, 0.5, 0.5, 20)


def test_an_interval_is_as_wide_as_the_standard_error_says() -> None:
    found = bootstrap.interval(values=(0.0, 1.0) * 200)

    assert found is not None
    assert found.mean == 0.5
    assert (found.low, found.high) == pytest.approx((0.451, 0.549), abs=0.006)  # ± 1.96 / 40


def test_the_same_values_give_the_same_interval() -> None:
    values = (0.1, 0.9, 0.4, 0.0)

    assert bootstrap.interval(values=values) == bootstrap.interval(values=values)


def test_nothing_measured_has_no_interval() -> None:
    assert bootstrap.interval(values=()) is None
    assert bootstrap.quotient(numerators=(0.0,), denominators=(0.0,)) is None


def test_a_difference_on_every_query_is_no_accident() -> None:
    first = tuple(number / 100 for number in range(50))
    second = tuple(value + 0.02 for value in first)

    apart = bootstrap.interval(values=second)
    found = bootstrap.paired(first=first, second=second)

    assert found is not None
    assert apart is not None
    assert found.excludes_zero
    assert found.high - found.low < (apart.high - apart.low) / 100


def test_no_difference_is_not_told_from_zero() -> None:
    found = bootstrap.paired(first=(0.0, 1.0, 0.5, 0.2), second=(1.0, 0.0, 0.2, 0.5))

    assert found is not None
    assert not found.excludes_zero


def test_a_share_is_taken_of_both_sums() -> None:
    found = bootstrap.quotient(numerators=(1.0, 0.0, 1.0, 0.0), denominators=(1.0, 1.0, 1.0, 0.0))

    assert found is not None
    assert found.mean == pytest.approx(2 / 3)
    assert found.count == 4


def test_two_systems_answer_the_same_queries() -> None:
    with pytest.raises(ValueError, match="zip"):
        bootstrap.paired(first=(0.1, 0.2), second=(0.1,))
    with pytest.raises(ValueError, match="2 numerators for 1"):
        bootstrap.quotient(numerators=(0.1, 0.2), denominators=(1.0,))


@given(values=shares)
def test_the_mean_lies_within_its_interval_and_that_within_the_values(values: list[float]) -> None:
    found = bootstrap.interval(values=values)

    assert found is not None
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


@given(values=st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_the_order_of_two_systems_turns_the_sign(values: list[float]) -> None:
    other = values[::-1]

    there = bootstrap.paired(first=values, second=other)
    back = bootstrap.paired(first=other, second=values)

    assert there is not None
    assert back is not None
    assert there.mean == pytest.approx(-back.mean)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
