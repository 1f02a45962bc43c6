"""Read conflicts: which are open, one with both sides, and how many there are (spec 2.4, 7.3).

A conflict is told to who may see both of its memories. One of which a side has left since, archived
or replaced, is not open any more: nothing is left to decide.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts import tenancy
from accounts.caller import Caller, is_person
from accounts.errors import NotFound
from memory.models import Conflict
from memory.queries.views import MemoryView, countable, give_out, views_of
from memory.taxonomy import Status
from teams import queries as places
from teams import visibility

LARGEST_PAGE = 200  # spec 10.5
OPEN = Q(verdict="", older__status=Status.ACTIVE.value, newer__status=Status.ACTIVE.value)


class State(StrEnum):
    """Which conflicts are asked for."""

    OPEN = "open"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictView:
    """Two memories that say different things.

    `kind` is what the newer one would have done to the older one, `cause` why a person decides.
    `verdict` is empty while it is open.
    """

    id: UUID
    older: MemoryView
    newer: MemoryView
    kind: str
    cause: str
    cosine: float | None
    found_at: datetime
    verdict: str
    reason: str
    settled_by: UUID | None
    settled_at: datetime | None
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictPage:
    """Some conflicts, newest first, and after which one the next page starts."""

    items: tuple[ConflictView, ...]
    next_after: UUID | None


def page(
    *,
    caller: Caller,
    project: str | None,
    state: State,
    after: UUID | None,
    limit: int,
    now: datetime,
) -> ConflictPage:
    """Return conflicts of a project, or of all places, the newest first.

    That an agent was given their sides is noted: what it says again confirms nothing.

    Raises NotFound for a project the caller cannot see.
    """
    size = min(limit, LARGEST_PAGE)
    with tenancy.unit():
        rows = _visible(caller).filter(_in_state(state))
        if project is not None:
            rows = rows.filter(project_id=places.find_project(caller=caller, ref=project).id)
        if after is not None:
            rows = rows.filter(id__lt=after)
        found = tuple(rows.order_by("-id")[: size + 1])
        items = _views(caller, found[:size], now)
    return ConflictPage(items=items, next_after=found[size - 1].id if len(found) > size else None)


def count_open(*, caller: Caller, project: str | None) -> int:
    """Count the open conflicts of a project, or of all places."""
    with tenancy.unit():
        rows = _visible(caller).filter(OPEN)
        if project is not None:
            rows = rows.filter(project_id=places.find_project(caller=caller, ref=project).id)
        return rows.count()


def conflict(*, caller: Caller, conflict_id: UUID, now: datetime) -> ConflictView:
    """Return one conflict. Raises NotFound, also where a side may not be seen."""
    with tenancy.unit():
        return view_of(caller=caller, row=find(caller=caller, conflict_id=conflict_id), now=now)


def find(*, caller: Caller, conflict_id: UUID) -> Conflict:
    """Return the row of a conflict, for actions. In a unit. Raises NotFound."""
    return _found(_visible(caller).filter(pk=conflict_id))


def lock(*, caller: Caller, conflict_id: UUID) -> Conflict:
    """Return the row of a conflict, locked until the unit ends. Raises NotFound."""
    return _found(_visible(caller).select_for_update(of=("self",)).filter(pk=conflict_id))


def view_of(*, caller: Caller, row: Conflict, now: datetime) -> ConflictView:
    """Turn a row whose sides the caller sees into a view. In a unit."""
    return _views(caller, (row,), now)[0]


def _visible(caller: Caller) -> QuerySet[Conflict]:
    seen = countable(caller=caller).order_by().values("id")
    return Conflict.objects.filter(older__in=seen, newer__in=seen)


def _in_state(state: State) -> Q:
    return OPEN if state is State.OPEN else ~Q(verdict="")


def _found(rows: QuerySet[Conflict]) -> Conflict:
    row = rows.first()
    if row is None:
        raise NotFound(
            detail="There is no such conflict.",
            hint="Its memories may be gone, or one of them belong to a scope you cannot see.",
        )
    return row


def _views(caller: Caller, rows: tuple[Conflict, ...], now: datetime) -> tuple[ConflictView, ...]:
    ids = tuple(dict.fromkeys(id for row in rows for id in (row.older_id, row.newer_id)))
    sight = visibility.sight_of(caller=caller)
    read = views_of if is_person(caller=caller) else give_out
    sides = read(memory_ids=ids, sight=sight, now=now) if ids else {}
    return tuple(
        _view(row, sides) for row in rows if row.older_id in sides and row.newer_id in sides
    )


def _view(row: Conflict, sides: Mapping[UUID, MemoryView]) -> ConflictView:
    return ConflictView(
        id=row.id,
        older=sides[row.older_id],
        newer=sides[row.newer_id],
        kind=row.kind,
        cause=row.cause,
        cosine=row.cosine,
        found_at=row.found_at,
        verdict=row.verdict,
        reason=row.reason,
        settled_by=row.settled_by,
        settled_at=row.settled_at,
        version=row.version,
    )
