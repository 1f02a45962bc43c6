"""Read the review inbox: what waits for whom, one memory in detail, what was decided.

A memory waits while somebody should look at it and nobody has; who snoozed it does not see it until
then. A conflict waits until it is settled, likewise. What waits of one import (`imported`, the ids
of its memories) is what came with it, and the conflicts that it brought. All of it is of memories
that the caller may see.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Case, Count, Min, Q, QuerySet, Value, When

from accounts import tenancy
from accounts.caller import Caller
from memory.records.models import BESIDE, Memory, ReviewVerdict
from memory.records.queries import memories, pending
from memory.records.queries.pending import STALE, TAINTED, WAITING, Group, SuggestedVerdict
from memory.records.queries.views import Contradiction, MemoryView, countable
from memory.review.queries import conflicts
from memory.review.queries.conflicts import ConflictView
from memory.search.queries import find_similar
from memory.search.request import Narrowing, narrowed_question
from memory.sessions import queries as sessions
from memory.sessions.models import Session
from memory.taxonomy import Source, Status, Verdict
from teams import queries as places
from teams import visibility
from teams.permissions import Act, require

WEEK: Final = timedelta(days=7)
MOST_SIMILAR: Final = 3  # memories shown beside a waiting one; default, not measured
SIMILAR_FROM: Final = 0.55  # cosine from which another is worth showing; as the Teach panel's
IMPORTED: Final = Q(source=Source.IMPORT.value)
GROUP: Final = Case(  # of what waits; each waits in one
    When(TAINTED, then=Value(Group.TAINTED.value)),
    When(STALE, then=Value(Group.STALE.value)),
    When(IMPORTED, then=Value(Group.IMPORTS.value)),
    default=Value(Group.NEW.value),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxPosition:
    """Where a page starts: after this memory or conflict, the longest waiting first."""

    since: datetime
    item_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    """A memory that waits, and in which group; of a conflict the newer one, and the conflict."""

    memory: MemoryView
    group: Group
    conflict: ConflictView | None = None

    @property
    def place(self) -> InboxPosition:
        """Return its position in the list."""
        if self.conflict is not None:
            return InboxPosition(since=self.conflict.found_at, item_id=self.conflict.id)
        return InboxPosition(since=self.memory.created_at, item_id=self.memory.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxPage:
    """Some of what waits, and where the next page starts."""

    items: tuple[InboxItem, ...]
    next_place: InboxPosition | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxCounts:
    """How much waits for the caller, by group, and since when the oldest does."""

    by_group: Mapping[Group, int]
    total: int
    oldest_at: datetime | None
    minutes_left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarMemory:
    """Another memory and how similar it is; `mergeable`: of the same project and people."""

    memory: MemoryView
    similarity: float
    mergeable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingMemory:
    """One waiting memory with all it takes to decide. `waits` is False once somebody has.

    `sides` contradict it.
    """

    memory: MemoryView
    sides: tuple[Contradiction, ...]
    group: Group
    waits: bool
    alike: tuple[SimilarMemory, ...]
    suggestion: SuggestedVerdict
    may_keep: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WeeklyVerdicts:
    """What was decided in a week: of memories by verdict, and conflicts that were settled."""

    by_verdict: Mapping[Verdict, int]
    settled: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingSession:
    """A session, and how many of its memories wait for the caller."""

    id: UUID
    agent: str
    source_interface: str
    opened_at: datetime
    count: int


def count_waiting(
    *,
    caller: Caller,
    project: str | None,
    now: datetime,
    imported: QuerySet[Any] | None = None,
) -> InboxCounts:
    """Count what waits for the caller, in a project or everywhere, or of one import.

    Raises NotFound.
    """
    with tenancy.unit():
        rows = waiting_rows(caller=caller, project=project, imported=imported, now=now)
        found = rows.annotate(group=GROUP).values("group").order_by("group")
        groups = tuple(found.annotate(n=Count("id"), oldest=Min("created_at")))
        brought = Q() if imported is None else Q(newer__in=imported)
        disputed, since = conflicts.count_due(
            caller=caller, project=project, among=brought, now=now
        )
    by_group = {Group(one["group"]): int(one["n"]) for one in groups}
    by_group[Group.CONFLICTS] = disputed
    total = sum(by_group.values())
    times = (one["oldest"] for one in groups)
    return InboxCounts(
        by_group={group: by_group.get(group, 0) for group in Group},
        total=total,
        oldest_at=min((one for one in (*times, since) if one is not None), default=None),
        minutes_left=pending.minutes_left(memories=total),
    )


def list_waiting(
    *,
    caller: Caller,
    project: str | None,
    group: Group | None,
    after: InboxPosition | None,
    limit: int,
    now: datetime,
    imported: QuerySet[Any] | None = None,
) -> InboxPage:
    """Return at most `limit` of what waits, the longest waiting first. Raises NotFound."""
    found: list[InboxItem] = []
    with tenancy.unit():
        if group is not Group.CONFLICTS:
            rows = waiting_rows(caller=caller, project=project, imported=imported, now=now)
            found.extend(_list_memories(caller, rows, group, after, limit + 1, now))
        if group in {None, Group.CONFLICTS}:
            disputed = conflicts.list_due(
                caller=caller,
                project=project,
                among=Q() if imported is None else Q(newer__in=imported),
                after=None if after is None else (after.since, after.item_id),
                limit=limit + 1,
                now=now,
            )
            found.extend(
                InboxItem(memory=one.newer, group=Group.CONFLICTS, conflict=one) for one in disputed
            )
    found.sort(key=lambda one: (one.place.since, one.place.item_id))
    items = tuple(found[:limit])
    has_more = len(found) > len(items) > 0
    return InboxPage(items=items, next_place=items[-1].place if has_more else None)


def waiting_ids(
    *,
    caller: Caller,
    project: str | None,
    group: Group | None,
    most: int,
    now: datetime,
    imported: QuerySet[Any] | None = None,
) -> tuple[UUID, ...]:
    """Return the ids of memories that wait in a group, at most so many, in their order.

    Conflicts are decided one by one. Raises NotFound.
    """
    if group is Group.CONFLICTS:
        return ()
    with tenancy.unit():
        rows = waiting_rows(caller=caller, project=project, imported=imported, now=now)
        if group is not None:
            rows = rows.annotate(group=GROUP).filter(group=group.value)
        return tuple(rows.order_by("created_at", "id").values_list("id", flat=True)[:most])


def waiting_memory(*, caller: Caller, memory_id: UUID, now: datetime) -> WaitingMemory:
    """Return one memory as the inbox shows it, also when it waits no more. Raises NotFound."""
    with tenancy.unit():
        row = memories.find_memory(caller=caller, memory_id=memory_id)
        view, sides = memories.get_together(caller=caller, memory_id=memory_id, now=now)
        alike = _find_similar(caller, row, now)
    waits_in = pending.group_of(row=row)
    group = waits_in or Group.NEW
    return WaitingMemory(
        memory=view,
        sides=sides,
        group=group,
        waits=waits_in is not None,
        alike=alike,
        suggestion=pending.suggest(
            row=row,
            group=group,
            confidence=view.effective_confidence,
            nearest=next((one.similarity for one in alike if one.mergeable), None),
        ),
        may_keep=pending.may_approve(caller=caller, row=row),
    )


def waiting_sessions(
    *, caller: Caller, project: str, limit: int, now: datetime
) -> tuple[WaitingSession, ...]:
    """Return the newest sessions of a project of which something waits.

    Of sessions and memories that the caller may see. Raises NotFound for a project not to be seen.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project)
        seen = sessions.of_project(caller=caller, project_id=place.id)
        due = waiting_rows(caller=caller, project=project, imported=None, now=now)
        due = due.filter(session_id__in=seen.order_by().values("id"))
        found = due.order_by().values("session_id").annotate(count=Count("pk"))
        counts: dict[Any, int] = {one["session_id"]: one["count"] for one in found}
        rows = Session.objects.filter(pk__in=counts).order_by("-opened_at", "id")[:limit]
        names = ("id", "agent", "source_interface", "opened_at")
        return tuple(
            WaitingSession(**{name: getattr(row, name) for name in names}, count=counts[row.id])
            for row in rows.only(*names)
        )


