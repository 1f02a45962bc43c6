"""What an organization makes its own: methodologies, and communication styles."""

import re
from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from accounts import free_texts
from accounts.errors import CairnError, InvalidInput
from accounts.rights import manages
from frontend.labels import memory_labels
from frontend.labels.session_labels import ENDS, PHASES
from frontend.presenters import methodology_form
from frontend.presenters.methodology_form import MethodologyForm
from frontend.views import base
from frontend.views.base import Frame
from memory.customization import actions, custom_type_rules, queries
from memory.customization.style import INTERFACES, LONGEST_TEXT, NewStyle
from memory.records.queries.memories import count_by_custom_type
from memory.sessions.queries import by_methodology
from memory.taxonomy import Scope
from teams.permissions import Act

METHODOLOGIES: Final = "pages/settings_methodologies.html"
METHODOLOGY: Final = "pages/settings_methodology.html"
MORE_ROOM: Final = 3  # times the room of a form, for who asks for more lines
LONGEST_TOPIC: Final = 1_000  # characters of what a session is about


@base.member
def methodologies(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the methodologies there are, and define one, maybe beginning from one there is."""
    known = queries.list_methodologies(caller=frame.caller)
    used = by_methodology(caller=frame.caller, names=tuple(one.name for one in known))
    context = {
        "methodologies": [(one, used.get(one.name, 0)) for one in known],
        "has_own": any(one.is_own for one in known),
    }
    if request.method != "POST":
        begun = next((one for one in known if one.name == request.GET.get("from", "")), None)
        form = MethodologyForm() if begun is None else methodology_form.of_view(view=begun)
        return base.page(request, METHODOLOGIES, context | _methodology_form(frame, form))
    return _save_methodology(request, frame, METHODOLOGIES, context, name="")


@base.member
def methodology(request: HttpRequest, frame: Frame, name: str) -> HttpResponse:
    """Show a methodology, save it, or remove it."""
    view = queries.find_methodology(caller=frame.caller, name=name)
    names = tuple(one.name for one in view.types)
    counted = count_by_custom_type(caller=frame.caller, names=names)
    bases = {one.name: one.base.value for one in view.types}
    context = {
        "view": view,
        "relays": [  # what each passes on as type and own name, by name
            (
                one.before,
                one.after,
                [
                    (bases.get(type, type), type if type in bases else "")
                    for type in sorted(one.types)
                ],
            )
            for one in view.relays
        ],
        "types": [(one, counted[one.name]) for one in view.types],
        "sessions": by_methodology(caller=frame.caller, names=(view.name,)).get(view.name, 0),
    }
    if request.method != "POST":
        form = methodology_form.of_view(view=view)
        return base.page(request, METHODOLOGY, context | _methodology_form(frame, form))
    return _save_methodology(request, frame, METHODOLOGY, context, name=view.name)


def _save_methodology(
    request: HttpRequest, frame: Frame, template: str, context: dict[str, Any], *, name: str
) -> HttpResponse:
    """Define or remove a methodology, or show the form with more lines.

    A refusal shows what was sent without secrets.
    """
    sent, verb = methodology_form.of_sent(sent=request.POST), request.POST.get("verb")
    if verb == "more":
        form = _methodology_form(frame, sent, room=MORE_ROOM)
        return base.page(request, template, context | form)
    try:
        if verb == "remove" and name:
            actions.remove_methodology(caller=frame.caller, name=name)
        else:
            actions.define_methodology(
                caller=frame.caller,
                name=name or sent.name,
                phases=methodology_form.phases_of(form=sent),
                course=methodology_form.course_of(form=sent),
                now=frame.now,
            )
    except CairnError as error:
        shown = methodology_form.of_sent(
            sent=request.POST, shown=lambda text: free_texts.masked(text=text)
        )
        form = _methodology_form(frame, shown, error=error) | {"was_redacted": shown != sent}
        return base.page(request, template, context | form)
    return base.moved(request, to=base.address("settings_methodologies", frame))


def _methodology_form(
    frame: Frame, form: MethodologyForm, *, error: CairnError | None = None, room: int = 1
) -> dict[str, Any]:
    wrong = error if isinstance(error, InvalidInput) else None
    bases = custom_type_rules.BASES
    return {
        "section": "methodologies",
        "may_manage": frame.may(Act.MANAGE_SETTINGS),
        "written": form,
        "error": error,
        "six": tuple(PHASES.items()),
        "ends": tuple(ENDS.items()),
        "bases": tuple((one.value, memory_labels.TYPES[one.value]) for one in bases),
        **methodology_form.numbered_lines(form=form, error=wrong, room=room),
    }


@base.member
def styles(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the styles and which of them fits a session, and define one."""
    context: dict[str, object] = {}
    if request.method == "POST":
        name, scope = request.POST.get("name", "").strip(), request.POST.get("scope", "")
        try:
            _put_style(request, frame, name, scope)
            return base.moved(request, to=base.address("settings_styles", frame))
        except CairnError as error:
            context = {"error": error, **_sent_style(request)}
    topic = request.GET.get("topic", "")[:LONGEST_TOPIC]
    interface = request.GET.get("interface", "")
    if "topic" in request.GET:
        context |= {
            "asked": {"topic": topic, "interface": interface},
            "composed": queries.choose_style(caller=frame.caller, topic=topic, interface=interface),
        }
    context |= {**_style_form(frame), "styles": queries.list_styles(caller=frame.caller)}
    return base.page(request, "pages/settings_styles.html", context)


@base.member
def style(request: HttpRequest, frame: Frame, style_id: UUID) -> HttpResponse:
    """Show a style, save it, or remove it."""
    view = queries.find_style(caller=frame.caller, style_id=style_id)
    is_own = view.scope is Scope.PERSONAL
    context: dict[str, object] = {
        **_style_form(frame),
        "style": view,
        "topics": ", ".join(view.topics),
        "chosen": view.interfaces,
        "may_change": frame.may(Act.WRITE) if is_own else manages(caller=frame.caller),
    }
    if request.method == "POST":
        try:
            if request.POST.get("verb", "") == "remove":
                actions.remove_style(caller=frame.caller, style_id=view.id)
            else:
                _put_style(request, frame, view.name, view.scope)
            return base.moved(request, to=base.address("settings_styles", frame))
        except CairnError as error:
            context |= {"error": error, **_sent_style(request)}
    return base.page(request, "pages/settings_style.html", context)


def _put_style(request: HttpRequest, frame: Frame, name: str, scope: str) -> None:
    sent = request.POST
    topics = (topic.strip() for topic in re.split(r"[,\n]", sent.get("topics", "")))
    new = NewStyle(
        name=name,
        scope=scope,
        text=sent.get("text", ""),
        topics=tuple(topic for topic in topics if topic),
        interfaces=tuple(sent.getlist("interface")),
        is_default="is_default" in sent,
    )
    actions.put_style(caller=frame.caller, new=new, now=frame.now)


def _sent_style(request: HttpRequest) -> dict[str, object]:
    return {"form": request.POST, "chosen": tuple(request.POST.getlist("interface"))}


def _style_form(frame: Frame) -> dict[str, object]:
    return {
        "section": "styles",
        "interfaces": INTERFACES,
        "longest": LONGEST_TEXT,
        "may_manage": manages(caller=frame.caller),
        "may_write": frame.may(Act.WRITE),
    }
