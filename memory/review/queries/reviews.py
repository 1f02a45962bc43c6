"""Read the review inbox: what waits for whom, one item with what is like it, what was decided.

A memory waits while somebody should look at it and nobody has; who snoozed it does not see it until
its moment. A conflict waits until it is settled, likewise. What waits of one import is what came
with it, and the conflicts that it brought. All of it is of memories that the caller may see (spec
9.2).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Case, Count, Min, Q, QuerySet, Value, When

from accounts import tenancy
from accounts.caller import Caller, is_person
from memory.documents.queries import imports
from memory.documents.queries.imports import ImportView
from memory.records import verdicts
from memory.records.models import Memory
from memory.records.queries import memories
from memory.records.queries.relations import Contradiction
from memory.records.queries.views import MemoryView, countable
from memory.records.verdict_models import ReviewVerdict
from memory.records.verdicts import Group, Proposal, Proposer, Suggestion, Verdict, Waiting
from memory.review.queries import conflicts
from memory.review.queries.conflicts import ConflictView
from memory.review.queries.pending import STALE, TAINTED, WAITING, awake
from memory.search.queries import Question, find_similar
from memory.taxonomy import Scope, Source, Status, Verification
from teams import queries as places
from teams import visibility

WEEK: Final = timedelta(days=7)
LIKE: Final = 3  # memories that are shown beside an item; ours
ALIKE_FROM: Final = 0.55  # cosine from which another is worth showing; as the Teach panel's
IMPORTED: Final = Q(source=Source.IMPORT.value)
GROUPS: Final[Mapping[Group, Q]] = {  # of what waits; each waits in one
    Group.TAINTED: TAINTED,
    Group.STALE: ~TAINTED & STALE,
    Group.IMPORTS: ~TAINTED & ~STALE & IMPORTED,
    Group.NEW: ~TAINTED & ~STALE & ~IMPORTED,
}
GROUP: Final = Case(
    When(TAINTED, then=Value(Group.TAINTED.value)),
    When(STALE, then=Value(Group.STALE.value)),
    When(IMPORTED, then=Value(Group.IMPORTS.value)),
    default=Value(Group.NEW.value),
)
ANYWHERE: Final = Question(
    model="",
    vector=None,
    words="",
    projects=None,
    type_codes=None,
    moment=None,
    dense_limit=0,
    keyword_limit=0,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DuePlace:
    """Where a page starts: after this memory or conflict, the longest waiting first."""

    since: datetime
    item_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A memory that waits, and in which group; of a conflict the newer one, and the conflict."""

    memory: MemoryView
    group: Group
    conflict: ConflictView | None = None

    @property
    def place(self) -> DuePlace:
        """Return where it stands in the list."""
        if self.conflict is not None:
            return DuePlace(since=self.conflict.found_at, item_id=self.conflict.id)
        return DuePlace(since=self.memory.created_at, item_id=self.memory.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class DuePage:
    """Some of what waits, and where the next page starts."""

    items: tuple[Due, ...]
    next_place: DuePlace | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """Which part of what waits is asked for."""

    project: str | None
    group: Group | None
    batch: UUID | None
    after: DuePlace | None
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How much waits for the caller, by group, and since when the oldest does."""

    by_group: Mapping[Group, int]
    total: int
    oldest_at: datetime | None
    minutes_left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """Another memory and how alike it is; `mergeable`: it stands in the same place."""

    memory: MemoryView
    similarity: float
    mergeable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One waiting memory with all it takes to decide. `waits` is False once somebody has.

    `sides` contradict it.
    """

    memory: MemoryView
    sides: tuple[Contradiction, ...]
    group: Group
    waits: bool
    alike: tuple[Alike, ...]
    suggestion: Suggestion
    may_keep: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What was decided in a week: of memories by verdict, and conflicts that were settled."""

    by_verdict: Mapping[Verdict, int]
    settled: int
    total: int


def counts(
    *, caller: Caller, project: str | None, now: datetime, batch: UUID | None = None
) -> Counts:
    """Count what waits for the caller, in a project or everywhere, or of one import.

    Raises NotFound.
    """
    with tenancy.unit():
        rows = due(caller=caller, project=project, batch=batch, now=now)
        found = (
            rows.annotate(group=GROUP)
            .values("group")
            .annotate(n=Count("id"), oldest=Min("created_at"))
        )
        groups = tuple(found.order_by("group"))
        brought = _brought(batch)
        disputed, since = conflicts.tally(caller=caller, project=project, among=brought, now=now)
    by_group = {Group(one["group"]): int(one["n"]) for one in groups}
    by_group[Group.CONFLICTS] = disputed
    total = sum(by_group.values())
    moments = (one["oldest"] for one in groups)
    return Counts(
        by_group={group: by_group.get(group, 0) for group in Group},
        total=total,
        oldest_at=min((one for one in (*moments, since) if one is not None), default=None),
        minutes_left=verdicts.minutes_left(memories=total),
    )


def page(
    *,
    caller: Caller,
    project: str | None,
    group: Group | None,
    after: DuePlace | None,
    limit: int,
    now: datetime,
    batch: UUID | None = None,
) -> DuePage:
    """Return at most `limit` of what waits, the longest waiting first. Raises NotFound."""
    asked = _Asked(project=project, group=group, batch=batch, after=after, limit=limit + 1)
    with tenancy.unit():
        told, disputed = _memories(caller, asked, now), _conflicts(caller, asked, now)
    found = sorted((*told, *disputed), key=lambda one: (one.place.since, one.place.item_id))
    items = tuple(found[:limit])
    has_more = len(found) > len(items) > 0
    return DuePage(items=items, next_place=items[-1].place if has_more else None)


def item(*, caller: Caller, memory_id: UUID, now: datetime) -> Item:
    """Return one memory as the inbox shows it, also when it waits no more. Raises NotFound."""
    with tenancy.unit():
        row = memories.find_memory(caller=caller, memory_id=memory_id)
        view = memories.get(caller=caller, memory_id=memory_id, now=now)
        sides = memories.sides(caller=caller, memory=view)
        alike = _alike(caller, row, now)
    group = group_of(row=row)
    waiting = Waiting(
        group=group or Group.NEW,
        verification=Verification(row.verification),
        confidence=view.effective_confidence,
        confirmations=row.confirmations,
        nearest=next((one.similarity for one in alike if one.mergeable), None),
    )
    return Item(
        memory=view,
        sides=sides,
        group=group or Group.NEW,
        waits=group is not None,
        alike=alike,
        suggestion=verdicts.suggest(waiting=waiting),
        may_keep=may_keep(caller=caller, row=row),
    )


def decided(*, caller: Caller, project: str | None, now: datetime) -> Decided:
    """Count what was decided in the last seven days about memories the caller may see.

    Raises NotFound.
    """
    with tenancy.unit():
        rows = _of_project(countable(caller=caller), caller, project)
        found = ReviewVerdict.objects.filter(
            memory__in=rows, undone_at__isnull=True, decided_at__gte=now - WEEK
        ).exclude(verdict__in=(*verdicts.BESIDE, Verdict.ROLL_BACK.value))
        names = Counter(found.order_by("id").values_list("verdict", flat=True))
        settled = conflicts.count_settled(caller=caller, project=project, since=now - WEEK)
    return Decided(
        by_verdict={Verdict(name): count for name, count in sorted(names.items())},
        settled=settled,
        total=sum(names.values()) + settled,
    )


def due_ids(
    *,
    caller: Caller,
    project: str | None,
    group: Group | None,
    most: int,
    now: datetime,
    batch: UUID | None = None,
) -> tuple[UUID, ...]:
    """Return the ids of memories that wait in a group, at most so many, in their order.

    Conflicts are decided one by one. Raises NotFound.
    """
    if group is Group.CONFLICTS:
        return ()
    with tenancy.unit():
        rows = due(caller=caller, project=project, batch=batch, now=now)
        if group is not None:
            rows = rows.filter(GROUPS[group])
        return tuple(rows.order_by("created_at", "id").values_list("id", flat=True)[:most])


def by_import(
    *, caller: Caller, project: str, limit: int, now: datetime
) -> tuple[tuple[ImportView, int], ...]:
    """Return the newest imports of which memories wait, and how many do. Raises NotFound."""
    with tenancy.unit():
        rows = due(caller=caller, project=project, batch=None, now=now)
        return imports.of_which(caller=caller, project=project, due=rows, limit=limit, now=now)


def group_of(*, row: Memory) -> Group | None:
    """Return why a memory waits, the same as the counts say; None when it does not."""
    if row.status != Status.ACTIVE:
        return None
    if row.taint_reason:
        return Group.TAINTED
    if row.verification in {Verification.STALE, Verification.CONTRADICTED} or row.stale_at:
        return Group.STALE
    if not row.needs_review:
        return None
    return Group.IMPORTS if row.source == Source.IMPORT else Group.NEW


def may_keep(*, caller: Caller, row: Memory) -> bool:
    """Say whether the caller may approve a memory."""
    proposal = Proposal(
        proposer=_proposer(caller, row),
        scope=Scope(row.scope),
        source=Source(row.source),
        is_tainted=bool(row.taint_reason),
    )
    return verdicts.may_approve(proposal=proposal, in_person=is_person(caller=caller))


def _proposer(caller: Caller, row: Memory) -> Proposer:
    if caller.user_id is None or row.author_user != caller.user_id:
        same_agent = caller.user_id is None and row.author_user is None
        return Proposer.OWN_AGENT if same_agent else Proposer.SOMEBODY_ELSE
    return Proposer.OWN_AGENT if row.author_agent else Proposer.SELF


def due(
    *, caller: Caller, project: str | None, batch: UUID | None, now: datetime
) -> QuerySet[Memory]:
    """Return the rows that wait for the caller. In a unit. Raises NotFound."""
    rows = _of_project(countable(caller=caller), caller, project)
    if batch is not None:
        imports.check_visible(caller=caller, batch_id=batch)
        rows = rows.filter(id__in=imports.came(batch_id=batch))
    return rows.filter(WAITING, awake(caller=caller, now=now), status=Status.ACTIVE.value)


def _memories(caller: Caller, asked: _Asked, now: datetime) -> tuple[Due, ...]:
    """Return the memories that have waited longest. In a unit."""
    after = asked.after
    if asked.group is Group.CONFLICTS:
        return ()
    rows = due(caller=caller, project=asked.project, batch=asked.batch, now=now)
    if asked.group is not None:
        rows = rows.filter(GROUPS[asked.group])
    if after is not None:
        same = Q(created_at=after.since, id__gt=after.item_id)
        rows = rows.filter(Q(created_at__gt=after.since) | same)
    told = rows.annotate(group=GROUP).order_by("created_at", "id")
    found = tuple(told.values_list("id", "group")[: asked.limit])
    ids = tuple(one for one, _ in found)
    views = memories.by_ids(caller=caller, memory_ids=ids, now=now) if ids else {}
    return tuple(Due(memory=views[one], group=Group(name)) for one, name in found if one in views)


def _conflicts(caller: Caller, asked: _Asked, now: datetime) -> tuple[Due, ...]:
    """Return the conflicts that have waited longest. In a unit."""
    after = asked.after
    if asked.group not in {None, Group.CONFLICTS}:
        return ()
    found = conflicts.waiting(
        caller=caller,
        project=asked.project,
        among=_brought(asked.batch),
        after=None if after is None else (after.since, after.item_id),
        limit=asked.limit,
        now=now,
    )
    return tuple(Due(memory=one.newer, group=Group.CONFLICTS, conflict=one) for one in found)


def _brought(batch: UUID | None) -> Q:
    """Return the condition that a conflict came with an import, none without one."""
    return Q() if batch is None else Q(newer__in=imports.came(batch_id=batch))


def _of_project(rows: QuerySet[Memory], caller: Caller, project: str | None) -> QuerySet[Memory]:
    if project is None:
        return rows
    return rows.filter(project_id=places.find_project(caller=caller, ref=project).id)


def _alike(caller: Caller, row: Memory, now: datetime) -> tuple[Alike, ...]:
    """Return what is likest by meaning, what it can be merged into before the rest. In a unit."""
    sight = visibility.sight_of(caller=caller)
    near = dict(find_similar(memory_id=row.id, question=ANYWHERE, limit=LIKE, sight=sight))
    if not near:
        return ()
    views = memories.by_ids(caller=caller, memory_ids=tuple(near), now=now)
    audiences = dict(
        countable(caller=caller).filter(id__in=views).order_by("id").values_list("id", "audience")
    )
    found = (
        Alike(
            memory=views[one],
            similarity=round(value, 4),
            mergeable=views[one].project_id == row.project_id and audiences[one] == row.audience,
        )
        for one, value in near.items()
        if one in views and value >= ALIKE_FROM
    )
    return tuple(sorted(found, key=lambda one: (not one.mergeable, -one.similarity)))
