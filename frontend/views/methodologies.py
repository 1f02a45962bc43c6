"""Methodologies, ours and the organization's own: what they map, pass on and add."""

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from accounts import free_texts
from accounts.errors import CairnError, InvalidInput
from frontend.labels import memory_labels
from frontend.labels.session_labels import ENDS, PHASES
from frontend.presenters import methodology_form
from frontend.presenters.methodology_form import Form
from frontend.views import base
from frontend.views.base import Frame
from memory.customization import custom_type_rules
from memory.customization.actions import define_methodology, remove_methodology
from memory.customization.methodology import Transition
from memory.customization.queries import MethodologyView, find_methodology, list_methodologies
from memory.records.queries import memories
from memory.sessions.queries import sessions
from teams.permissions import Act, allows

LIST: Final = "pages/settings_methodologies.html"
ONE: Final = "pages/settings_methodology.html"
MORE: Final = 3  # times the room of a form, for who asks for more lines


@base.member
def methodologies(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the methodologies there are, and define one."""
    if request.method != "POST":
        return base.page(request, LIST, _of_list(frame, _began(request, frame)))
    sent = methodology_form.of_sent(sent=request.POST)
    if request.POST.get("verb") == "more":
        return base.page(request, LIST, _of_list(frame, sent, room=MORE))
    try:
        _define(frame, sent)
    except CairnError as error:
        shown = _shown(request)
        context = _of_list(frame, shown, error=error) | {"was_redacted": shown != sent}
        return base.page(request, LIST, context, status=error.status)
    return base.moved(request, to=_address(frame))


@base.member
def methodology(request: HttpRequest, frame: Frame, name: str) -> HttpResponse:
    """Show a methodology, save it, or remove it."""
    view = find_methodology(caller=frame.caller, name=name)
    if request.method != "POST":
        return base.page(request, ONE, _of_one(frame, view, methodology_form.of_view(view=view)))
    sent, verb = methodology_form.of_sent(sent=request.POST), request.POST.get("verb")
    if verb == "more":
        return base.page(request, ONE, _of_one(frame, view, sent, room=MORE))
    try:
        if verb == "remove":
            remove_methodology(caller=frame.caller, name=view.name)
        else:
            _define(frame, sent, name=view.name)
    except CairnError as error:
        shown = _shown(request)
        context = _of_one(frame, view, shown, error=error) | {"was_redacted": shown != sent}
        return base.page(request, ONE, context, status=error.status)
    return base.moved(request, to=_address(frame))


def _define(frame: Frame, form: Form, *, name: str = "") -> None:
    define_methodology(
        caller=frame.caller,
        name=name or form.name,
        phases=methodology_form.phases_of(form=form),
        course=methodology_form.course_of(form=form),
        now=frame.now,
    )


def _began(request: HttpRequest, frame: Frame) -> Form:
    """Return an empty form, or that of a methodology to begin from."""
    name = request.GET.get("from", "")
    known = list_methodologies(caller=frame.caller) if name else ()
    return next((methodology_form.of_view(view=one) for one in known if one.name == name), Form())


def _shown(request: HttpRequest) -> Form:
    """Return what was sent as it may be shown again: without secrets."""
    return methodology_form.of_sent(
        sent=request.POST, shown=lambda text: free_texts.masked(text=text)
    )


def _of_list(
    frame: Frame, form: Form, *, error: CairnError | None = None, room: int = 1
) -> dict[str, Any]:
    known = list_methodologies(caller=frame.caller)
    used = sessions.by_methodology(caller=frame.caller, names=tuple(one.name for one in known))
    return {
        "methodologies": [(one, used.get(one.name, 0)) for one in known],
        "has_own": any(one.is_own for one in known),
        **_of_form(frame, form, error=error, room=room),
    }


def _of_one(
    frame: Frame,
    view: MethodologyView,
    form: Form,
    *,
    error: CairnError | None = None,
    room: int = 1,
) -> dict[str, Any]:
    names = tuple(one.name for one in view.types)
    counted = memories.count_by_custom_type(caller=frame.caller, names=names)
    used = sessions.by_methodology(caller=frame.caller, names=(view.name,))
    return {
        "view": view,
        "relays": [(one.before, one.after, _chips(view, one)) for one in view.relays],
        "types": [(one, counted[one.name]) for one in view.types],
        "sessions": used.get(view.name, 0),
        **_of_form(frame, form, error=error, room=room),
    }


def _chips(view: MethodologyView, relay: Transition) -> list[tuple[str, str]]:
    """Return what a relay passes on as type and own name, by name."""
    bases = {one.name: one.base.value for one in view.types}
    return [(bases.get(name, name), name if name in bases else "") for name in sorted(relay.types)]


def _of_form(frame: Frame, form: Form, *, error: CairnError | None, room: int) -> dict[str, Any]:
    wrong = error if isinstance(error, InvalidInput) else None
    return {
        "section": "methodologies",
        "may_manage": allows(role=frame.caller.role, act=Act.MANAGE_SETTINGS),
        "written": form,
        "error": error,
        "six": tuple(PHASES.items()),
        "ends": tuple(ENDS.items()),
        "bases": tuple(
            (one.value, memory_labels.TYPES[one.value]) for one in custom_type_rules.BASES
        ),
        **methodology_form.shown_lines(form=form, error=wrong, room=room),
    }


def _address(frame: Frame) -> str:
    return reverse("settings_methodologies", args=(frame.caller.organization_slug,))
