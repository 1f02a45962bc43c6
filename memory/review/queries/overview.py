"""Figures of a project's memory, counted when asked; nothing is estimated.

A figure whose source does not exist yet is absent, never guessed. Every count passes the same
visibility as reading the memories would.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import (
    Case,
    Count,
    F,
    Func,
    Max,
    Min,
    Q,
    QuerySet,
    Value,
    When,
)

from accounts import tenancy
from accounts.caller import Caller
from memory.experiments.queries import experiments
from memory.experiments.uplift import Saved
from memory.index.models import MemoryUsage
from memory.records.health import Health, HealthCounts, health
from memory.records.models import Memory, MemoryLink
from memory.records.queries import memories
from memory.records.queries.views import MemoryView, countable
from memory.review.queries import alarms, conflicts
from memory.review.queries.alarms import Alarmed
from memory.review.queries.pending import STALE, TAINTED, WAITING, awake
from memory.taxonomy import LinkKind, Status, Verification
from teams import queries as places
from teams import visibility
from teams.models import Project
from teams.queries import experiments_in

WEEK = timedelta(days=7)
MONTH = timedelta(days=30)
MOST_ATTENTION = 5  # rows
MOST_PLACES = 5  # rows of the table of modules, ours

ACTIVE = Q(status=Status.ACTIVE.value)
VERIFIED = Q(verification=Verification.VERIFIED.value) | Q(user_verified=True)
REASONS = ("contradicted", "tainted", "stale", "review")  # the most urgent first


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts of active memories; `due` is how many wait in the caller's review inbox."""

    memories: int
    added_in_week: int
    used_in_month: int
    needs_review: int
    due: int
    oldest_review_at: datetime | None
    verified: int
    stale: int
    corrected_in_month: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Counts that stand beside every page of a project; `due` as in `Tally`."""

    memories: int
    due: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """A memory someone should look at, and why: "contradicted", "tainted", "stale", "review"."""

    reason: str
    memory: MemoryView


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A module, and how many memories are about it."""

    name: str
    memories: int
    verified: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewView:
    """What the first page of a project says; alarms only to who settles things.

    `saved` is None where sessions are not compared, or too few of them that the caller may know of.
    """

    tally: Tally
    health: Health | None
    saved: Saved | None
    attention: tuple[Attention, ...]
    alarms: tuple[Alarmed, ...]
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectTally:
    """What the card of a project says."""

    project_id: UUID
    memories: int
    due: int
    last_change_at: datetime | None


def overview(*, caller: Caller, project: str, now: datetime) -> OverviewView:
    """Return the figures of a project. Raises NotFound for a project the caller cannot see."""
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project)
        rows = countable(caller=caller).filter(ACTIVE, project_id=place.id)
        tally = _with_conflicts(_tally(rows, caller, now), caller, project, now)
        return OverviewView(
            tally=tally,
            health=health(counts=_health_counts(tally)),
            saved=_saved(caller, place, now),
            attention=_attention(rows, caller, now),
            alarms=alarms.of_project(caller=caller, project_id=place.id, rows=rows, now=now),
            places=_places(rows),
        )


def tally(*, caller: Caller, project: str, now: datetime) -> Tally:
    """Return the counts of a project alone. Raises NotFound."""
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project)
        rows = countable(caller=caller).filter(ACTIVE, project_id=place.id)
        return _with_conflicts(_tally(rows, caller, now), caller, project, now)


def beside(*, caller: Caller, project_id: UUID, now: datetime) -> Beside:
    """Return what stands beside every page of a project that the caller sees: two statements."""
    with tenancy.unit():
        rows = countable(caller=caller).filter(ACTIVE, project_id=project_id)
        due = WAITING & awake(caller=caller, now=now)
        found = rows.aggregate(memories=Count("id"), due=Count("id", filter=due))
        here = Q(project_id=project_id)
        disputed, _ = conflicts.tally(caller=caller, project=None, among=here, now=now)
        return Beside(memories=found["memories"], due=found["due"] + disputed)


