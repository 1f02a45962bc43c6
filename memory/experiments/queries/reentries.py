"""Dead ends that were entered again: by session and by memory, as one may see both.

Who may see a session sees of it only the dead ends of their own sight, also in the numbers.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.records.queries.views import MemoryView, countable, to_view, visible
from memory.sessions.models import Session
from memory.statistics.counters import Kind
from memory.statistics.models import Statistic
from teams import visibility
from teams.permissions import Act, require

KEPT: Final = "reentered"  # the name in what a session has shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Reentered:
    """How many known dead ends a session entered, and of how many it had been told before."""

    entered: int = 0
    told: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """A dead end that a session entered: at which event, how, and whether it was told before."""

    memory: MemoryView
    sequence: int
    how: str
    told: bool


def of_sessions(*, caller: Caller, session_ids: Iterable[UUID]) -> Mapping[UUID, Reentered]:
    """Return what ended sessions entered, of those the caller may see, by id. In a unit.

    A session that has not been decided about is not among them.
    """
    sight = visibility.as_q(sight=visibility.sight_of(caller=caller))
    rows = Session.objects.filter(
        sight, pk__in=tuple(session_ids), finalized_at__isnull=False
    ).order_by()
    kept = {
        id: tuple((observed or {}).get(KEPT, ()))
        for id, observed in rows.values_list("id", "observed")
    }
    named = {one["memory_id"] for entries in kept.values() for one in entries}
    seen = {
        str(id) for id in countable(caller=caller).filter(pk__in=named).values_list("id", flat=True)
    }
    return {
        id: Reentered(
            entered=sum(one["memory_id"] in seen for one in entries),
            told=sum(one["memory_id"] in seen and bool(one["told"]) for one in entries),
        )
        for id, entries in kept.items()
    }


def of_memory(*, caller: Caller, memory_id: UUID) -> Reentered:
    """Return how many sessions entered a dead end, of the places the caller may see.

    Nothing for a memory that the caller may not see.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        if not countable(caller=caller).filter(pk=memory_id).exists():
            return Reentered()
        sight = visibility.as_q(sight=visibility.sight_of(caller=caller))
        rows = Statistic.objects.filter(sight, kind=Kind.REENTRY.value, key=str(memory_id))
        counts = tuple(rows.order_by("id").values_list("counts", flat=True))
    return Reentered(
        entered=sum(int(one.get("sessions", 0)) for one in counts),
        told=sum(int(one.get("told", 0)) for one in counts),
    )


def told_of(*, caller: Caller, observed: Mapping[str, Any], now: datetime) -> tuple[Again, ...]:
    """Return what a session entered, of the dead ends the caller may see. In a unit."""
    entries = tuple(observed.get(KEPT, ()))
    rows = visible(caller=caller).filter(pk__in=[one["memory_id"] for one in entries])
    views = {str(row.id): to_view(row, now=now) for row in rows} if entries else {}
    return tuple(
        Again(
            memory=views[one["memory_id"]],
            sequence=int(one["sequence"]),
            how=str(one["how"]),
            told=bool(one["told"]),
        )
        for one in entries
        if one["memory_id"] in views
    )
