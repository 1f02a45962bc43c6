"""Comparisons of sessions as lines of a table: numbers, a drawn interval, a verdict."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from frontend.labels.memory_labels import TYPES, Name
from frontend.labels.session_labels import PHASES
from memory.experiments.figures import Figure
from memory.experiments.queries import PhaseWeights
from memory.experiments.uplift import GOALS, SHARES, ComparedFigure, Difference, Side

WIDTH: Final = 160.0  # of a drawn interval, in its own units
EDGE: Final = 6.0  # left free on both sides
MINUS: Final = "\N{MINUS SIGN}"
NOTHING: Final = "\N{EN DASH}"
FIGURES: Final[Mapping[Figure, Name]] = {
    Figure.TOOLS: _("Tool calls in a session"),
    Figure.REREADS: _("Files read again"),
    Figure.QA: _("QA passed at first"),
    Figure.CORRECTIONS: _("Corrections by people"),
    Figure.DEAD_ENDS: _("Sessions in a dead end again"),
    Figure.TOKENS: _("Tokens in a session"),
}
VERDICTS: Final[Mapping[str, tuple[Name, str]]] = {
    "better": (_("better"), "green"),
    "worse": (_("worse"), "red"),
    "open": (_("no difference shown"), ""),
    "too_few": (_("too few sessions"), ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureLine:
    """One figure: both sides with their sessions, the difference, and what it shows.

    What is empty is not known or not set.
    """

    name: Name
    given: str
    given_count: int
    without: str
    without_count: int
    difference: str
    interval: str
    drawing: SafeString | str
    relative: str
    goal: str
    verdict: Name
    color: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseWeightRow:
    """A type in a phase: how much of it was used, of the others of the phase, and its weight."""

    phase: Name
    type: Name
    used: str
    given: int
    others_used: str
    others_given: int
    interval: str
    drawing: SafeString
    now: str
    proposed: str


def lines(*, measures: Iterable[ComparedFigure]) -> tuple[FigureLine, ...]:
    """Return a line for each figure."""
    return tuple(_line(one) for one in measures)


def weight_rows(*, found: PhaseWeights) -> tuple[PhaseWeightRow, ...]:
    """Return a row for each type of which enough is known, those that are proposed first."""
    rows = []
    for one in found.found:
        if one.difference is None:
            continue
        difference = one.difference
        color = "green" if difference.low > 0 else "red" if difference.high < 0 else ""
        interval = interval_words(figure=Figure.QA, found=difference)
        row = PhaseWeightRow(
            phase=PHASES[one.phase.value],
            type=TYPES[one.type.value],
            used=_share(one.own),
            given=one.own.count,
            others_used=_share(one.others),
            others_given=one.others.count,
            interval=interval,
            drawing=draw_interval(found=difference, color=color, label=interval),
            now=number_format(one.now, 2, use_l10n=True),
            proposed=number_format(one.proposed, 2, use_l10n=True)
            if one.proposed and found.proposal
            else "",
        )
        rows.append(row)
    return tuple(sorted(rows, key=lambda row: not row.proposed))


def approved_weights(*, found: PhaseWeights) -> tuple[tuple[Name, Name, str], ...]:
    """Return the weights that a person approved: phase, type, weight."""
    return tuple(
        (PHASES[phase.value], TYPES[type.value], number_format(weight, 2, use_l10n=True))
        for phase, weights in found.own.items()
        for type, weight in weights.items()
    )


def interval_words(*, figure: Figure, found: Difference) -> str:
    """Write the ends of an interval with the unit of a figure."""
    low, high = (_number(figure, value, signed=True) for value in (found.low, found.high))
    return gettext("%(low)s to %(high)s") % {"low": low, "high": high}


def draw_interval(*, found: Difference, color: str, label: str) -> SafeString:
    """Draw an interval, its middle, and the line at which nothing changes, in the middle.

    The farther end of the interval stands at an end of the drawing.
    """
    farthest = max(abs(found.low), abs(found.high), 1e-9)
    half = (WIDTH - 2 * EDGE) / 2
    low, high, value = (
        round(WIDTH / 2 + half * one / farthest, 1) for one in (found.low, found.high, found.value)
    )
    return format_html(
        '<svg class="interval {color}" width="160" height="16" viewBox="0 0 {w} 16" role="img"'
        ' aria-label="{label}"><path class="zero" d="M{zero} 1 V15"/>'
        '<path class="span" d="M{low} 8 H{high} M{low} 4 V12 M{high} 4 V12"/>'
        '<circle cx="{value}" cy="8" r="3.5"/></svg>',
        color=color,
        w=round(WIDTH),
        label=label,
        zero=WIDTH / 2,
        low=low,
        high=high,
        value=value,
    )


def _line(one: ComparedFigure) -> FigureLine:
    verdict, color = VERDICTS[one.verdict]
    found, goal = one.difference, GOALS.get(one.figure)
    given, without = (
        _number(one.figure, side.mean, signed=False) if side.count else NOTHING
        for side in (one.given, one.without)
    )
    interval = "" if found is None else interval_words(figure=one.figure, found=found)
    return FigureLine(
        name=FIGURES[one.figure],
        given=given,
        given_count=one.given.count,
        without=without,
        without_count=one.without.count,
        difference="" if found is None else _number(one.figure, found.value, signed=True),
        interval=interval,
        drawing="" if found is None else draw_interval(found=found, color=color, label=interval),
        relative="" if one.relative is None else _percent(one.relative),
        goal="" if goal is None else _percent(goal),
        verdict=verdict,
        color=color,
    )


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


def _share(came: Side) -> str:
    return f"{number_format(round(100 * came.mean), 0, use_l10n=True)} %"
