"""What memory changed: groups of sessions, single memories, who is compared."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_POST

from accounts.errors import CairnError, wrong_field
from accounts.messages import message
from frontend.presenters import experiment_table, weight_table
from frontend.presenters.experiment_table import Line
from frontend.views import base
from frontend.views.base import Frame
from memory.experiments.actions.decide_weights import Verdict, decide_weights
from memory.experiments.intervals import LEAST_SESSIONS, Share
from memory.experiments.points import Group
from memory.experiments.queries import experiments
from memory.experiments.queries.experiments import USUAL_DAYS, ExperimentReport, MemoryEffect
from memory.experiments.queries.phase_weights import weights_of
from memory.records.queries.views import MemoryView
from teams.actions.project_settings import change_experiments
from teams.permissions import Act, allows
from teams.queries import PERCENTS

PAGE: Final = "pages/experiments.html"
DAYS: Final = (30, USUAL_DAYS, 365)
T = TypeVar("T")
NONE_SUCH: Final = -1.0  # what is no number is refused as one that is too small


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """A memory that is withheld from some, and what it is worth."""

    memory: MemoryView
    given: int
    withheld: int
    lines: tuple[Line, ...]


@base.reader
def page(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show what was compared, and what came of it."""
    return base.page(request, PAGE, _context(frame, request.GET.get("days", "")))


@require_POST
@base.member
def change(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Save whether sessions are compared, and in which shares."""
    percents = {name: _number(request.POST.get(name, "")) for name in PERCENTS}
    try:
        change_experiments(
            caller=frame.caller,
            ref=_slug(frame),
            changed={"enabled": request.POST.get("enabled") == "1", **percents},
        )
    except CairnError as error:
        context = _context(frame, "") | {"error": error, "said": _said(request.POST)}
        return base.page(request, PAGE, context, status=error.status)
    return base.moved(request, to=base.address("experiments", frame))


@require_POST
@base.member
def weights(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Approve or decline the phase weights that sessions taught, or take the last decision back."""
    said = request.POST.get("verdict", "")
    try:
        verdict = _verdict(said)
        decide_weights(
            caller=frame.caller,
            ref=_slug(frame),
            verdict=verdict,
            shown=request.POST.get("decided_at" if verdict is Verdict.UNDO else "proposal", ""),
            now=frame.now,
        )
    except CairnError as error:
        context = _context(frame, "") | {"weights_error": error}
        return base.page(request, PAGE, context, status=error.status)
    return base.moved(request, to=f"{base.address('experiments', frame)}#weights-title")


def _verdict(said: str) -> Verdict:
    if said in set(Verdict):
        return Verdict(said)
    raise wrong_field(
        pointer="/verdict",
        detail=message("Use one of: {names}.", names=tuple(Verdict)),
        hint="Approve or decline what is shown, or take it back.",
        code="choice",
    )


def _context(frame: Frame, days: str) -> dict[str, Any]:
    shown = int(days) if days in {str(one) for one in DAYS} else USUAL_DAYS
    asked = partial(_asked, frame, shown)
    found = asked(experiments.report)
    learned = weights_of(caller=frame.caller, project=_slug(frame), now=frame.now)
    return {
        "section": "experiments",
        "report": found,
        "state": _state(found),
        "groups": tuple((group.value, found.sessions[group]) for group in Group),
        "compared": tuple(
            (one.group.value, experiment_table.lines(measures=one.measures))
            for one in found.compared
        ),
        "tested": tuple(_tested(one) for one in asked(experiments.memory_effects)),
        "learned": learned,
        "learned_rows": weight_table.rows(found=learned),
        "own_weights": weight_table.own(found=learned),
        "percents": _percents(found.graph.share),
        "least": LEAST_SESSIONS,
        "days": shown,
        "days_offered": DAYS,
        "may_change": allows(role=frame.caller.role, act=Act.MANAGE_PROJECTS),
        "said": QueryDict(),
        "now": frame.now,
    }


def _asked(frame: Frame, days: int, ask: Callable[..., T]) -> T:
    return ask(caller=frame.caller, project=_slug(frame), days=days, now=frame.now)


def _state(found: ExperimentReport) -> str:
    """Return where the comparison stands: off, too few sessions yet, or running."""
    if not found.settings.enabled and not any(found.sessions.values()):
        return "off"
    control, full = found.sessions[Group.CONTROL], found.sessions[Group.FULL]
    return "running" if min(control, full) >= LEAST_SESSIONS else "too_few"


def _percents(share: Share | None) -> tuple[float, ...]:
    """Return a share and the ends of its interval in percent."""
    return () if share is None else (100 * share.value, 100 * share.low, 100 * share.high)


def _tested(proof: MemoryEffect) -> Tested:
    return Tested(
        memory=proof.memory,
        given=proof.given,
        withheld=proof.withheld,
        lines=experiment_table.lines(measures=proof.measures),
    )


def _number(text: str) -> float:
    """Read a percentage; what is none is refused by the action, which says what may stand there."""
    bare = text.strip().replace(",", ".", 1)
    whole, _, part = bare.partition(".")
    is_number = whole.isdecimal() and (not part or part.isdecimal()) and len(bare) < 8
    return float(bare) if is_number else NONE_SUCH


def _said(form: QueryDict) -> dict[str, str]:
    """Return what was typed, to be mended: a field of numbers shows numbers alone."""
    typed = {name: form.get(name, "") for name in PERCENTS}
    numbers = {name: text if _number(text) >= 0 else "" for name, text in typed.items()}
    return numbers | {"enabled": "1" if form.get("enabled") == "1" else ""}


def _slug(frame: Frame) -> str:
    return frame.project.slug if frame.project else ""
