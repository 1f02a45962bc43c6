"""Comparisons of sessions as lines of a table: numbers, a drawn interval, a verdict."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_lazy

from frontend.labels.memory_labels import Name
from memory.experiments.figures import Figure
from memory.experiments.intervals import Difference, Side
from memory.experiments.uplift import GOALS, SHARES, ComparedFigure

WIDTH: Final = 160.0  # of a drawn interval, in its own units
EDGE: Final = 6.0  # left free on both sides
MINUS: Final = "\N{MINUS SIGN}"
NOTHING: Final = "\N{EN DASH}"
FIGURES: Final[Mapping[Figure, Name]] = {
    Figure.TOOLS: gettext_lazy("Tool calls in a session"),
    Figure.REREADS: gettext_lazy("Files read again"),
    Figure.QA: gettext_lazy("QA passed at first"),
    Figure.CORRECTIONS: gettext_lazy("Corrections by people"),
    Figure.DEAD_ENDS: gettext_lazy("Sessions in a dead end again"),
    Figure.TOKENS: gettext_lazy("Tokens in a session"),
}
VERDICTS: Final[Mapping[str, tuple[Name, str]]] = {
    "better": (gettext_lazy("better"), "green"),
    "worse": (gettext_lazy("worse"), "red"),
    "open": (gettext_lazy("no difference shown"), ""),
    "too_few": (gettext_lazy("too few sessions"), ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """An interval along a line: its ends, its middle, and where nothing changes."""

    low: float
    high: float
    value: float
    zero: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One figure: both sides with their sessions, the difference, and what it shows."""

    name: Name
    given: str
    given_count: int
    without: str
    without_count: int
    difference: str
    interval: str
    relative: str
    goal: str
    verdict: Name
    color: str
    drawn: Drawn | None


def lines(*, measures: Iterable[ComparedFigure]) -> tuple[Line, ...]:
    """Return a line for each figure."""
    return tuple(_line(one) for one in measures)


def drawn(*, found: Difference) -> Drawn:
    """Place an interval on a line whose middle is zero and whose ends are its farthest end."""
    farthest = max(abs(found.low), abs(found.high), 1e-9)
    half = (WIDTH - 2 * EDGE) / 2

    def place(value: float) -> float:
        return round(WIDTH / 2 + half * value / farthest, 1)

    return Drawn(
        low=place(found.low), high=place(found.high), value=place(found.value), zero=WIDTH / 2
    )


def _line(one: ComparedFigure) -> Line:
    verdict, color = VERDICTS[one.verdict]
    found = one.difference
    goal = GOALS.get(one.figure)
    return Line(
        name=FIGURES[one.figure],
        given=_mean(one.figure, one.given),
        given_count=one.given.count,
        without=_mean(one.figure, one.without),
        without_count=one.without.count,
        difference="" if found is None else _number(one.figure, found.value, signed=True),
        interval="" if found is None else interval(figure=one.figure, found=found),
        relative="" if one.relative is None else _percent(one.relative),
        goal="" if goal is None else _percent(goal),
        verdict=verdict,
        color=color,
        drawn=None if found is None else drawn(found=found),
    )


def interval(*, figure: Figure, found: Difference) -> str:
    """Write the ends of an interval with the unit of a figure."""
    low, high = (_number(figure, value, signed=True) for value in (found.low, found.high))
    return gettext("%(low)s to %(high)s") % {"low": low, "high": high}


def _mean(figure: Figure, side: Side) -> str:
    return _number(figure, side.mean, signed=False) if side.count else NOTHING


def _number(figure: Figure, value: float, *, signed: bool) -> str:
    """Write a value with its unit: shares as percent, large numbers whole."""
    is_share = figure in SHARES
    shown = 100 * value if is_share else value
    places = 0 if is_share or abs(shown) >= 100 else 1
    text = number_format(abs(round(shown, places)), places, use_l10n=True, force_grouping=True)
    sign = MINUS if shown < 0 else "+"
    return f"{sign if signed else ''}{text}{' %' if is_share else ''}"


def _percent(value: float) -> str:
    return f"{MINUS if value < 0 else '+'}{abs(round(100 * value))} %"
