"""Settings of a project, teams, and who belongs to either."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from accounts.errors import CairnError, InvalidInput, wrong_field
from accounts.queries.directory import keep_events_days, members
from accounts.rights import manages
from frontend.presenters import gate_settings, hook_switches
from frontend.views import base
from frontend.views.base import Frame
from memory.records.project_access import close_project, open_project
from teams.actions import people
from teams.actions.people import create_team, rename_team
from teams.actions.projects import change_project
from teams.permissions import Act, allows
from teams.queries import KEEP_EVENTS, WHOLE, Kind, PersonView, people_in
from teams.queries import team as one_team
from teams.queries import teams as team_list

PROJECT = "pages/project_settings.html"
TEAMS = "pages/settings_teams.html"
TEAM = "pages/settings_team.html"


@base.member
def project_settings(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show a project's settings and its people, and save the settings."""
    if request.method != "POST":
        return base.page(request, PROJECT, of_project(frame=frame))
    try:
        change_project(
            caller=frame.caller,
            ref=_ref(frame),
            changes={
                "name": request.POST.get("name", ""),
                "description": request.POST.get("description", "").strip(),
                "relevance_threshold": _share(request.POST.get("relevance_threshold", "")),
                KEEP_EVENTS: _number(request.POST.get(KEEP_EVENTS, ""), KEEP_EVENTS),
            },
            if_version=_version(request),
        )
    except CairnError as error:
        context = of_project(frame=frame) | {"error": error, "form": request.POST}
        return base.page(request, PROJECT, context, status=error.status)
    return base.moved(request, to=base.address("project_settings", frame))


