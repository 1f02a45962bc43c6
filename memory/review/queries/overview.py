"""Figures of a project's memory, counted when asked; nothing is estimated.

A figure whose source does not exist yet is absent, never guessed. Every count passes the same
visibility as reading the memories would. Alarms are shown to who settles things.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import models
from django.db.models.functions import Cast

from accounts import tenancy
from accounts.caller import Caller
from memory.experiments import queries as experiments
from memory.index.models import MemoryUsage
from memory.intake.echoes_and_alarms import ALARM, ALARM_BURST, ALARM_DOMINANT
from memory.records.formulas import Factor, checked_share, total
from memory.records.models import Memory, MemoryLink
from memory.records.queries import memories, pending, views
from memory.review.queries import conflicts
from memory.sessions.models import Statistic
from memory.taxonomy import LinkKind, Status, Verification
from teams import queries as places
from teams import visibility
from teams.permissions import Act, allows

# Health of a project's memory, 0..100, as a sum of named parts that are always shown.
#
# Each part is a share 0..1 times its weight. Backlogs count against a limit: at the limit the
# part is worth nothing. Weights and limits are defaults that nobody measured.

VERIFIED_WEIGHT: Final = 20.0
FRESH_WEIGHT: Final = 20.0
REVIEW_WEIGHT: Final = 15.0
CORRECTION_WEIGHT: Final = 10.0
REVIEW_LIMIT: Final = 0.20  # share of memories waiting for review
CORRECTION_LIMIT: Final = 0.10  # share of memories corrected in 30 days
FULL_SCORE: Final = 100.0  # points


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """A score 0..100, the points of each part, and the most that each part could give."""

    value: float
    parts: tuple[Factor, ...]
    attainable: tuple[Factor, ...]


def health(
    *, memories: int, verified: int, stale: int, awaiting_review: int, corrected: int
) -> Health | None:
    """Score a project by counts of its active memories; None while it has none.

    `corrected`: in the last 30 days. Raises ValueError for counts larger than their whole.
    """
    if memories == 0:
        return None
    counts = {
        "verified": verified,
        "stale": stale,
        "awaiting_review": awaiting_review,
        "corrected": corrected,
    }
    share = {name: checked_share(name=name, value=n / memories) for name, n in counts.items()}
    review = 1.0 - min(1.0, share["awaiting_review"] / REVIEW_LIMIT)
    corrections = 1.0 - min(1.0, share["corrected"] / CORRECTION_LIMIT)
    weighted = (
        ("verified", VERIFIED_WEIGHT, share["verified"]),
        ("not stale", FRESH_WEIGHT, 1.0 - share["stale"]),
        ("review backlog", REVIEW_WEIGHT, review),
        ("correction rate", CORRECTION_WEIGHT, corrections),
    )
    scale = FULL_SCORE / sum(weight for _, weight, _ in weighted)
    parts = tuple(Factor(name=name, value=scale * weight * part) for name, weight, part in weighted)
    attainable = tuple(Factor(name=name, value=scale * weight) for name, weight, _ in weighted)
    return Health(value=total(factors=parts), parts=parts, attainable=attainable)


WEEK = timedelta(days=7)
MONTH = timedelta(days=30)
MOST_ATTENTION = 5  # rows
MOST_MODULES = 5  # rows of the table of modules; default, not measured
ALARM_DAYS: Final = timedelta(days=30)  # that an alarm is shown; default, not measured
ALARMS_READ: Final = 100  # the newest; default, not measured
MOST_ALARMS: Final = 5  # rows
URGENT: Final = ("orders", "command", ALARM_BURST, ALARM_DOMINANT, "address")  # most urgent first

ACTIVE = models.Q(status=Status.ACTIVE.value)
VERIFIED = models.Q(verification=Verification.VERIFIED.value) | models.Q(user_verified=True)
REASONS = ("contradicted", "tainted", "stale", "review")  # the most urgent first


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectCounts:
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


def overview(*, caller: Caller, project: str, now: datetime) -> dict[str, Any]:
    """Return the figures of a project: its counts, health, tokens saved, and what needs attention.

    `attention` names a memory and why it is urgent, `alarms` a memory and what rang about it,
    `places` the modules that most memories name. Raises NotFound for a project the caller cannot
    see.
    """
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project)
        rows = views.countable(caller=caller).filter(ACTIVE, project_id=place.id)
        tally = _count(rows, caller, project, now)
        saved = None
        if places.experiments_in(project=place).enabled:
            saved = experiments.report(
                caller=caller, project=place.slug, days=experiments.USUAL_DAYS, now=now
            ).saved
        return {
            "tally": tally,
            "health": health(
                memories=tally.memories,
                verified=tally.verified,
                stale=tally.stale,
                awaiting_review=tally.needs_review,
                corrected=tally.corrected_in_month,
            ),
            "saved": saved,
            "attention": _list_attention(rows, caller, now),
            "alarms": _list_alarms(caller, place.id, rows, now),
            "places": tuple(
                rows.exclude(related_modules=[])
                .annotate(name=models.Func(models.F("related_modules"), function="unnest"))
                .values("name")
                .annotate(memories=models.Count("id"))
                .order_by("-memories", "name")[:MOST_MODULES]
            ),
        }


def count_project(*, caller: Caller, project: str, now: datetime) -> ProjectCounts:
    """Return the counts of a project alone. Raises NotFound."""
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project)
        rows = views.countable(caller=caller).filter(ACTIVE, project_id=place.id)
        return _count(rows, caller, project, now)


def count_for_frame(*, caller: Caller, project_id: UUID, now: datetime) -> dict[str, int]:
    """Return the counts in the frame of a project's pages: two statements. In a unit of its own."""
    with tenancy.unit():
        rows = views.countable(caller=caller).filter(ACTIVE, project_id=project_id)
        due = pending.WAITING & pending.is_awake(caller=caller, now=now)
        found = rows.aggregate(memories=models.Count("id"), due=models.Count("id", filter=due))
        here = models.Q(project_id=project_id)
        disputed, _ = conflicts.count_due(caller=caller, project=None, among=here, now=now)
        return {"memories": found["memories"], "due": found["due"] + disputed}


