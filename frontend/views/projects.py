"""Settings of a project, teams, and who belongs to either."""

from collections.abc import Iterable
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_POST

from accounts.caller import manages
from accounts.errors import CairnError, InvalidInput, wrong_field
from accounts.identifiers import as_uuid
from accounts.queries import keep_events_days, members
from frontend.presenters import project_settings as presenter
from frontend.views import base
from frontend.views.base import Frame
from memory.records.actions import close_project, open_project
from teams import actions, queries
from teams.permissions import Act
from teams.queries import CHOICES, KEEP_EVENTS, SPENDING, WHOLE, Hook, Kind

TEAMS = "pages/settings_teams.html"
TEAM = "pages/settings_team.html"


@base.member
def project_settings(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show a project's settings and its people, and save the settings."""
    if request.method != "POST":
        return _project_page(request, frame)
    return _save_part(request, frame, "main")


@require_POST
@base.member
def project_part(request: HttpRequest, frame: Frame, part: str) -> HttpResponse:
    """Save a part of a project's settings; who may not see it any more leaves the page."""
    saved = _save_part(request, frame, part)
    is_open = frame.project is not None and frame.project.open_to_all
    if part == "people" and saved.status_code < 400 and _has_left(request, frame) and not is_open:
        return base.moved(
            request, to=reverse("organization", args=(frame.caller.organization_slug,))
        )
    return saved


@base.member
def teams(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the teams, and make one."""
    context: dict[str, object] = {}
    if request.method == "POST":
        name, slug = request.POST.get("name", "").strip(), request.POST.get("slug", "").strip()
        try:
            made = actions.create_team(caller=frame.caller, slug=slug, name=name)
            return base.moved(request, to=base.address("settings_team", frame, made.id))
        except CairnError as error:
            context = {"error": error, "form": request.POST}
    context |= {
        "may_manage": manages(caller=frame.caller),
        "teams": queries.teams(caller=frame.caller),
    }
    return base.page(request, TEAMS, context)


@base.member
def team(request: HttpRequest, frame: Frame, team_id: UUID) -> HttpResponse:
    """Show a team and who is in it, and save its name."""
    if request.method != "POST":
        return base.page(request, TEAM, _of_team(frame, team_id))
    try:
        actions.rename_team(
            caller=frame.caller,
            ref=str(team_id),
            name=request.POST.get("name", ""),
            if_version=_version(request.POST),
        )
    except CairnError as error:
        context = _of_team(frame, team_id) | {"error": error, "form": request.POST}
        return base.page(request, TEAM, context)
    return base.moved(request, to=base.address("settings_team", frame, team_id))


@require_POST
@base.member
def team_people(request: HttpRequest, frame: Frame, team_id: UUID) -> HttpResponse:
    """Add somebody to a team, or take them out."""
    context = _of_team(frame, team_id)
    try:
        _change_people(request.POST, frame, Kind.TEAM, str(team_id))
    except CairnError as error:
        context |= {"people_error": error, "form_people": request.POST}
        return base.page(request, TEAM, context, status=error.status)
    if _has_left(request, frame):
        return base.moved(request, to=base.address("settings_teams", frame))
    return base.moved(request, to=base.address("settings_team", frame, team_id))


def _save_part(request: HttpRequest, frame: Frame, part: str) -> HttpResponse:
    """Save a form of the project's settings, and show them; a refusal stands at that form."""
    try:
        _change_part(request.POST, frame, part)
    except CairnError as error:
        refused = {f"{part}_error": error, f"form_{part}": request.POST}
        return _project_page(request, frame, status=error.status, **refused)
    return base.moved(request, to=base.address("project_settings", frame))


def _change_part(sent: QueryDict, frame: Frame, part: str) -> None:
    """Change what one form of the settings is about; an empty field is the usual value."""
    match part:
        case "main":
            numbers = _numbers(sent, ("relevance_threshold", KEEP_EVENTS))
            words = {name: sent.get(name, "").strip() for name in ("name", "description")}
            _change_project(sent, frame, **words, **numbers)
        case "gates":
            _change_project(sent, frame, **_numbers(sent, presenter.GATE_FIELDS))
        case "extraction":
            _change_project(sent, frame, **_choices(sent), **_numbers(sent, SPENDING))
        case "hooks":
            ticked = frozenset(sent.getlist("on"))
            switched = {hook: hook.value in ticked for hook in Hook}
            actions.switch_hooks(caller=frame.caller, ref=frame.ref, switched=switched)
        case "openness":
            change = {"open": open_project, "close": close_project}.get(sent.get("verb", ""))
            if change is None:
                raise base.no_verb()
            change(caller=frame.caller, ref=frame.ref)
        case _:
            _change_people(sent, frame, Kind.PROJECT, frame.ref)


def _choices(sent: QueryDict) -> dict[str, str | None]:
    return {name: sent.get(name) or None for name in CHOICES}


def _project_page(
    request: HttpRequest, frame: Frame, *, status: int = 200, **extra: object
) -> HttpResponse:
    project = frame.project
    context = {
        "gates": () if project is None else presenter.gates(project=project),
        "most_events_days": keep_events_days(organization_id=frame.caller.organization_id),
        "events_days": None if project is None else project.keep_events_days,
        "hooks": presenter.hooks(caller=frame.caller, project=frame.ref),
        "may_change": frame.may(Act.MANAGE_PROJECTS),
        "people_address": base.address("project_people", frame),
        **_people(frame, Kind.PROJECT, frame.ref),
        **extra,
    }
    return base.page(request, "pages/project_settings.html", context, status=status)


def _of_team(frame: Frame, team_id: UUID) -> dict[str, object]:
    return {
        "team": queries.team(caller=frame.caller, ref=str(team_id)),
        "people_address": base.address("team_people", frame, team_id),
        **_people(frame, Kind.TEAM, str(team_id)),
    }


def _people(frame: Frame, kind: Kind, ref: str) -> dict[str, object]:
    """Return who is in a project or a team, and who could be added to it."""
    shown = queries.people_in(caller=frame.caller, kind=kind, ref=ref)
    may_manage = manages(caller=frame.caller)
    present = {person.id for person in shown}
    others = members(caller=frame.caller) if may_manage else ()
    return {
        "may_manage": may_manage,
        "people": shown,
        "others": tuple(one for one in others if one.user_id not in present),
    }


def _change_people(sent: QueryDict, frame: Frame, kind: Kind, ref: str) -> None:
    verb, person = sent.get("verb", ""), sent.get("person", "").strip()
    if verb == "add":
        actions.add_person(caller=frame.caller, kind=kind, ref=ref, person=person)
    elif verb == "remove":
        user_id = as_uuid(text=person)
        if user_id is None:
            raise InvalidInput(detail="There is no such person.", hint="Choose one from the list.")
        actions.remove_person(caller=frame.caller, kind=kind, ref=ref, user_id=user_id)
    else:
        raise base.no_verb()


def _has_left(request: HttpRequest, frame: Frame) -> bool:
    """Say whether who looks took themselves out, and does not see it as an owner or admin."""
    is_oneself = request.POST.get("person", "") == str(frame.caller.user_id)
    is_removal = request.POST.get("verb") == "remove"
    return is_oneself and is_removal and not manages(caller=frame.caller)


def _change_project(sent: QueryDict, frame: Frame, **changes: object) -> None:
    version = _version(sent)
    actions.change_project(caller=frame.caller, ref=frame.ref, changes=changes, if_version=version)


def _version(sent: QueryDict) -> int:
    """Return the version that the form was filled from; 0, which is none, for what is none."""
    return base.number_of(sent.get("version", "")) or 0


def _numbers(sent: QueryDict, fields: Iterable[str]) -> dict[str, float | None]:
    """Read numbers of a form; nothing is the usual one. Raises InvalidInput for what is none."""
    numbers: dict[str, float | None] = {}
    for field in fields:
        text = sent.get(field, "").strip().replace(",", ".")
        try:
            value = float(text) if text else None
        except ValueError as error:
            raise wrong_field(
                pointer=f"/{field}", detail="This is not a number.", code="type"
            ) from error
        if value is not None and field in WHOLE and value.is_integer():
            value = int(value)
        numbers[field] = value
    return numbers
