"""Fit the weights of fusion on judged queries, and keep the usual ones where the gain is noise.

A coarse grid over the weights of the paths is measured query by query. A point's value is the mean
over itself and its neighbors on the grid, so that a lucky point does not win; the winner replaces
the usual weights only where the interval of its paired gain excludes zero.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from memory.evaluation import bootstrap
from memory.evaluation.bootstrap import Interval
from memory.search.fusion import Path

STEPS: Final = 10  # of a weight from 0 to 1, ours
PATHS: Final = (Path.DENSE, Path.KEYWORD, Path.GRAPH)

Point = tuple[int, int, int]  # of PATHS, in steps; they sum to STEPS


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The best weights of a grid, their smoothed value, and the gain over the usual ones."""

    weights: Mapping[str, float]
    value: float
    gain: Interval
    usual: float

    @property
    def is_better(self) -> bool:
        """Whether the gain is no accident of the queries."""
        return self.gain.low > 0


def grid() -> tuple[Point, ...]:
    """Return every point whose dense and keyword weights are not both zero."""
    return tuple(
        (dense, keyword, STEPS - dense - keyword)
        for dense in range(STEPS + 1)
        for keyword in range(STEPS + 1 - dense)
        if dense + keyword
    )


def weights_of(*, point: Point) -> Mapping[str, float]:
    """Return a point as weights by path."""
    return {path.value: steps / STEPS for path, steps in zip(PATHS, point, strict=True)}


def chosen(*, measured: Mapping[Point, Sequence[float]], usual: Sequence[float]) -> Choice:
    """Choose from a measured grid; values are per query, in the order of the usual ones.

    Raises ValueError without queries or with another number of them.
    """
    if not usual:
        raise ValueError("weights are chosen by queries, and there are none")
    means = {point: fmean(values) for point, values in measured.items()}
    smooth = {point: fmean(means[near] for near in _near(point, means)) for point in means}
    best = max(smooth, key=lambda point: (smooth[point], point))
    gain = bootstrap.paired(first=usual, second=measured[best])
    if gain is None:
        raise ValueError("a point was measured on no query")
    return Choice(weights=weights_of(point=best), value=smooth[best], gain=gain, usual=fmean(usual))


def _near(point: Point, known: Mapping[Point, float]) -> tuple[Point, ...]:
    """Return the point and those that differ by one step from one path to another."""
    moves = ((1, -1, 0), (-1, 1, 0), (1, 0, -1), (-1, 0, 1), (0, 1, -1), (0, -1, 1))
    dense, keyword, graph = point
    near = ((dense + a, keyword + b, graph + c) for a, b, c in moves)
    return (point, *(item for item in near if item in known))