def count_by_project(*, caller: Caller, now: datetime) -> dict[UUID, dict[str, Any]]:
    """Return the counts of every project that has a visible memory: memories, due, last change."""
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        rows = Memory.objects.filter(visibility.as_q(sight=sight), ACTIVE, project__isnull=False)
        groups = rows.values("project_id").annotate(
            memories=models.Count("id"),
            due=models.Count(
                "id", filter=pending.WAITING & pending.is_awake(caller=caller, now=now)
            ),
            last_change_at=models.Max("updated_at"),
        )
        disputed = conflicts.count_due_by_project(caller=caller, now=now)
        return {
            one["project_id"]: {**one, "due": one["due"] + disputed.get(one["project_id"], 0)}
            for one in groups.order_by("project_id")
        }


def _count(
    rows: models.QuerySet[Memory], caller: Caller, project: str, now: datetime
) -> ProjectCounts:
    """Count memories, and the conflicts that wait in the inbox."""
    due = pending.WAITING & pending.is_awake(caller=caller, now=now)
    corrections = MemoryLink.objects.filter(
        source__in=rows, kind=LinkKind.SUPERSEDES.value, created_at__gte=now - MONTH
    )
    used = MemoryUsage.objects.filter(memory__in=rows, last_given_at__gte=now - MONTH)
    found = rows.aggregate(
        memories=models.Count("id"),
        added_in_week=models.Count("id", filter=models.Q(created_at__gte=now - WEEK)),
        oldest_review_at=models.Min("created_at", filter=due),
        due=models.Count("id", filter=due),
        waiting=models.Count("id", filter=models.Q(needs_review=True)),
        verified=models.Count("id", filter=VERIFIED),
        stale=models.Count("id", filter=pending.STALE),
    )
    corrected = corrections.values("source_id").distinct().count()
    disputed, since = conflicts.count_due(caller=caller, project=project, among=models.Q(), now=now)
    oldest = (one for one in (found.pop("oldest_review_at"), since) if one)
    return ProjectCounts(
        needs_review=found.pop("waiting"),
        due=found.pop("due") + disputed,
        oldest_review_at=min(oldest, default=None),
        used_in_month=used.count(),
        corrected_in_month=corrected,
        **found,
    )


def _list_attention(
    rows: models.QuerySet[Memory], caller: Caller, now: datetime
) -> tuple[dict[str, Any], ...]:
    urgency = models.Case(
        models.When(verification=Verification.CONTRADICTED.value, then=models.Value(0)),
        models.When(pending.TAINTED, then=models.Value(1)),
        models.When(pending.STALE, then=models.Value(2)),
        default=models.Value(3),
    )
    waiting = rows.filter(pending.WAITING).annotate(urgency=urgency)
    first = waiting.order_by("urgency", "-importance", "id").values_list("id", "urgency")
    reasons = {key: REASONS[place] for key, place in first[:MOST_ATTENTION]}
    found = memories.by_ids(caller=caller, memory_ids=tuple(reasons), now=now) if reasons else {}
    return tuple(
        {"reason": reason, "memory": found[key]} for key, reason in reasons.items() if key in found
    )


def _list_alarms(
    caller: Caller, project_id: UUID, rows: models.QuerySet[Memory], now: datetime
) -> tuple[dict[str, Any], ...]:
    """Return the alarms about some active memories that the caller sees. In a unit.

    Nothing for who settles nothing; what a person has vouched for meanwhile alarms no more.
    """
    if not allows(role=caller.role, act=Act.SETTLE):
        return ()
    kept = Statistic.objects.filter(
        kind=ALARM, project_id=project_id, updated_at__gte=now - ALARM_DAYS
    )
    memory_id = models.Case(models.When(kind=ALARM, then=Cast("key", models.UUIDField())))
    seen = rows.filter(pk=models.OuterRef("memory_id"), user_verified=False)
    found = (
        kept.alias(memory_id=memory_id).filter(models.Exists(seen)).order_by("-updated_at", "key")
    )
    newest = found.values_list("key", "counts")[:ALARMS_READ]
    rang = {UUID(key): tuple(one for one in URGENT if one in counts) for key, counts in newest}
    ids = sorted(rang, key=lambda one: (URGENT.index(rang[one][0]), one))[:MOST_ALARMS]
    shown = memories.by_ids(caller=caller, memory_ids=tuple(ids), now=now) if ids else {}
    return tuple({"memory": shown[one], "alarms": rang[one]} for one in ids if one in shown)
