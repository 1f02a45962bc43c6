"""What memory changed: groups of sessions, single memories, who is compared.

A comparison is a line of a table: numbers, a drawn interval, a verdict.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from accounts.errors import CairnError, wrong_field
from accounts.messages import message
from frontend.labels import PHASES, TYPES, Name
from frontend.views import base
from frontend.views.base import Frame
from memory.experiments import queries as experiments
from memory.experiments import uplift
from memory.experiments.actions.consequences import Verdict, decide_weights
from memory.experiments.figures import Figure
from memory.experiments.points import Group
from teams.actions import change_experiments
from teams.permissions import Act
from teams.queries import PERCENTS

DAYS: Final = (30, experiments.USUAL_DAYS, 365)
NONE_SUCH: Final = -1.0  # what is no number is refused as one that is too small
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


@base.reader
def page(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show what was compared, and what came of it."""
    return _page(request, frame)


@require_POST
@base.member
def change(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Save whether sessions are compared, and in which shares.

    A refusal shows what was typed, to be mended; a field of numbers shows numbers alone.
    """
    sent = request.POST
    percents = {name: _percentage(sent.get(name, "")) for name in PERCENTS}
    is_enabled = sent.get("enabled") == "1"
    try:
        change_experiments(
            caller=frame.caller, ref=frame.slug, changed={"enabled": is_enabled, **percents}
        )
    except CairnError as error:
        typed = {name: sent[name] if value >= 0 else "" for name, value in percents.items()}
        return _page(request, frame, error=error, typed={**typed, "enabled": is_enabled})
    return base.moved(request, to=base.address("experiments", frame))


@require_POST
@base.member
def weights(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Approve or decline the phase weights that sessions taught, or take the last decision back."""
    verdict = request.POST.get("verdict", "")
    try:
        if verdict not in set(Verdict):
            raise wrong_field(
                pointer="/verdict",
                detail=message("Use one of: {names}.", names=tuple(Verdict)),
                hint="Approve or decline what is shown, or take it back.",
                code="choice",
            )
        decide_weights(
            caller=frame.caller,
            ref=frame.slug,
            verdict=Verdict(verdict),
            shown=request.POST.get("decided_at" if verdict == Verdict.UNDO else "proposal", ""),
            now=frame.now,
        )
    except CairnError as error:
        return _page(request, frame, status=error.status, weights_error=error)
    return base.moved(request, to=f"{base.address('experiments', frame)}#weights-title")


def _page(
    request: HttpRequest, frame: Frame, *, status: int | None = None, **extra: Any
) -> HttpResponse:
    asked = request.GET.get("days", "")
    days = int(asked) if asked in {str(one) for one in DAYS} else experiments.USUAL_DAYS
    caller, now = frame.caller, frame.now
    found = experiments.report(caller=caller, project=frame.slug, days=days, now=now)
    effects = experiments.memory_effects(caller=caller, project=frame.slug, days=days, now=now)
    learned = experiments.weights_of(caller=caller, project=frame.slug, now=now)
    share = found.graph.share
    context = {
        "report": found,
        "state": _state(found),
        "groups": tuple((group.value, found.sessions[group]) for group in Group),
        "compared": tuple(
            (group.value, _lines(measures)) for group, measures in found.compared.items()
        ),
        "tested": tuple((one, _lines(one.measures)) for one in effects),
        "learned": learned,
        "learned_rows": _weight_rows(learned),
        "own_weights": _approved_weights(learned),
        "percents": () if share is None else (100 * share.value, 100 * share.low, 100 * share.high),
        "least": uplift.LEAST_SESSIONS,
        "days": days,
        "days_offered": DAYS,
        "may_change": frame.may(Act.MANAGE_PROJECTS),
        **extra,
    }
    return base.page(request, "pages/experiments.html", context, status=status)


def _state(found: experiments.ExperimentReport) -> str:
    """Return where the comparison stands: off, too few sessions yet, or running."""
    if not found.settings.enabled and not any(found.sessions.values()):
        return "off"
    control, full = found.sessions[Group.CONTROL], found.sessions[Group.FULL]
    return "running" if min(control, full) >= uplift.LEAST_SESSIONS else "too_few"


def _percentage(text: str) -> float:
    """Read a percentage; what is none is refused by the action, which says what may stand there."""
    bare = text.strip().replace(",", ".", 1)
    whole, _, part = bare.partition(".")
    is_number = whole.isdecimal() and (not part or part.isdecimal()) and len(bare) < 8
    return float(bare) if is_number else NONE_SUCH


def _lines(measures: Iterable[uplift.ComparedFigure]) -> list[dict[str, Any]]:
    """Return a line for each figure: both sides with their sessions, the difference, a verdict.

    What is empty is not known or not set.
    """
    lines = []
    for one in measures:
        verdict, color = VERDICTS[one.verdict]
        found, goal = one.difference, uplift.GOALS.get(one.figure)
        interval = "" if found is None else _interval_words(one.figure, found)
        lines.append(
            {
                "name": FIGURES[one.figure],
                "given": _mean(one.figure, one.given),
                "given_count": one.given.count,
                "without": _mean(one.figure, one.without),
                "without_count": one.without.count,
                "difference": _number(one.figure, found.value, signed=True) if found else "",
                "interval": interval,
                "drawing": _draw_interval(found, color, interval) if found else "",
                "relative": "" if one.relative is None else _percent(one.relative),
                "goal": "" if goal is None else _percent(goal),
                "verdict": verdict,
                "color": color,
            }
        )
    return lines


def _weight_rows(found: experiments.PhaseWeights) -> list[dict[str, Any]]:
    """Return a row for each type of which enough is known, those that are proposed first.

    It says how much of the type was used in the phase, how much of the others, and the weights.
    """
    rows = []
    for one in found.found:
        if one.difference is None:
            continue
        difference = one.difference
        color = "green" if difference.low > 0 else "red" if difference.high < 0 else ""
        interval = _interval_words(Figure.QA, difference)
        proposed = (one.proposed or 0.0) if found.proposal else 0.0
        used, others_used = (
            number_format(round(100 * side.mean), 0, use_l10n=True)
            for side in (one.own, one.others)
        )
        rows.append(
            {
                "phase": PHASES[one.phase.value],
                "type": TYPES[one.type.value],
                "used": f"{used} %",
                "given": one.own.count,
                "others_used": f"{others_used} %",
                "others_given": one.others.count,
                "interval": interval,
                "drawing": _draw_interval(difference, color, interval),
                "now": number_format(one.now, 2, use_l10n=True),
                "proposed": number_format(proposed, 2, use_l10n=True) if proposed else "",
            }
        )
    return sorted(rows, key=lambda row: not row["proposed"])


def _approved_weights(found: experiments.PhaseWeights) -> list[tuple[Name, Name, str]]:
    """Return the weights that a person approved: phase, type, weight."""
    return [
        (PHASES[phase.value], TYPES[type.value], number_format(weight, 2, use_l10n=True))
        for phase, weights in found.own.items()
        for type, weight in weights.items()
    ]


def _interval_words(figure: Figure, found: uplift.Estimate) -> str:
    """Write the ends of an interval with the unit of a figure."""
    low, high = (_number(figure, value, signed=True) for value in (found.low, found.high))
    return gettext("%(low)s to %(high)s") % {"low": low, "high": high}


def _draw_interval(found: uplift.Estimate, color: str, label: str) -> SafeString:
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


def _mean(figure: Figure, side: uplift.Side) -> str:
    return _number(figure, side.mean, signed=False) if side.count else NOTHING


def _number(figure: Figure, value: float, *, signed: bool) -> str:
    """Write a value with its unit: shares as percent, large numbers whole."""
    is_share = figure in uplift.SHARES
    shown = 100 * value if is_share else value
    places = 0 if is_share or abs(shown) >= 100 else 1
    text = number_format(abs(round(shown, places)), places, use_l10n=True, force_grouping=True)
    sign = MINUS if shown < 0 else "+"
    return f"{sign if signed else ''}{text}{' %' if is_share else ''}"


def _percent(value: float) -> str:
    return f"{MINUS if value < 0 else '+'}{abs(round(100 * value))} %"
