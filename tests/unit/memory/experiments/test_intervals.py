"""A share with its interval (Wilson 1927)."""

import pytest

from memory.experiments.intervals import share


def test_the_interval_is_that_of_the_literature() -> None:
    told = share(successes=81, trials=263)  # Newcombe 1998, table I

    assert (round(told.low, 4), round(told.high, 4)) == (0.2553, 0.3662)


@pytest.mark.parametrize(("successes", "trials"), [(0, 5), (5, 5), (0, 0)])
def test_it_stays_between_nothing_and_all(successes: int, trials: int) -> None:
    told = share(successes=successes, trials=trials)

    assert 0.0 <= told.low <= told.value <= told.high <= 1.0


def test_more_successes_than_trials_are_no_share() -> None:
    with pytest.raises(ValueError, match="3 of 2"):
        share(successes=3, trials=2)
