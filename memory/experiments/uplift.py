"""What memory changes, figure by figure: sessions with it against sessions without.

Sides are compared from their sums, so that nothing has to be loaded session by session. A share has
Wilson's interval (1927), two shares are compared by Newcombe's hybrid score interval, two means by
Welch's unequal variances; both hold where the sides are of very different sizes, as a control group
of 5 % is. Under a least number of sessions on either side nothing is claimed. Harm is claimed of a
memory only where an interval lies wholly on the bad side although all the intervals of that night
hold together, because among many comparisons some look bad by chance.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf, sqrt
from statistics import NormalDist
from typing import Final
from uuid import UUID

from memory.experiments.figures import Figure

LEVEL: Final = 0.95  # of a two-sided interval
LEAST_SESSIONS: Final = 20  # on either side, before anything is claimed; default, not measured
SHARES: Final = frozenset({Figure.QA, Figure.DEAD_ENDS})  # of sessions; the others are means
MORE_IS_BETTER: Final = frozenset({Figure.QA})
GOALS: Final[Mapping[Figure, float]] = {  # relative change
    Figure.TOOLS: -0.20,
    Figure.REREADS: -0.50,
    Figure.QA: 0.15,
}
HARMS: Final = (Figure.QA, Figure.CORRECTIONS, Figure.REREADS, Figure.TOKENS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The sums of one side: how many sessions have the figure, Σx and Σx² of it; whose they are."""

    count: int
    total: float
    squares: float
    people: int = 0

    def __add__(self, other: "Side") -> "Side":
        """Add up the sums of other sessions; people that both have are counted twice."""
        return Side(
            count=self.count + other.count,
            total=self.total + other.total,
            squares=self.squares + other.squares,
            people=self.people + other.people,
        )

    @property
    def mean(self) -> float:
        """The mean; 0 without sessions."""
        return self.total / self.count if self.count else 0.0

    @property
    def variance(self) -> float:
        """Compute s² = (Σx² - (Σx)²/n) / (n - 1), never negative."""
        if self.count < 2:
            return 0.0
        return max(0.0, (self.squares - self.total**2 / self.count) / (self.count - 1))


NOTHING: Final = Side(count=0, total=0.0, squares=0.0)
Sums = Mapping[str, Side]  # by figure; that of no name counts the sessions
Effect = tuple[Sums, Sums]  # of sessions that were given a memory, and of those that went without


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A share of trials, or first - second of two sides, with the ends of its interval."""

    value: float
    low: float
    high: float

    @property
    def is_sure(self) -> bool:
        """Say whether the interval lies on one side of zero."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedFigure:
    """One figure on both sides; `difference` is given - without, None where nothing is claimed."""

    figure: Figure
    given: Side
    without: Side
    difference: Estimate | None

    @property
    def relative(self) -> float | None:
        """The difference as a share of what it was without; None where that was nothing."""
        if self.difference is None or not self.without.mean:
            return None
        return self.difference.value / self.without.mean

    @property
    def verdict(self) -> str:
        """Say what the interval shows: better, worse, open, or that there is none yet."""
        if self.difference is None:
            return "too_few"
        if not self.difference.is_sure:
            return "open"
        is_more = self.difference.low > 0
        return "better" if is_more == (self.figure in MORE_IS_BETTER) else "worse"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTokens:
    """Tokens that the sessions of a side took less than they would have without."""

    tokens: float
    low: float
    high: float
    sessions: int


def compare_figures(
    *, given: Sums, without: Sums, figures: Iterable[Figure] = tuple(Figure), level: float = LEVEL
) -> tuple[ComparedFigure, ...]:
    """Compare both sides, figure by figure."""
    found = []
    for figure in figures:
        first, second = given.get(figure, NOTHING), without.get(figure, NOTHING)
        difference = None
        if is_enough(first=first, second=second):
            compare = of_shares if figure in SHARES else of_means
            difference = compare(first=first, second=second, level=level)
        found.append(
            ComparedFigure(figure=figure, given=first, without=second, difference=difference)
        )
    return tuple(found)