def count_decided(*, caller: Caller, project: str | None, now: datetime) -> WeeklyVerdicts:
    """Count what was decided in the last seven days about memories the caller may see.

    Raises NotFound.
    """
    with tenancy.unit():
        rows = _of_project(countable(caller=caller), caller, project)
        found = ReviewVerdict.objects.filter(
            memory__in=rows, undone_at__isnull=True, decided_at__gte=now - WEEK
        ).exclude(verdict__in=(*BESIDE, Verdict.ROLL_BACK.value))
        names = Counter(found.order_by("id").values_list("verdict", flat=True))
        settled = conflicts.count_settled(caller=caller, project=project, since=now - WEEK)
    return WeeklyVerdicts(
        by_verdict={Verdict(name): count for name, count in sorted(names.items())},
        settled=settled,
        total=sum(names.values()) + settled,
    )


def waiting_rows(
    *, caller: Caller, project: str | None, imported: QuerySet[Any] | None, now: datetime
) -> QuerySet[Memory]:
    """Return the rows that wait for the caller. In a unit. Raises NotFound."""
    rows = _of_project(countable(caller=caller), caller, project)
    if imported is not None:
        rows = rows.filter(id__in=imported)
    awake = pending.is_awake(caller=caller, now=now)
    return rows.filter(WAITING, awake, status=Status.ACTIVE.value)


