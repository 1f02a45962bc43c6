"""Intervals of shares and of differences: published examples, and what they claim holds."""

import numpy as np
import pytest
from numpy.typing import ArrayLike

from memory.experiments import uplift
from memory.experiments.uplift import Side, share

SLEEP = (  # hours gained with two drugs: Cushny and Peebles 1905, the example of Student 1908
    (0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0),
    (1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4),
)


def side(values: ArrayLike) -> Side:
    """Return the sums of some values."""
    numbers = np.asarray(values, dtype=float)
    return Side(count=numbers.size, total=float(numbers.sum()), squares=float((numbers**2).sum()))


def shares(successes: int, trials: int) -> Side:
    """Return the sums of successes of trials."""
    return Side(count=trials, total=successes, squares=successes)


NEWCOMBE = (  # 1998, Statistics in Medicine 17, 873-890, table II, method 10
    ((56, 70), (48, 80), (0.0524, 0.3339)),
    ((9, 10), (3, 10), (0.1705, 0.8090)),
    ((5, 56), (0, 29), (-0.0381, 0.1926)),
    ((0, 10), (0, 20), (-0.1611, 0.2775)),
    ((0, 10), (0, 10), (-0.2775, 0.2775)),
    ((10, 10), (0, 20), (0.6791, 1.0)),
)


def test_shares_differ_as_in_the_table_of_newcombe() -> None:
    for first, second, ends in NEWCOMBE:
        found = uplift.of_shares(first=shares(*first), second=shares(*second))
        assert (round(found.low, 4), round(found.high, 4)) == ends


def test_means_differ_as_in_the_example_of_student() -> None:
    found = uplift.of_means(first=side(SLEEP[0]), second=side(SLEEP[1]))

    assert found.value == pytest.approx(-1.58)
    assert (round(found.low, 3), round(found.high, 3)) == (-3.365, 0.205)  # Welch, f = 17.776


def test_quantiles_are_those_of_the_tables() -> None:
    tables = {(5, 0.95): 2.571, (10, 0.95): 2.228, (60, 0.95): 2.000, (30, 0.99): 2.750}

    found = {(n, level): uplift.t_quantile(freedom=n, level=level) for n, level in tables}

    assert found == pytest.approx(tables, abs=0.001)


def test_many_comparisons_together_are_sure_as_one_alone() -> None:
    drawn = np.random.default_rng(7)
    level = uplift.shared_level(comparisons=40)
    wrong = 0

    for _ in range(200):  # nights; nothing differs in any of forty comparisons
        sides = drawn.poisson(30, (40, 2, 25))
        found = (
            uplift.of_means(first=side(one), second=side(other), level=level)
            for one, other in sides
        )
        wrong += any(one.is_sure for one in found)

    assert wrong / 200 <= 0.10


def test_a_mean_of_one_session_is_refused_and_equal_values_have_no_width() -> None:
    with pytest.raises(ValueError, match="two sessions"):
        uplift.of_means(first=side((1.0,)), second=side((1.0, 2.0)))

    found = uplift.of_means(first=side((2.0, 2.0)), second=side((1.0, 1.0)))

    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)


def test_a_share_has_the_interval_of_the_literature_and_stays_between_nothing_and_all() -> None:
    found = share(successes=81, trials=263)  # Newcombe 1998, table I

    assert (round(found.low, 4), round(found.high, 4)) == (0.2553, 0.3662)
    for successes, trials in ((0, 5), (5, 5), (0, 0)):
        end = share(successes=successes, trials=trials)
        assert 0.0 <= end.low <= end.value <= end.high <= 1.0
    with pytest.raises(ValueError, match="3 of 2"):
        share(successes=3, trials=2)
