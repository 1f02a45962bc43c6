"""What an organization makes its own: methodologies, and communication styles.

In the form of a methodology, phases, relays and types are lines of the same fields; a line in which
nothing is written is left out. What is wrong with one is said by its JSON pointer, as over REST.
"""

import re
from collections.abc import Callable
from itertools import zip_longest
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict

from accounts import free_texts
from accounts.caller import manages
from accounts.errors import CairnError, InvalidInput, wrong_field
from frontend import labels
from frontend.views import base
from frontend.views.base import Frame
from memory.customization import actions, custom_type_rules, queries
from memory.customization.phases import OnComplete, Transition
from memory.customization.style import INTERFACES, LONGEST_TEXT, NewStyle
from memory.records.queries.memories import count_by_custom_type
from memory.sessions.queries import by_methodology
from memory.taxonomy import MemoryType, Scope
from teams.permissions import Act

METHODOLOGIES: Final = "pages/settings_methodologies.html"
METHODOLOGY: Final = "pages/settings_methodology.html"
MORE_ROOM: Final = 3  # times the room of a form, for who asks for more lines
LONGEST_TOPIC: Final = 1_000  # characters of what a session is about
Line = tuple[str, ...]

PHASE: Final = ("phase", "is")  # the fields of a line
RELAY: Final = ("from", "to", "passes")
TYPE: Final = ("type", "base", "says")
CHOSEN: Final = frozenset({"is", "base"})  # which always have a value
ROOM: Final = {PHASE: 3, RELAY: 1, TYPE: 1}  # lines to write in, beside those there are


class MethodologyForm(NamedTuple):
    """What a form shows; lines are values of `PHASE`, `RELAY` and `TYPE`."""

    name: str = ""
    phases: tuple[Line, ...] = ()
    relays: tuple[Line, ...] = ()
    types: tuple[Line, ...] = ()
    on_complete: tuple[str, ...] = ()


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
        form = MethodologyForm() if begun is None else _form_of_view(begun)
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
        form = _form_of_view(view)
        return base.page(request, METHODOLOGY, context | _methodology_form(frame, form))
    return _save_methodology(request, frame, METHODOLOGY, context, name=view.name)


def _save_methodology(
    request: HttpRequest, frame: Frame, template: str, context: dict[str, Any], *, name: str
) -> HttpResponse:
    """Define or remove a methodology, or show the form with more lines.

    A refusal shows what was sent without secrets.
    """
    sent, verb = _form_of_sent(request.POST), request.POST.get("verb")
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
                phases=_phases_of(sent),
                course=_course_of(sent),
                now=frame.now,
            )
    except CairnError as error:
        shown = _form_of_sent(request.POST, lambda text: free_texts.masked(text=text))
        form = _methodology_form(frame, shown, error=error) | {"was_redacted": shown != sent}
        return base.page(request, template, context | form)
    return base.moved(request, to=base.address("settings_methodologies", frame))


def _methodology_form(
    frame: Frame, form: MethodologyForm, *, error: CairnError | None = None, room: int = 1
) -> dict[str, Any]:
    wrong = error if isinstance(error, InvalidInput) else None
    bases = custom_type_rules.BASES
    return {
        "may_manage": frame.may(Act.MANAGE_SETTINGS),
        "written": form,
        "error": error,
        "six": tuple(labels.PHASES.items()),
        "ends": tuple(labels.ENDS.items()),
        "bases": tuple((one.value, labels.TYPES[one.value]) for one in bases),
        **_numbered_lines(form, wrong, room),
    }


def _form_of_view(view: queries.MethodologyView) -> MethodologyForm:
    """Return the form of a methodology there is."""
    return MethodologyForm(
        name=view.name,
        phases=tuple((name, phase.value) for name, phase in view.phases.items()),
        relays=tuple(
            (one.before, one.after, ", ".join(sorted(map(str, one.types)))) for one in view.relays
        ),
        types=tuple((one.name, one.base.value, one.says) for one in view.types),
        on_complete=tuple(one.value for one in view.on_complete),
    )


