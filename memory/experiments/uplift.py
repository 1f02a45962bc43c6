"""What memory changes, figure by figure: sessions with it against sessions without.

Each figure that enough sessions of both sides have has a difference with its interval; of the
others nothing is claimed. Harm is claimed of a memory only where an interval lies wholly on the bad
side although all the intervals of that night hold together, because among many comparisons some
look bad by chance.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from memory.experiments import intervals
from memory.experiments.figures import Figure
from memory.experiments.intervals import Difference, Side

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
class ComparedFigure:
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
class SavedTokens:
    """Tokens that the sessions of a side took less than they would have without."""

    tokens: float
    low: float
    high: float
    sessions: int


def compare_figures(
    *,
    given: Sums,
    without: Sums,
    figures: Iterable[Figure] = tuple(Figure),
    level: float = intervals.LEVEL,
) -> tuple[ComparedFigure, ...]:
    """Compare both sides, figure by figure."""
    found = []
    for figure in figures:
        first, second = given.get(figure, NOTHING), without.get(figure, NOTHING)
        compare = intervals.of_shares if figure in SHARES else intervals.of_means
        is_enough = intervals.is_enough(first=first, second=second)
        difference = compare(first=first, second=second, level=level) if is_enough else None
        found.append(
            ComparedFigure(figure=figure, given=first, without=second, difference=difference)
        )
    return tuple(found)


def harmed_figures(*, given: Sums, without: Sums, comparisons: int) -> tuple[ComparedFigure, ...]:
    """Return the figures that a memory surely made worse, among so many comparisons of a night."""
    level = intervals.shared_level(comparisons=comparisons)
    found = compare_figures(given=given, without=without, figures=HARMS, level=level)
    return tuple(one for one in found if one.is_bad)


def count_claimable(*, given: Sums, without: Sums) -> int:
    """Return how many figures of a memory could claim harm: those with enough sessions."""
    found = compare_figures(given=given, without=without, figures=HARMS)
    return sum(one.difference is not None for one in found)


def tokens_saved(*, given: Sums, without: Sums) -> SavedTokens | None:
    """Compute (mean without - mean given) * sessions that were given; None where unclaimed."""
    (found,) = compare_figures(given=given, without=without, figures=(Figure.TOKENS,))
    if found.difference is None:
        return None
    sessions = found.given.count
    return SavedTokens(
        tokens=-found.difference.value * sessions,
        low=-found.difference.high * sessions,
        high=-found.difference.low * sessions,
        sessions=sessions,
    )
