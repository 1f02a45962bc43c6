"""What pages and interfaces read of projects and of the change feed, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import NotFound
from accounts.identifiers import as_uuid
from accounts.queries import keep_events_days
from accounts.sentences import sentence
from teams import visibility
from teams.models import Change, Project

THRESHOLD: Final = "relevance_threshold"  # the setting of a project
GATES: Final[Mapping[str, tuple[float, float]]] = {  # settings of intake, least and most; ours
    "minimum_length": (1, 1_000),
    "maximum_length": (1_000, 20_000),
    "near_duplicate_cosine": (0.8, 1.0),
    "near_duplicate_window": (0, 1_000),
    "conflict_cosine": (0.5, 1.0),
    "novelty_cosine": (0.5, 1.0),
}
WHOLE: Final = frozenset({"minimum_length", "maximum_length", "near_duplicate_window"})
MODE: Final = "extraction_mode"
MODES: Final = ("heuristic", "llm", "hybrid")
SPENDING: Final[Mapping[str, tuple[float, float]]] = {  # what extraction may ask of models; ours
    "max_llm_calls_per_turn": (0, 5),
    "max_llm_calls_per_session": (0, 500),
    "max_llm_tokens_per_month": (0, 1_000_000_000),
    "max_llm_adds_per_day": (0, 10_000),
}
KEEP_EVENTS: Final = "keep_events_days"
EVENTS_KEPT: Final = (1.0, 365.0)  # days, least and most; as of an organization
SETTINGS: Final = (THRESHOLD, *GATES, MODE, *SPENDING, KEEP_EVENTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectView:
    """A project as callers see it.

    `relevance_threshold`: how relevant a memory must be to be found in it; None: as was fitted. The
    others are those of the intake gates (characters, cosines, entries) and of extraction; None: the
    usual ones. `keep_events_days`: how long it is kept what agents did, the days of the
    organization where those are fewer; None: as long as it says.
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
    max_llm_calls_per_turn: int | None
    max_llm_calls_per_session: int | None
    max_llm_tokens_per_month: int | None
    max_llm_adds_per_day: int | None
    keep_events_days: int | None
    created_at: datetime
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """How a project's conversations are read, and what models may be asked for it.

    `tokens_per_month` None: no bound of the project's own. `adds_per_day`: how many explicit adds a
    model may compare with what is known, none as usual.
    """

    mode: str = "hybrid"
    calls_per_turn: int = 1
    calls_per_session: int = 20  # ours
    tokens_per_month: int | None = None
    adds_per_day: int = 0


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
    by_id = as_uuid(text=ref)
    wanted = {"slug": ref} if by_id is None else {"id": by_id}
    row = _visible_projects(caller).filter(**wanted).first() if ref.isprintable() else None
    if row is None:
        raise NotFound(
            detail=sentence("There is no project {ref!r}.", ref=ref),
            hint="GET /api/v1/projects lists the projects you can see; POST creates one.",
        )
    return row


def changes_since(
    *, caller: Caller, after: int, limit: int, project: str | None = None
) -> tuple[ChangeView, ...]:
    """Return at most `limit` visible changes with an id above `after`, oldest first."""
    with tenancy.unit():
        rows = _visible_changes(caller, project).filter(id__gt=after).order_by("id")[:limit]
        return tuple(_change_view(row) for row in rows)


def latest_changes(
    *, caller: Caller, limit: int, project: str | None = None
) -> tuple[ChangeView, ...]:
    """Return the newest visible changes, newest first."""
    with tenancy.unit():
        rows = _visible_changes(caller, project).order_by("-id")[:limit]
        return tuple(_change_view(row) for row in rows)


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
    if all(events_days_of(row=row) is None for row in rows):
        return None
    return keep_events_days(organization_id=tenancy.current().organization_id)


def _view(row: Project, longest: int | None) -> ProjectView:
    own = events_days_of(row=row)
    return ProjectView(
        id=row.id,
        slug=row.slug,
        name=row.name,
        description=row.description,
        open_to_all=row.open_to_all,
        relevance_threshold=threshold_of(row=row),
        **{**dict.fromkeys(GATES), **gates_of(row=row)},
        **{**dict.fromkeys((MODE, *SPENDING)), **spending_of(row=row)},
        keep_events_days=own if own is None or longest is None else min(own, longest),
        created_at=row.created_at,
        version=row.version,
    )


def events_days_by_project() -> Mapping[UUID, int]:
    """Return the projects that say for how many days it is kept what agents did. In a unit."""
    rows = Project.objects.filter(settings__has_key=KEEP_EVENTS).order_by("id")
    found = {row.id: events_days_of(row=row) for row in rows}
    return {id: days for id, days in found.items() if days is not None}


def events_days_of(*, row: Project) -> int | None:
    """Return for how many days a project keeps what agents did; None where it does not say."""
    value = row.settings.get(KEEP_EVENTS)
    return int(value) if is_within(value=value, bounds=EVENTS_KEPT) else None


def threshold_of(*, row: Project) -> float | None:
    """Return the least relevance that a project sets, 0 to 1; None when it sets none."""
    value = row.settings.get(THRESHOLD)
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else None


def gates_of(*, row: Project) -> dict[str, Any]:
    """Return the thresholds of the intake gates that a project sets; the others are the usual."""
    return {
        name: int(value) if name in WHOLE else float(value)
        for name, bounds in GATES.items()
        if is_within(value=(value := row.settings.get(name)), bounds=bounds)
    }


def spending_of(*, row: Project) -> dict[str, Any]:
    """Return what a project sets of extraction; the rest is as usual."""
    found: dict[str, Any] = {
        name: int(value)
        for name, bounds in SPENDING.items()
        if is_within(value=(value := row.settings.get(name)), bounds=bounds)
    }
    mode = row.settings.get(MODE)
    return {**found, MODE: mode} if mode in MODES else found


def extraction_of(*, row: Project) -> Extraction:
    """Return how a project's conversations are read."""
    own = {
        name.removeprefix("max_llm_").removeprefix("extraction_"): value
        for name, value in spending_of(row=row).items()
    }
    return Extraction(**own)


def is_within(*, value: object, bounds: tuple[float, float]) -> bool:
    """Say whether a setting is a number within its bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return bounds[0] <= value <= bounds[1]


def _visible_projects(caller: Caller) -> QuerySet[Project]:
    sight = visibility.sight_of(caller=caller)
    return Project.objects.filter(visibility.projects_q(sight=sight))


def _visible_changes(caller: Caller, project: str | None) -> QuerySet[Change]:
    sight = visibility.sight_of(caller=caller)
    rows = Change.objects.filter(visibility.as_q(sight=sight))
    if project is None:
        return rows
    return rows.filter(project_id=find_project(caller=caller, ref=project).id)


def _change_view(row: Change) -> ChangeView:
    return ChangeView(
        id=row.id,
        kind=row.kind,
        object_id=row.object_id,
        project_id=row.project_id,
        actor_user=row.actor_user,
        actor_name=row.actor_name,
        source_interface=row.source_interface,
        summary=row.summary,
        created_at=row.created_at,
    )