def _form_of_sent(sent: QueryDict, shown: Callable[[str], str] = str) -> MethodologyForm:
    """Return what somebody sent, each text as it is to be shown."""

    def lines(fields: tuple[str, ...]) -> tuple[Line, ...]:
        columns = (map(shown, sent.getlist(field)) for field in fields)
        rows = zip_longest(*columns, fillvalue="")
        stripped = [tuple(value.strip() for value in row) for row in rows]
        written = [place for place, field in enumerate(fields) if field not in CHOSEN]
        return tuple(row for row in stripped if any(row[place] for place in written))

    return MethodologyForm(
        name=shown(sent.get("name", "")).strip(),
        phases=lines(PHASE),
        relays=lines(RELAY),
        types=lines(TYPE),
        on_complete=tuple(map(shown, sent.getlist("on_complete"))),
    )


def _phases_of(form: MethodologyForm) -> dict[str, str]:
    """Return the phases of a form. Raises InvalidInput for one that is named twice."""
    named = [line[0] for line in form.phases]
    for name in named:
        if named.count(name) > 1:
            raise wrong_field(
                pointer=f"/phases/{name}",
                detail="A phase is named once.",
                hint="Take one of its lines away.",
                code="twice",
            )
    return {line[0]: line[1] for line in form.phases}


def _course_of(form: MethodologyForm) -> actions.Course:
    """Return how work goes on by a form. Raises InvalidInput for what no form offers."""
    for place, (_name, base_type, _says) in enumerate(form.types):
        if base_type not in custom_type_rules.OURS:
            raise wrong_field(
                pointer=f"/types/{place}/base",
                detail="There is no such type of memory.",
                hint="Choose one from the list.",
                code="choice",
            )
    if not set(form.on_complete) <= set(OnComplete):
        raise wrong_field(
            pointer="/on_complete",
            detail="No methodology does this when work ends.",
            hint="Choose from the list.",
            code="choice",
        )
    return actions.Course(
        relays=tuple(
            Transition(
                before=before,
                after=after,
                types=frozenset(part.strip() for part in passes.split(",") if part.strip()),
            )
            for before, after, passes in form.relays
        ),
        on_complete=tuple(map(OnComplete, form.on_complete)),
        types=tuple(
            custom_type_rules.OwnType(name=name, base=MemoryType(kind), says=says)
            for name, kind, says in form.types
        ),
    )


def _numbered_lines(
    form: MethodologyForm, error: InvalidInput | None, room: int
) -> dict[str, list[tuple[int, Line, bool]]]:
    """Return the lines of a form with as much room again as `room` says, for the page.

    A line is numbered from 1, and says whether it is what the refusal speaks of.
    """
    wrong = error.errors[0].pointer if error is not None and error.errors else ""

    def numbered(name: str, lines: tuple[Line, ...], fields: Line) -> list[tuple[int, Line, bool]]:
        keys = (line[0] if fields is PHASE else str(at) for at, line in enumerate(lines))
        marked = [f"{wrong}/".startswith(f"/{name}/{key}/") for key in keys]
        empty = ROOM[fields] * room
        rows = zip(
            [*lines, *[("",) * len(fields)] * empty], [*marked, *[False] * empty], strict=True
        )
        return [(number, line, is_wrong) for number, (line, is_wrong) in enumerate(rows, start=1)]

    return {
        "phase_lines": numbered("phases", form.phases, PHASE),
        "relay_lines": numbered("relays", form.relays, RELAY),
        "type_lines": numbered("types", form.types, TYPE),
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
        "interfaces": INTERFACES,
        "longest": LONGEST_TEXT,
        "may_manage": manages(caller=frame.caller),
        "may_write": frame.may(Act.WRITE),
    }
