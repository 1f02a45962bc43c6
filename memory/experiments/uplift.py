"""What memory changes, figure by figure: those who were given it against those who were not (10.4).

A comparison has a side that was given something and one that went without. Each figure that enough
sessions of both sides told has a difference with its interval; of the others nothing is claimed.
Harm is claimed of a memory only where an interval lies wholly on the bad side although all the
intervals of that night hold together, because among many comparisons some look bad by chance.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from memory.experiments import differences
from memory.experiments.differences import Difference, Side
from memory.experiments.figures import Figure

SHARES: Final = frozenset({Figure.QA, Figure.DEAD_ENDS})  # of sessions; the others are means
MORE_IS_BETTER: Final = frozenset({Figure.QA})
GOALS: Final[Mapping[Figure, float]] = {  # relative change
    Figure.TOOLS: -0.20,
    Figure.REREADS: -0.50,
    Figure.QA: 0.15,
}
HARMS: Final = (Figure.QA, Figure.CORRECTIONS, Figure.REREADS, Figure.TOKENS)
NOTHING: Final = Side(count=0, total=0.0, squares=0.0)

Sums = Mapping[Figure, Side]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One figure on both sides; `difference` is given - without, None where nothing is claimed."""

    figure: Figure
    given: Side
    without: Side
    difference: Difference | None

    @property
    def relative(self) -> float | None:
        """The difference as a share of what it was without; None where that was nothing."""
        if self.difference is None or not self.without.mean:
            return None
        return self.difference.value / self.without.mean

    @property
    def is_good(self) -> bool:
        """Say whether the whole interval is on the good side."""
        return self._is_wholly(1 if self.figure in MORE_IS_BETTER else -1)

    @property
    def is_bad(self) -> bool:
        """Say whether the whole interval is on the bad side."""
        return self._is_wholly(-1 if self.figure in MORE_IS_BETTER else 1)

    @property
    def verdict(self) -> str:
        """Say what the interval shows: better, worse, open, or that there is none yet."""
        if self.difference is None:
            return "too_few"
        if self.is_good:
            return "better"
        return "worse" if self.is_bad else "open"

    def _is_wholly(self, sign: int) -> bool:
        found = self.difference
        return found is not None and (found.low > 0 if sign > 0 else found.high < 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """Tokens that the sessions of a side took less than they would have without."""

    tokens: float
    low: float
    high: float
    sessions: int


def measured(
    *,
    given: Sums,
    without: Sums,
    figures: Iterable[Figure] = tuple(Figure),
    level: float = differences.LEVEL,
) -> tuple[Measured, ...]:
    """Compare both sides, figure by figure."""
    return tuple(
        _one(figure, given.get(figure, NOTHING), without.get(figure, NOTHING), level)
        for figure in figures
    )


def harm(*, given: Sums, without: Sums, comparisons: int) -> tuple[Measured, ...]:
    """Return the figures that a memory surely made worse, among so many comparisons of a night."""
    level = differences.shared_level(comparisons=comparisons)
    found = measured(given=given, without=without, figures=HARMS, level=level)
    return tuple(one for one in found if one.is_bad)


def claimable(*, given: Sums, without: Sums) -> int:
    """Return how many figures of a memory could claim harm: those with enough sessions."""
    found = measured(given=given, without=without, figures=HARMS)
    return sum(one.difference is not None for one in found)


def tokens_saved(*, given: Sums, without: Sums) -> Saved | None:
    """Compute (mean without - mean given) * sessions that were given; None where unclaimed."""
    (found,) = measured(given=given, without=without, figures=(Figure.TOKENS,))
    if found.difference is None:
        return None
    sessions = found.given.count
    return Saved(
        tokens=-found.difference.value * sessions,
        low=-found.difference.high * sessions,
        high=-found.difference.low * sessions,
        sessions=sessions,
    )


def _one(figure: Figure, given: Side, without: Side, level: float) -> Measured:
    compare = differences.of_shares if figure in SHARES else differences.of_means
    is_enough = differences.is_enough(first=given, second=without)
    difference = compare(first=given, second=without, level=level) if is_enough else None
    return Measured(figure=figure, given=given, without=without, difference=difference)