@require_POST
@base.member
def project_gates(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Save the thresholds of a project's intake gates; an empty one is the usual."""
    try:
        change_project(
            caller=frame.caller,
            ref=_ref(frame),
            changes={
                name: _number(request.POST.get(name, ""), name) for name in gate_settings.FIELDS
            },
            if_version=_version(request),
        )
    except CairnError as error:
        context = of_project(frame=frame) | {"gates_error": error, "form_gates": request.POST}
        return base.page(request, PROJECT, context, status=error.status)
    return base.moved(request, to=base.address("project_settings", frame))


@require_POST
@base.member
def project_openness(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Open a project to everyone, or close it."""
    acts = {"open": open_project, "close": close_project}
    try:
        if request.POST.get("verb", "") not in acts:
            raise _no_verb()
        acts[request.POST["verb"]](caller=frame.caller, ref=_ref(frame))
    except CairnError as error:
        context = of_project(frame=frame) | {"openness_error": error}
        return base.page(request, PROJECT, context, status=error.status)
    return base.moved(request, to=base.address("project_settings", frame))


@require_POST
@base.member
def project_people(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Add somebody to a project, or take them out."""
    try:
        _change_people(request, frame, Kind.PROJECT, _ref(frame))
    except CairnError as error:
        context = of_project(frame=frame) | {"people_error": error, "form_people": request.POST}
        return base.page(request, PROJECT, context, status=error.status)
    is_over = _has_left(request, frame) and not _sees_without(frame)
    to = reverse("organization", args=(frame.caller.organization_slug,))
    return base.moved(request, to=to if is_over else base.address("project_settings", frame))


@base.member
def teams(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the teams, and make one."""
    if request.method != "POST":
        return base.page(request, TEAMS, _of_teams(frame))
    name, slug = request.POST.get("name", "").strip(), request.POST.get("slug", "").strip()
    try:
        made = create_team(caller=frame.caller, slug=slug, name=name)
    except CairnError as error:
        context = _of_teams(frame) | {"error": error, "form": request.POST}
        return base.page(request, TEAMS, context, status=error.status)
    return base.moved(request, to=_team_address(frame, made.id))


@base.member
def team(request: HttpRequest, frame: Frame, team_id: UUID) -> HttpResponse:
    """Show a team and who is in it, and save its name."""
    if request.method != "POST":
        return base.page(request, TEAM, _of_team(frame, team_id))
    try:
        rename_team(
            caller=frame.caller,
            ref=str(team_id),
            name=request.POST.get("name", ""),
            if_version=_version(request),
        )
    except CairnError as error:
        context = _of_team(frame, team_id) | {"error": error, "form": request.POST}
        return base.page(request, TEAM, context, status=error.status)
    return base.moved(request, to=_team_address(frame, team_id))


@require_POST
@base.member
def team_people(request: HttpRequest, frame: Frame, team_id: UUID) -> HttpResponse:
    """Add somebody to a team, or take them out."""
    shown = _of_team(frame, team_id)
    try:
        _change_people(request, frame, Kind.TEAM, str(team_id))
    except CairnError as error:
        context = shown | {"people_error": error, "form_people": request.POST}
        return base.page(request, TEAM, context, status=error.status)
    if _has_left(request, frame) and not manages(caller=frame.caller):
        to = reverse("settings_teams", args=(frame.caller.organization_slug,))
        return base.moved(request, to=to)
    return base.moved(request, to=_team_address(frame, team_id))


def _change_people(request: HttpRequest, frame: Frame, kind: Kind, ref: str) -> None:
    verb, person = request.POST.get("verb", ""), request.POST.get("person", "").strip()
    if verb == "add":
        people.add_person(caller=frame.caller, kind=kind, ref=ref, person=person)
    elif verb == "remove":
        people.remove_person(caller=frame.caller, kind=kind, ref=ref, user_id=_id(person))
    else:
        raise _no_verb()


def _no_verb() -> InvalidInput:
    return InvalidInput(detail="There is no such verb.", hint="Reload the page.")


def of_project(*, frame: Frame) -> dict[str, object]:
    """Return what the page of a project's settings shows."""
    shown = people_in(caller=frame.caller, kind=Kind.PROJECT, ref=_ref(frame))
    return {
        "section": "project_settings",
        "gates": () if frame.project is None else gate_settings.settings(project=frame.project),
        **_events_days(frame),
        "hooks": hook_switches.switches(caller=frame.caller, project=_ref(frame)),
        "may_change": allows(role=frame.caller.role, act=Act.MANAGE_PROJECTS),
        "people_address": base.address("project_people", frame),
        **_people(frame, shown),
    }


def _events_days(frame: Frame) -> dict[str, object]:
    """Return for how long it is kept what agents did here, and the organization's days."""
    longest = keep_events_days(organization_id=frame.caller.organization_id)
    own = None if frame.project is None else frame.project.keep_events_days
    return {"most_events_days": longest, "events_days": own}


def _number(text: str, field: str) -> float | int | None:
    """Read a threshold; nothing is the usual one. Raises InvalidInput for what is no number."""
    bare = text.strip().replace(",", ".")
    if not bare:
        return None
    try:
        value = float(bare)
    except ValueError as error:
        raise wrong_field(
            pointer=f"/{field}", detail="This is not a number.", code="type"
        ) from error
    return int(value) if value.is_integer() and field in {*WHOLE, KEEP_EVENTS} else value


def _of_teams(frame: Frame) -> dict[str, object]:
    return {
        "section": "teams",
        "may_manage": manages(caller=frame.caller),
        "teams": team_list(caller=frame.caller),
    }


def _of_team(frame: Frame, team_id: UUID) -> dict[str, object]:
    view = one_team(caller=frame.caller, ref=str(team_id))
    shown = people_in(caller=frame.caller, kind=Kind.TEAM, ref=str(team_id))
    address = reverse("team_people", args=(frame.caller.organization_slug, team_id))
    return {
        "section": "teams",
        "team": view,
        "people_address": address,
        **_people(frame, shown),
    }


def _people(frame: Frame, shown: tuple[PersonView, ...]) -> dict[str, object]:
    """Return who is in a place, and who could be added to it."""
    may_manage = manages(caller=frame.caller)
    present = {person.id for person in shown}
    others = members(caller=frame.caller) if may_manage else ()
    return {
        "may_manage": may_manage,
        "people": shown,
        "others": tuple(one for one in others if one.user_id not in present),
        "now": frame.now,
    }


def _has_left(request: HttpRequest, frame: Frame) -> bool:
    is_oneself = request.POST.get("person", "") == str(frame.caller.user_id)
    return is_oneself and request.POST.get("verb") == "remove"


def _sees_without(frame: Frame) -> bool:
    """Say whether somebody sees the frame's project who is not in it."""
    is_open = frame.project is not None and frame.project.open_to_all
    return is_open or manages(caller=frame.caller)


def _ref(frame: Frame) -> str:
    return "" if frame.project is None else str(frame.project.id)


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise InvalidInput(
            detail="There is no such person.", hint="Choose one from the list."
        ) from error


def _share(text: str) -> float | None:
    """Return a share of 1; None for no text, and -1, which is refused, for what is no number."""
    if not text.strip():
        return None
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return -1.0


def _version(request: HttpRequest) -> int | None:
    """Return the version that the form was filled from; 0, which is none, for what is none."""
    text = request.POST.get("version", "")
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _team_address(frame: Frame, team_id: UUID) -> str:
    return reverse("settings_team", args=(frame.caller.organization_slug, team_id))
