"""What pages and interfaces read of projects, teams, people and the change feed, as frozen values.

That a team exists, and who is in it, is for those in it and for who manages the organization; its
memories are for its members. To everybody else, and to a token bound to projects, there is no team.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet

from accounts import tenancy
from accounts.caller import MANAGERS, Caller, Role
from accounts.errors import NotFound
from accounts.identifiers import as_uuid
from accounts.messages import message
from accounts.queries import (
    MemberView,
    has_several_members,
    keep_events_days,
    members_among,
)
from teams import visibility
from teams.errors import NotBoundToProject
from teams.models import Change, Project, Team, TeamMember

THRESHOLD: Final = "relevance_threshold"  # the setting of a project
GATES: Final[Mapping[str, tuple[float, float]]] = {  # settings of intake, least and most
    "minimum_length": (1, 1_000),
    "maximum_length": (1_000, 20_000),
    "near_duplicate_cosine": (0.8, 1.0),
    "near_duplicate_window": (0, 1_000),
    "conflict_cosine": (0.5, 1.0),
    "novelty_cosine": (0.5, 1.0),
}
MODE: Final = "extraction_mode"
MODES: Final = ("heuristic", "llm", "hybrid")
LESSONS: Final = "session_lessons"  # for whom is what sessions teach
LESSONS_FOR: Final = ("personal", "project")
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {MODE: MODES, LESSONS: LESSONS_FOR}
SPENDING: Final[Mapping[str, tuple[float, float]]] = {  # what extraction may ask of models
    "max_llm_calls_per_turn": (0, 5),
    "max_llm_calls_per_session": (0, 500),
    "max_llm_tokens_per_month": (0, 1_000_000_000),
    "max_llm_adds_per_day": (0, 10_000),
}
KEEP_EVENTS: Final = "keep_events_days"
EVENTS_KEPT: Final = (1.0, 365.0)  # days, least and most; as of an organization
SETTINGS: Final = (THRESHOLD, *GATES, *CHOICES, *SPENDING, KEEP_EVENTS)
BOUNDS: Final[dict[str, tuple[float, float]]] = {  # of the settings that are numbers
    THRESHOLD: (0.0, 1.0),
    **GATES,
    **SPENDING,
    KEEP_EVENTS: EVENTS_KEPT,
}
WHOLE: Final = frozenset({  # of these the whole ones
    "minimum_length", "maximum_length", "near_duplicate_window", *SPENDING, KEEP_EVENTS,
})  # fmt: skip
EXPERIMENTS: Final = "experiments"  # settings of a project
PERCENTS: Final[dict[str, tuple[float, float]]] = {  # least and most
    "control_percent": (0, 50),
    "passive_percent": (0, 50),
    "withheld_percent": (0, 50),
}
MOST_TOGETHER: Final = 90.0  # percent of the sessions in both smaller groups; a default
SWITCHED: Final = "injection_hooks"  # settings of a project
PAUSED: Final = "injection_paused"  # settings of a project
PAUSED_TOKENS: Final = "injection_paused_tokens"
PAUSED_PEOPLE: Final = "injection_paused_people"  # with every token of theirs, later ones too


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectView:
    """A project as callers see it.

    `relevance_threshold`: how relevant a memory must be to be found in it; None: as was fitted. The
    others are those of the intake gates (characters, cosines, entries) and of extraction; None: the
    usual ones. `session_lessons`: personal, or proposed to the project; None: as there are people.
    `keep_events_days`: how long it is kept what agents did, the days of the organization where
    those are fewer; None: as long as it says.
    """

    id: UUID
    slug: str
    name: str
    description: str
    open_to_all: bool
    relevance_threshold: float | None
    minimum_length: int | None
    maximum_length: int | None
    near_duplicate_cosine: float | None
    near_duplicate_window: int | None
    conflict_cosine: float | None
    novelty_cosine: float | None
    extraction_mode: str | None
    session_lessons: str | None
    max_llm_calls_per_turn: int | None
    max_llm_calls_per_session: int | None
    max_llm_tokens_per_month: int | None
    max_llm_adds_per_day: int | None
    keep_events_days: int | None
    created_at: datetime
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """How a project's conversations are read, and what models may be asked for it."""

    mode: str = "hybrid"
    calls_per_turn: int = 1
    calls_per_session: int = 20  # a default
    tokens_per_month: int | None = None  # None: no bound of its own
    adds_per_day: int = 0  # explicit adds a model may compare with what is known


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeView:
    """One entry of the change feed."""

    id: int
    kind: str
    object_id: UUID
    project_id: UUID | None
    actor_user: UUID | None
    actor_name: str
    source_interface: str
    summary: Mapping[str, Any]
    created_at: datetime


