"""How far a measured mean may be trusted: bootstrap intervals (Efron 1979), seeded.

The queries of a set are drawn anew with replacement, as many as there are, and the measure is taken
of each draw; the middle 95 % of those are the interval. Two systems asked the same queries are
compared by the differences query by query, which is far sharper than two intervals side by side.
A share such as the precision of silence is a quotient of two sums: both are drawn together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

RESAMPLES: Final = 2_000  # draws, ours; the ends of an interval are steady to the second decimal
LEVEL: Final = 0.95  # share of the draws inside of an interval
SEED: Final = 20_791_979  # any; fixed, so that the same outcomes give the same report


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean, the ends of its interval, and over how many queries it was taken."""

    mean: float
    low: float
    high: float
    count: int

    @property
    def excludes_zero(self) -> bool:
        """Whether a difference of this size is no accident of the queries chosen."""
        return self.low > 0 or self.high < 0


def interval(*, values: Sequence[float], seed: int = SEED) -> Interval | None:
    """Return the mean of per-query values with its interval; None without values."""
    return quotient(numerators=values, denominators=(1.0,) * len(values), seed=seed)


def paired(*, first: Sequence[float], second: Sequence[float], seed: int = SEED) -> Interval | None:
    """Return the mean of second - first, query by query; None without values.

    Raises ValueError when the two do not have as many values.
    """
    differences = tuple(b - a for a, b in zip(first, second, strict=True))
    return interval(values=differences, seed=seed)


def quotient(
    *, numerators: Sequence[float], denominators: Sequence[float], seed: int = SEED
) -> Interval | None:
    """Return Σ numerators / Σ denominators with its interval; None when the latter is 0.

    Draws whose denominators sum to 0 say nothing and are left out. Raises ValueError when the two
    do not have as many values.
    """
    above, below = np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float)
    if above.shape != below.shape:
        raise ValueError(f"{above.size} numerators for {below.size} denominators")
    if not below.sum():
        return None
    count = above.size
    drawn = np.random.default_rng(seed).integers(0, count, size=(RESAMPLES, count))
    sums = below[drawn].sum(axis=1)
    kept = above[drawn].sum(axis=1)[sums != 0] / sums[sums != 0]
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.percentile(kept, (tail, 100 - tail))
    return Interval(
        mean=float(above.sum() / below.sum()), low=float(low), high=float(high), count=count
    )
