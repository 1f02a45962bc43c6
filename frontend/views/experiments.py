"""What memory changed: groups of sessions, single memories, who is compared."""

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from accounts.errors import CairnError, wrong_field
from accounts.messages import message
from frontend.presenters import experiment_table
from frontend.views import base
from frontend.views.base import Frame
from memory.experiments import queries as experiments
from memory.experiments.actions.consequences import Verdict, decide_weights
from memory.experiments.points import Group
from memory.experiments.queries import USUAL_DAYS, ExperimentReport, weights_of
from memory.experiments.uplift import LEAST_SESSIONS
from teams.actions.project_settings import change_experiments
from teams.permissions import Act
from teams.queries import PERCENTS

DAYS: Final = (30, USUAL_DAYS, 365)
NONE_SUCH: Final = -1.0  # what is no number is refused as one that is too small


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
    percents = {name: _number(sent.get(name, "")) for name in PERCENTS}
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
    days = int(asked) if asked in {str(one) for one in DAYS} else USUAL_DAYS
    caller, now = frame.caller, frame.now
    found = experiments.report(caller=caller, project=frame.slug, days=days, now=now)
    effects = experiments.memory_effects(caller=caller, project=frame.slug, days=days, now=now)
    learned = weights_of(caller=caller, project=frame.slug, now=now)
    share = found.graph.share
    context = {
        "section": "experiments",
        "report": found,
        "state": _state(found),
        "groups": tuple((group.value, found.sessions[group]) for group in Group),
        "compared": tuple(
            (group.value, experiment_table.lines(measures=measures))
            for group, measures in found.compared.items()
        ),
        "tested": tuple((one, experiment_table.lines(measures=one.measures)) for one in effects),
        "learned": learned,
        "learned_rows": experiment_table.weight_rows(found=learned),
        "own_weights": experiment_table.approved_weights(found=learned),
        "percents": () if share is None else (100 * share.value, 100 * share.low, 100 * share.high),
        "least": LEAST_SESSIONS,
        "days": days,
        "days_offered": DAYS,
        "may_change": frame.may(Act.MANAGE_PROJECTS),
        "now": now,
        **extra,
    }
    return base.page(request, "pages/experiments.html", context, status=status)


def _state(found: ExperimentReport) -> str:
    """Return where the comparison stands: off, too few sessions yet, or running."""
    if not found.settings.enabled and not any(found.sessions.values()):
        return "off"
    control, full = found.sessions[Group.CONTROL], found.sessions[Group.FULL]
    return "running" if min(control, full) >= LEAST_SESSIONS else "too_few"


def _number(text: str) -> float:
    """Read a percentage; what is none is refused by the action, which says what may stand there."""
    bare = text.strip().replace(",", ".", 1)
    whole, _, part = bare.partition(".")
    is_number = whole.isdecimal() and (not part or part.isdecimal()) and len(bare) < 8
    return float(bare) if is_number else NONE_SUCH