def _list_memories(
    caller: Caller,
    rows: QuerySet[Memory],
    group: Group | None,
    after: InboxPosition | None,
    limit: int,
    now: datetime,
) -> tuple[InboxItem, ...]:
    """Return the memories that have waited longest. In a unit."""
    rows = rows.annotate(group=GROUP)
    if group is not None:
        rows = rows.filter(group=group.value)
    if after is not None:
        same = Q(created_at=after.since, id__gt=after.item_id)
        rows = rows.filter(Q(created_at__gt=after.since) | same)
    ordered = rows.order_by("created_at", "id")
    found = dict(ordered.values_list("id", "group")[:limit])
    views = memories.by_ids(caller=caller, memory_ids=tuple(found), now=now) if found else {}
    return tuple(
        InboxItem(memory=views[one], group=Group(name))
        for one, name in found.items()
        if one in views
    )


def _of_project(rows: QuerySet[Memory], caller: Caller, project: str | None) -> QuerySet[Memory]:
    if project is None:
        return rows
    return rows.filter(project_id=places.find_project(caller=caller, ref=project).id)


def _find_similar(caller: Caller, row: Memory, now: datetime) -> tuple[SimilarMemory, ...]:
    """Return what is nearest by meaning, what it can be merged into before the rest. In a unit."""
    sight = visibility.sight_of(caller=caller)
    question = narrowed_question(caller=caller, narrowing=Narrowing())
    near = dict(find_similar(memory_id=row.id, question=question, limit=MOST_SIMILAR, sight=sight))
    if not near:
        return ()
    views = memories.by_ids(caller=caller, memory_ids=tuple(near), now=now)
    rows = countable(caller=caller).filter(id__in=views, project=row.project_id)
    mergeable = set(rows.filter(audience=row.audience).values_list("id", flat=True))
    found = (
        SimilarMemory(memory=views[one], similarity=round(value, 4), mergeable=one in mergeable)
        for one, value in near.items()
        if one in views and value >= SIMILAR_FROM
    )
    return tuple(sorted(found, key=lambda one: (not one.mergeable, -one.similarity)))
