"""Imports as the caller may see them: batches, their rows, and what of them waits for review."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from accounts import tenancy
from accounts.caller import Caller, principal
from accounts.errors import NotFound
from accounts.queries import job_list
from accounts.queries.directory import Initiator
from memory.documents.models import Import, ImportRow
from memory.records.queries import pending
from memory.records.queries.views import MemoryView, countable, views_of
from memory.review.queries import inbox
from memory.taxonomy import Status
from teams import queries as places
from teams import visibility

LARGEST_PAGE: Final = 200
WAITING: Final = "waiting"  # rows that have no outcome yet
BUSY: Final = frozenset({"queued", "running"})
FAILED: Final = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportView:
    """One batch. `counts` says how many rows ended how; `to_review` how many memories wait
    for the caller: what is snoozed does not.

    `error` says why one that failed did.
    """

    id: UUID
    name: str
    state: str
    project_id: UUID | None
    scope: str
    files: tuple[Mapping[str, Any], ...]
    total: int
    counts: Mapping[str, int]
    to_review: int
    job_id: UUID | None
    created_by: UUID | None
    agent: str
    created_at: datetime
    ended_at: datetime | None
    error: str
    is_mine: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RowView:
    """What became of one statement; the memory is there if the caller may see it."""

    number: int
    file: str
    line: int | None
    outcome: str
    gate: str
    reason: str
    hint: str
    memory: MemoryView | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPage:
    """Some batches, the newest first, and after which the next page starts."""

    items: tuple[ImportView, ...]
    next_after: UUID | None


def list_imports(
    *, caller: Caller, project: str | None, after: UUID | None, limit: int, now: datetime
) -> ImportPage:
    """Return batches of a project, or of all places. Raises NotFound for a hidden project."""
    size = min(limit, LARGEST_PAGE)
    with tenancy.unit():
        rows = _visible(caller)
        if project is not None:
            rows = rows.filter(project_id=places.find_project(caller=caller, ref=project).id)
        if after is not None:
            rows = rows.filter(id__lt=after)
        found = tuple(rows.order_by("-id")[: size + 1])
        items = _views(caller, found[:size], now)
    return ImportPage(items=items, next_after=found[size - 1].id if len(found) > size else None)


def get_import(*, caller: Caller, batch_id: UUID, now: datetime) -> ImportView:
    """Return one batch. Raises NotFound."""
    with tenancy.unit():
        row = _first(_visible(caller).filter(pk=batch_id))
        return view_of(caller=caller, batch=row, now=now)


def lock_import(*, caller: Caller, batch_id: UUID) -> Import:
    """Return the row of a batch, locked until the unit ends. Raises NotFound."""
    return _first(_visible(caller).select_for_update().filter(pk=batch_id))


def list_rows(
    *, caller: Caller, batch_id: UUID, after: int, limit: int, now: datetime
) -> tuple[RowView, ...]:
    """Return the rows of a batch after a number, in their order. Raises NotFound."""
    with tenancy.unit():
        batch = _first(_visible(caller).filter(pk=batch_id))
        rows = tuple(batch.rows.filter(number__gt=after).order_by("number")[:limit])
        ids = tuple(one.memory_id for one in rows if one.memory_id)
        sight = visibility.sight_of(caller=caller)
        memories = views_of(memory_ids=ids, sight=sight, now=now)
    names = ("number", "file", "line", "gate", "reason", "hint")
    return tuple(
        RowView(
            **{name: getattr(row, name) for name in names},
            outcome=row.outcome or WAITING,
            memory=memories.get(row.memory_id) if row.memory_id else None,
        )
        for row in rows
    )


def imported_memories(*, caller: Caller, batch_id: UUID | None) -> QuerySet[Any] | None:
    """Return the ids of the memories that came with a batch, for the inbox; None without one.

    Raises NotFound.
    """
    if batch_id is None:
        return None
    with tenancy.unit():
        _first(_visible(caller).filter(pk=batch_id))
    rows = ImportRow.objects.filter(batch_id=batch_id, outcome="added", memory_id__isnull=False)
    return rows.order_by().values("memory_id")


def list_waiting_imports(
    *, caller: Caller, project: str, limit: int, now: datetime
) -> tuple[tuple[ImportView, int], ...]:
    """Return the newest imports of which memories wait, and how many do. Raises NotFound."""
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project).id
        due = inbox.waiting_rows(caller=caller, project=project, imported=None, now=now)
        seen = _visible(caller).filter(project_id=place).order_by()
        told = ImportRow.objects.filter(
            batch__in=seen, outcome="added", memory_id__in=due.values("id")
        )
        counted = told.order_by().values_list("batch_id").annotate(n=Count("pk"))
        found = dict(counted.order_by("-batch_id")[:limit])
        rows = tuple(Import.objects.filter(pk__in=found).order_by("-id"))
        return tuple((view, found[view.id]) for view in _views(caller, rows, now))


def who_began(*, batch_id: UUID) -> Initiator | None:
    """Return who began a batch; for the job alone. In a unit."""
    row = Import.objects.filter(pk=batch_id).first()
    if row is None:
        return None
    return Initiator(
        user_id=row.user_id,
        token_id=row.token_id,
        agent=row.agent,
        source_interface=row.source_interface,
    )


def failure_of(*, batch: Import) -> str | None:
    """Return why a batch failed, None for one that did not. In a unit."""
    return _failures((batch,)).get(batch.id)


def view_of(*, caller: Caller, batch: Import, now: datetime) -> ImportView:
    """Turn a batch that the caller sees into a view. In a unit."""
    return _views(caller, (batch,), now)[0]


def _visible(caller: Caller) -> QuerySet[Import]:
    return Import.objects.filter(visibility.as_q(sight=visibility.sight_of(caller=caller)))


def _first(rows: QuerySet[Import]) -> Import:
    row = rows.first()
    if row is None:
        raise NotFound(
            detail="There is no such import.",
            hint="It may belong to a scope you cannot see.",
        )
    return row


def _views(caller: Caller, batches: tuple[Import, ...], now: datetime) -> tuple[ImportView, ...]:
    ids = [row.id for row in batches]
    told = ImportRow.objects.filter(batch_id__in=ids).order_by()
    counts: dict[UUID, dict[str, int]] = {id: {} for id in ids}
    for id, outcome, number in told.values_list("batch_id", "outcome").annotate(n=Count("pk")):
        counts[id][outcome or WAITING] = number
    waits = pending.WAITING & pending.is_awake(caller=caller, now=now)
    waiting = countable(caller=caller).filter(waits, status=Status.ACTIVE.value).order_by()
    due = Q(memory_id__in=waiting.values("id"), outcome="added")
    reviews = dict(told.filter(due).values_list("batch_id").annotate(n=Count("pk")))
    me, failures = principal(caller=caller), _failures(batches)
    return tuple(
        ImportView(
            **{
                name: getattr(row, name)
                for name in (
                    "id", "name", "project_id", "scope", "total", "job_id", "created_by",
                    "agent", "created_at", "ended_at",
                )
            },
            state=FAILED if row.id in failures else row.state,
            error=failures.get(row.id, ""),
            files=tuple(row.files),
            counts=counts[row.id],
            to_review=reviews.get(row.id, 0),
            is_mine=me is not None and row.created_by == me,
        )
        for row in batches
    )  # fmt: skip


def _failures(batches: tuple[Import, ...]) -> dict[UUID, str]:
    """Return why those failed that did: how their jobs ended, or what they say themselves."""
    told = {*BUSY, FAILED}
    begun = {row.job_id: row.id for row in batches if row.state in told and row.job_id}
    found = {row.id: row.error for row in batches if row.state == FAILED}
    ended = job_list.failures(job_ids=tuple(begun)) if begun else {}
    return found | {begun[job_id]: reason for job_id, reason in ended.items()}
