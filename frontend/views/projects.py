"""Settings of a project, teams, and who belongs to either."""

from collections.abc import Callable
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from accounts.errors import CairnError, InvalidInput, wrong_field
from accounts.identifiers import as_uuid
from accounts.queries import keep_events_days, members
from accounts.rights import manages
from frontend.presenters import project_settings as presenter
from frontend.views import base
from frontend.views.base import Frame
from memory.records.actions import close_project, open_project
from teams import queries
from teams.actions import (
    add_person,
    change_project,
    create_team,
    remove_person,
    rename_team,
    switch_hooks,
)
from teams.permissions import Act
from teams.queries import KEEP_EVENTS, MODE, SPENDING, WHOLE, Hook, Kind

TEAMS = "pages/settings_teams.html"
TEAM = "pages/settings_team.html"


@base.member
def project_settings(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show a project's settings and its people, and save the settings."""
    if request.method != "POST":
        return _project_page(request, frame)

    def save() -> None:
        _change_project(
            request,
            frame,
            name=request.POST.get("name", ""),
            description=request.POST.get("description", "").strip(),
            relevance_threshold=_number(request, "relevance_threshold"),
            **{KEEP_EVENTS: _number(request, KEEP_EVENTS)},
        )

    return _saved(request, frame, save, error_at="error", form_at="form")


@require_POST
@base.member
def project_gates(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Save the thresholds of a project's intake gates; an empty one is the usual."""

    def save() -> None:
        changes = {name: _number(request, name) for name in presenter.GATE_FIELDS}
        _change_project(request, frame, **changes)

    return _saved(request, frame, save, error_at="gates_error", form_at="form_gates")


@require_POST
@base.member
def project_extraction(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Save how a project's conversations are read; an empty field is the usual value."""

    def save() -> None:
        mode = request.POST.get(MODE) or None
        limits = {name: _number(request, name) for name in SPENDING}
        _change_project(request, frame, **{MODE: mode, **limits})

    return _saved(request, frame, save, error_at="extraction_error", form_at="form_extraction")


@require_POST
@base.member
def project_hooks(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Save which hooks are on: those that are ticked, and no other."""

    def save() -> None:
        ticked = frozenset(request.POST.getlist("on"))
        switched = {hook: hook.value in ticked for hook in Hook}
        switch_hooks(caller=frame.caller, ref=frame.ref, switched=switched)

    return _saved(request, frame, save, error_at="hooks_error")


@require_POST
@base.member
def project_openness(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Open a project to everyone, or close it."""

    def save() -> None:
        change = {"open": open_project, "close": close_project}.get(request.POST.get("verb", ""))
        if change is None:
            raise base.no_verb()
        change(caller=frame.caller, ref=frame.ref)

    return _saved(request, frame, save, error_at="openness_error")


@require_POST
@base.member
def project_people(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Add somebody to a project, or take them out; who may not see it any more leaves the page."""

    def save() -> None:
        _change_people(request, frame, Kind.PROJECT, frame.ref)

    saved = _saved(request, frame, save, error_at="people_error", form_at="form_people")
    is_open = frame.project is not None and frame.project.open_to_all
    if saved.status_code < 400 and _has_left(request, frame) and not is_open:
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
            made = create_team(caller=frame.caller, slug=slug, name=name)
            return base.moved(request, to=base.address("settings_team", frame, made.id))
        except CairnError as error:
            context = {"error": error, "form": request.POST}
    context |= {
        "section": "teams",
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
        rename_team(
            caller=frame.caller,
            ref=str(team_id),
            name=request.POST.get("name", ""),
            if_version=_version(request),
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
        _change_people(request, frame, Kind.TEAM, str(team_id))
    except CairnError as error:
        context |= {"people_error": error, "form_people": request.POST}
        return base.page(request, TEAM, context, status=error.status)
    if _has_left(request, frame):
        return base.moved(request, to=base.address("settings_teams", frame))
    return base.moved(request, to=base.address("settings_team", frame, team_id))


def _saved(
    request: HttpRequest,
    frame: Frame,
    save: Callable[[], None],
    *,
    error_at: str,
    form_at: str = "",
) -> HttpResponse:
    """Save a form of the project's settings, and show them; a refusal stands at that form."""
    try:
        save()
    except CairnError as error:
        sent = {form_at: request.POST} if form_at else {}
        return _project_page(request, frame, status=error.status, **{error_at: error}, **sent)
    return base.moved(request, to=base.address("project_settings", frame))


def _project_page(
    request: HttpRequest, frame: Frame, *, status: int = 200, **extra: object
) -> HttpResponse:
    project = frame.project
    context = {
        "section": "project_settings",
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
        "section": "teams",
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


def _change_people(request: HttpRequest, frame: Frame, kind: Kind, ref: str) -> None:
    verb, person = request.POST.get("verb", ""), request.POST.get("person", "").strip()
    if verb == "add":
        add_person(caller=frame.caller, kind=kind, ref=ref, person=person)
    elif verb == "remove":
        user_id = as_uuid(text=person)
        if user_id is None:
            raise InvalidInput(detail="There is no such person.", hint="Choose one from the list.")
        remove_person(caller=frame.caller, kind=kind, ref=ref, user_id=user_id)
    else:
        raise base.no_verb()


def _has_left(request: HttpRequest, frame: Frame) -> bool:
    """Say whether who looks took themselves out, and does not see it as an owner or admin."""
    is_oneself = request.POST.get("person", "") == str(frame.caller.user_id)
    is_removal = request.POST.get("verb") == "remove"
    return is_oneself and is_removal and not manages(caller=frame.caller)


def _change_project(request: HttpRequest, frame: Frame, **changes: object) -> None:
    change_project(
        caller=frame.caller, ref=frame.ref, changes=changes, if_version=_version(request)
    )


def _version(request: HttpRequest) -> int:
    """Return the version that the form was filled from; 0, which is none, for what is none."""
    return base.number_of(request.POST.get("version", "")) or 0


def _number(request: HttpRequest, field: str) -> float | None:
    """Read a number of a form; nothing is the usual one. Raises InvalidInput for what is none."""
    text = request.POST.get(field, "").strip().replace(",", ".")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError as error:
        raise wrong_field(
            pointer=f"/{field}", detail="This is not a number.", code="type"
        ) from error
    return int(value) if value.is_integer() and field in WHOLE else value