def by_project(*, caller: Caller, now: datetime) -> tuple[ProjectTally, ...]:
    """Return the counts of every project that has a visible memory, by project id."""
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        rows = Memory.objects.filter(visibility.as_q(sight=sight), ACTIVE, project__isnull=False)
        groups = rows.values("project_id").annotate(
            memories=Count("id"),
            due=Count("id", filter=WAITING & awake(caller=caller, now=now)),
            last=Max("updated_at"),
        )
        disputed = conflicts.count_by_project(caller=caller, now=now)
        return tuple(
            ProjectTally(
                project_id=group["project_id"],
                memories=group["memories"],
                due=group["due"] + disputed.get(group["project_id"], 0),
                last_change_at=group["last"],
            )
            for group in groups.order_by("project_id")
        )


def _saved(caller: Caller, place: Project, now: datetime) -> Saved | None:
    """Return what memory saved, as the page of experiments tells it, where it is compared."""
    if not experiments_in(project=place).enabled:
        return None
    days = experiments.USUAL_DAYS
    return experiments.report(caller=caller, project=place.slug, days=days, now=now).saved


def _tally(rows: QuerySet[Memory], caller: Caller, now: datetime) -> Tally:
    due = WAITING & awake(caller=caller, now=now)
    corrections = MemoryLink.objects.filter(
        source__in=rows, kind=LinkKind.SUPERSEDES.value, created_at__gte=now - MONTH
    )
    used = MemoryUsage.objects.filter(memory__in=rows, last_accessed_at__gte=now - MONTH)
    found = rows.aggregate(
        memories=Count("id"),
        added_in_week=Count("id", filter=Q(created_at__gte=now - WEEK)),
        oldest_review_at=Min("created_at", filter=due),
        due=Count("id", filter=due),
        waiting=Count("id", filter=Q(needs_review=True)),
        verified=Count("id", filter=VERIFIED),
        stale=Count("id", filter=STALE),
    )
    corrected = corrections.values("source_id").distinct().count()
    return Tally(
        needs_review=found.pop("waiting"),
        used_in_month=used.count(),
        corrected_in_month=corrected,
        **found,
    )


def _with_conflicts(tally: Tally, caller: Caller, project: str, now: datetime) -> Tally:
    """Add the conflicts that wait in the inbox."""
    count, since = conflicts.tally(caller=caller, project=project, among=Q(), now=now)
    oldest = min((one for one in (tally.oldest_review_at, since) if one), default=None)
    return replace(tally, due=tally.due + count, oldest_review_at=oldest)


def _health_counts(tally: Tally) -> HealthCounts:
    return HealthCounts(
        modules=0,
        modules_covered=0,
        memories=tally.memories,
        verified=tally.verified,
        stale=tally.stale,
        awaiting_review=tally.needs_review,
        disputed=0,
        corrected_in_30_days=tally.corrected_in_month,
    )


def _attention(rows: QuerySet[Memory], caller: Caller, now: datetime) -> tuple[Attention, ...]:
    urgency = Case(
        When(verification=Verification.CONTRADICTED.value, then=Value(0)),
        When(TAINTED, then=Value(1)),
        When(STALE, then=Value(2)),
        default=Value(3),
    )
    waiting = rows.filter(WAITING).annotate(urgency=urgency)
    first = waiting.order_by("urgency", "-importance", "id").values_list("id", "urgency")
    reasons = {key: REASONS[place] for key, place in first[:MOST_ATTENTION]}
    views = memories.by_ids(caller=caller, memory_ids=tuple(reasons), now=now) if reasons else {}
    return tuple(
        Attention(reason=reason, memory=views[key])
        for key, reason in reasons.items()
        if key in views
    )


def _places(rows: QuerySet[Memory]) -> tuple[Place, ...]:
    groups = (
        rows.exclude(related_modules=[])
        .annotate(module=Func(F("related_modules"), function="unnest"))
        .values("module")
        .annotate(memories=Count("id"), verified=Count("id", filter=VERIFIED))
        .order_by("-memories", "module")[:MOST_PLACES]
    )
    return tuple(
        Place(name=group["module"], memories=group["memories"], verified=group["verified"])
        for group in groups
    )