View = TypeVar("View", ChangeView, "TeamView")


def surroundings(*, caller: Caller) -> tuple[int, tuple[ProjectView, ...]]:
    """Return the newest visible change and the projects, as one moment shows them."""
    with tenancy.unit():
        return newest_change(caller=caller), projects(caller=caller)


def projects(*, caller: Caller) -> tuple[ProjectView, ...]:
    """Return the projects the caller can see, by slug."""
    with tenancy.unit():
        found = _visible_projects(caller).filter(archived_at=None)
        rows = tuple(found.order_by("slug", "id"))
        longest = _longest_kept(rows)
        return tuple(_view(row, longest) for row in rows)


def project(*, caller: Caller, ref: str) -> ProjectView:
    """Return a project by slug or id. Raises NotFound, also for one the caller may not see."""
    with tenancy.unit():
        return project_view(find_project(caller=caller, ref=ref))


def find_project(*, caller: Caller, ref: str) -> Project:
    """Return the row of a project by slug or id, for actions. Raises NotFound."""
    row = _visible_projects(caller).filter(_named(ref)).first() if ref.isprintable() else None
    if row is None:
        raise NotFound(
            detail=message("There is no project {ref!r}.", ref=ref),
            hint="GET /api/v1/projects lists the projects you can see; POST creates one.",
        )
    return row


def changes_since(
    *, caller: Caller, after: int, limit: int, project: str | None = None
) -> tuple[ChangeView, ...]:
    """Return at most `limit` visible changes with an id above `after`, oldest first."""
    with tenancy.unit():
        rows = _visible_changes(caller, project).filter(id__gt=after).order_by("id")[:limit]
        return tuple(_shown_as(ChangeView, row) for row in rows)


def latest_changes(
    *, caller: Caller, limit: int, project: str | None = None
) -> tuple[ChangeView, ...]:
    """Return the newest visible changes, newest first."""
    with tenancy.unit():
        rows = _visible_changes(caller, project).order_by("-id")[:limit]
        return tuple(_shown_as(ChangeView, row) for row in rows)


def newest_change(*, caller: Caller, project: str | None = None) -> int:
    """Return the id of the newest visible change, 0 when there is none."""
    with tenancy.unit():
        row = _visible_changes(caller, project).order_by("-id").values_list("id").first()
        return 0 if row is None else int(row[0])


def project_view(row: Project) -> ProjectView:
    """Turn a row into what callers see."""
    return _view(row, _longest_kept((row,)))


def _longest_kept(rows: tuple[Project, ...]) -> int | None:
    """Return for how many days the organization keeps what agents did; asked where one says."""
    if all(setting_of(settings=row.settings, name=KEEP_EVENTS) is None for row in rows):
        return None
    return keep_events_days(organization_id=tenancy.current().organization_id)


def _view(row: Project, longest: int | None) -> ProjectView:
    own = {name: setting_of(settings=row.settings, name=name) for name in SETTINGS}
    if own[KEEP_EVENTS] is not None and longest is not None:
        own[KEEP_EVENTS] = min(own[KEEP_EVENTS], longest)
    columns = {field.name for field in fields(ProjectView)} - own.keys()
    return ProjectView(**own, **{name: getattr(row, name) for name in columns})


def setting_of(*, settings: Mapping[str, Any], name: str) -> Any:
    """Return what a project sets; None where it says nothing, or what does not fit."""
    value: Any = settings.get(name)
    if name in CHOICES:
        return value if value in CHOICES[name] else None
    if not is_within(value=value, bounds=BOUNDS[name]):
        return None
    return int(value) if name in WHOLE else float(value)