def harmful_memories(*, effects: Mapping[UUID, Effect]) -> dict[UUID, tuple[Figure, ...]]:
    """Return the memories that surely made figures worse, with those figures.

    The intervals of all figures that have enough sessions hold together.
    """

    def compared(effect: Effect, level: float = LEVEL) -> tuple[ComparedFigure, ...]:
        given, without = effect
        return compare_figures(given=given, without=without, figures=HARMS, level=level)

    claimable = sum(
        one.difference is not None for effect in effects.values() for one in compared(effect)
    )
    level = shared_level(comparisons=claimable)
    harms = {
        memory_id: tuple(one.figure for one in compared(effect, level) if one.verdict == "worse")
        for memory_id, effect in effects.items()
    }
    return {memory_id: worse for memory_id, worse in harms.items() if worse}


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


def is_enough(*, first: Side, second: Side) -> bool:
    """Say whether both sides have enough sessions for a claim."""
    return min(first.count, second.count) >= LEAST_SESSIONS


def share(*, successes: int, trials: int, level: float = LEVEL) -> Estimate:
    """Compute p = s / n and (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n).

    Without trials: 0 within 0..1. Raises ValueError for more successes than trials.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} of {trials} is no share")
    if trials == 0:
        return Estimate(value=0.0, low=0.0, high=1.0)
    z, p, n = z_quantile(level=level), successes / trials, float(trials)
    middle = p + z * z / (2 * n)
    width = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    whole = 1 + z * z / n
    return Estimate(
        value=p,
        low=max(0.0, min(p, (middle - width) / whole)),
        high=min(1.0, max(p, (middle + width) / whole)),
    )


def of_means(*, first: Side, second: Side, level: float = LEVEL) -> Estimate:
    """Compute d ± t √(s₁²/n₁ + s₂²/n₂), t of f degrees of freedom (Welch 1947).

    f = (a + b)² / (a²/(n₁ - 1) + b²/(n₂ - 1)), a = s₁²/n₁, b = s₂²/n₂ (Satterthwaite 1946).
    Raises ValueError for less than two sessions on a side.
    """
    if min(first.count, second.count) < 2:
        raise ValueError("a mean needs two sessions on either side")
    value = first.mean - second.mean
    a, b = first.variance / first.count, second.variance / second.count
    if a + b == 0:
        return Estimate(value=value, low=value, high=value)
    freedom = (a + b) ** 2 / (a**2 / (first.count - 1) + b**2 / (second.count - 1))
    width = t_quantile(freedom=freedom, level=level) * sqrt(a + b)
    return Estimate(value=value, low=value - width, high=value + width)


def of_shares(*, first: Side, second: Side, level: float = LEVEL) -> Estimate:
    """Compute d - √((p₁-l₁)² + (u₂-p₂)²) .. d + √((u₁-p₁)² + (p₂-l₂)²).

    l, u are the ends of Wilson's interval of each share: method 10 of Newcombe (1998), Statistics
    in Medicine 17, 873-890.
    """
    one = share(successes=round(first.total), trials=first.count, level=level)
    two = share(successes=round(second.total), trials=second.count, level=level)
    value = one.value - two.value
    return Estimate(
        value=value,
        low=value - sqrt((one.value - one.low) ** 2 + (two.high - two.value) ** 2),
        high=value + sqrt((one.high - one.value) ** 2 + (two.value - two.low) ** 2),
    )


def z_quantile(*, level: float) -> float:
    """Return z of a two-sided interval of the normal distribution."""
    return NormalDist().inv_cdf((1 + level) / 2)


def t_quantile(*, freedom: float, level: float) -> float:
    """Return t of a two-sided interval of Student's distribution, z + g₁/f + g₂/f² + g₃/f³ + g₄/f⁴.

    Abramowitz and Stegun (1964) 26.7.5; to the third decimal from 5 degrees of freedom on. Fewer
    than one has no interval: infinite.
    """
    if freedom < 1:
        return inf
    z = z_quantile(level=level)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return z + sum(term / freedom**power for power, term in enumerate(terms, start=1))


def shared_level(*, comparisons: int) -> float:
    """Return the level of each of m intervals that hold together: 1 - (1 - L)/m (Dunn 1961)."""
    return 1 - (1 - LEVEL) / max(1, comparisons)