def _settings_of(row: Project, names: Iterable[str]) -> dict[str, Any]:
    """Return those of some settings that a project sets; the others are the usual."""
    found = {name: setting_of(settings=row.settings, name=name) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def proposes_to_project(*, row: Project | None, organization_id: UUID) -> bool:
    """Say whether what a person's session teaches is proposed to the people of its project.

    As the project says; where it says nothing, in an organization of several. In a unit.
    """
    said = None if row is None else setting_of(settings=row.settings, name=LESSONS)
    if row is None or said is not None:
        return said == "project"
    return has_several_members(organization_id=organization_id)


def gates_of(*, row: Project) -> dict[str, Any]:
    """Return the thresholds of the intake gates that a project sets."""
    return _settings_of(row, GATES)


def extraction_of(*, row: Project) -> Extraction:
    """Return how a project's conversations are read."""
    own = {
        name.removeprefix("max_llm_").removeprefix("extraction_"): value
        for name, value in _settings_of(row, (MODE, *SPENDING)).items()
    }
    return Extraction(**own)


def events_days_by_project() -> Mapping[UUID, int]:
    """Return the projects that say for how many days it is kept what agents did. In a unit."""
    rows = Project.objects.filter(settings__has_key=KEEP_EVENTS).order_by("id")
    found = {row.id: setting_of(settings=row.settings, name=KEEP_EVENTS) for row in rows}
    return {id: days for id, days in found.items() if days is not None}


def is_within(*, value: object, bounds: tuple[float, float]) -> bool:
    """Say whether a setting is a number within its bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return bounds[0] <= value <= bounds[1]


def _named(ref: str) -> Q:
    by_id = as_uuid(text=ref)
    return Q(slug=ref) if by_id is None else Q(id=by_id)


def _visible_projects(caller: Caller) -> QuerySet[Project]:
    sight = visibility.sight_of(caller=caller)
    return Project.objects.filter(visibility.projects_q(sight=sight))


def _visible_changes(caller: Caller, project: str | None) -> QuerySet[Change]:
    sight = visibility.sight_of(caller=caller)
    rows = Change.objects.filter(visibility.as_q(sight=sight))
    if project is None:
        return rows
    return rows.filter(project_id=find_project(caller=caller, ref=project).id)


def _shown_as(view: type[View], row: Model) -> View:
    """Return a row as the value whose fields are columns of it."""
    return view(**{field.name: getattr(row, field.name) for field in fields(view)})


class Kind(StrEnum):
    """What people can be added to."""

    PROJECT = "project"
    TEAM = "team"


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonView:
    """A person in a project or a team, with their part in the organization."""

    id: UUID
    name: str
    email: str
    role: Role
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamView:
    """A team as callers see it."""

    id: UUID
    slug: str
    name: str
    created_at: datetime
    version: int


def people_in(*, caller: Caller, kind: Kind, ref: str) -> tuple[PersonView, ...]:
    """Return who was added to a project or a team, the first first.

    Raises NotFound, NotBoundToProject.
    """
    with tenancy.unit():
        row = find_place(caller=caller, kind=kind, ref=ref)
        check_unbound(caller=caller)
        return _persons(caller, row)


def teams(*, caller: Caller) -> tuple[TeamView, ...]:
    """Return the teams the caller can see, by slug."""
    with tenancy.unit():
        return tuple(
            _shown_as(TeamView, row) for row in _visible_teams(caller).order_by("slug", "id")
        )


def team(*, caller: Caller, ref: str) -> TeamView:
    """Return a team by slug or id. Raises NotFound, also for one the caller may not see."""
    with tenancy.unit():
        return team_view(find_team(caller=caller, ref=ref))


def find_place(*, caller: Caller, kind: Kind, ref: str) -> Project | Team:
    """Return the row of a project or a team by slug or id, for actions. Raises NotFound."""
    find = find_project if kind is Kind.PROJECT else find_team
    return find(caller=caller, ref=ref)


def find_team(*, caller: Caller, ref: str) -> Team:
    """Return the row of a team by slug or id, for actions. Raises NotFound."""
    row = _visible_teams(caller).filter(_named(ref)).first() if ref.isprintable() else None
    if row is None:
        raise NotFound(
            detail="There is no such team.",
            hint="GET /api/v1/teams lists the teams you can see; POST creates one.",
        )
    return row


def team_view(row: Team) -> TeamView:
    """Turn a row into what callers see."""
    return _shown_as(TeamView, row)


def person_view(member: MemberView, *, since: datetime) -> PersonView:
    """Turn a member into a person of a place, in which they are since then."""
    id, name, email, role = member.user_id, member.name, member.email, member.role
    return PersonView(id=id, name=name, email=email, role=role, since=since)


def check_unbound(*, caller: Caller) -> None:
    """Raise NotBoundToProject for a token bound to projects: people are the organization's."""
    if caller.bound_projects is None:
        return
    raise NotBoundToProject(
        detail="This token is bound to projects and cannot manage people or settings.",
        hint="Use the dashboard, or a token that is bound to none.",
    )


def _visible_teams(caller: Caller) -> QuerySet[Team]:
    if caller.bound_projects is None and caller.role in MANAGERS:
        return Team.objects.all()
    if caller.bound_projects is not None or caller.user_id is None:
        return Team.objects.none()
    mine = TeamMember.objects.filter(user_id=caller.user_id).values("team_id")
    return Team.objects.filter(id__in=mine)


def _persons(caller: Caller, place: Project | Team) -> tuple[PersonView, ...]:
    """Return the people of a place; whoever has left the organization is in no place of it."""
    rows = place.members.order_by("created_at", "id")
    since: dict[UUID, datetime] = dict(rows.values_list("user_id", "created_at"))
    found = members_among(caller=caller, ids=since)
    return tuple(
        person_view(found[user_id], since=moment)
        for user_id, moment in since.items()
        if user_id in found
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiments:
    """Whether sessions are compared, and in which shares.

    `withheld_percent`: of the sessions that would be given a memory, in how many it is withheld.
    """

    enabled: bool = False
    control_percent: float = 5.0
    passive_percent: float = 10.0
    withheld_percent: float = 0.0


USUAL_EXPERIMENTS: Final = Experiments()


def experiments_of(*, caller: Caller, ref: str) -> Experiments:
    """Return what a project compares. Raises NotFound for one the caller cannot see."""
    with tenancy.unit():
        return experiments_in(project=find_project(caller=caller, ref=ref))


def experiments_in(*, project: Project | None) -> Experiments:
    """Return what a project compares; outside of projects nothing is compared."""
    kept = None if project is None else project.settings.get(EXPERIMENTS)
    if not isinstance(kept, dict):
        return USUAL_EXPERIMENTS
    percents = {
        name: float(kept[name])
        for name, bounds in PERCENTS.items()
        if is_within(value=kept.get(name), bounds=bounds)
    }
    return Experiments(enabled=kept.get("enabled") is True, **percents)


class Hook(StrEnum):
    """What gives memory back by itself, at a point that an agent names, or asks the agent."""

    BRIEF = "brief"
    PREFETCH = "prefetch"
    WARNINGS = "warnings"
    STEP = "step"
    STEP_RECORDED = "step_recorded"
    STEP_SEARCHED = "step_searched"
    PLANNER = "planner"
    REFLECT = "reflect"


ASKED_FOR: Final = frozenset({Hook.STEP_RECORDED, Hook.STEP_SEARCHED})  # off as usual

Hooks = Mapping[Hook, bool]


def hooks_of(*, caller: Caller, ref: str) -> Hooks:
    """Return each hook and whether it is on. Raises NotFound for a project not to be seen."""
    with tenancy.unit():
        return hooks_in(project=find_project(caller=caller, ref=ref))


def hooks_in(*, project: Project | None) -> Hooks:
    """Return each hook and whether it is on; outside of projects all are as usual."""
    kept = {} if project is None else project.settings.get(SWITCHED)
    said = kept if isinstance(kept, dict) else {}
    return {hook: bool(said.get(hook.value, hook not in ASKED_FOR)) for hook in Hook}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """Whether all of a project is paused, and which credentials and people are by themselves."""

    paused: bool
    tokens: frozenset[UUID]
    people: frozenset[UUID]


def pauses_of(*, caller: Caller, ref: str) -> Pauses:
    """Return what is paused in a project. Raises NotFound for one the caller cannot see."""
    with tenancy.unit():
        return pauses_in(project=find_project(caller=caller, ref=ref))


def pauses_in(*, project: Project) -> Pauses:
    """Return what is paused in a project."""
    tokens, people = (
        frozenset(map(UUID, project.settings.get(name) or ()))
        for name in (PAUSED_TOKENS, PAUSED_PEOPLE)
    )
    return Pauses(paused=bool(project.settings.get(PAUSED)), tokens=tokens, people=people)


def is_paused(
    *, project: Project | None, token_id: UUID | None, user_id: UUID | None = None
) -> bool:
    """Say whether nothing is given to a credential in a project, or to the person it is of."""
    if project is None:
        return False
    found = pauses_in(project=project)
    return found.paused or token_id in found.tokens or user_id in found.people
