"""What was given back to sessions: the ledger (spec 4.6)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Max, Min, Sum

from accounts import tenancy
from accounts.caller import Caller
from memory.models import GivenOut
from memory.queries import sessions
from memory.queries.views import countable
from teams.permissions import require
from teams.roles import Act


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One memory that was given to a session: at which point, for how many tokens, and when."""

    memory_id: UUID
    point: str
    tokens: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """What a session was given in all."""

    memories: int
    tokens: int
    first_at: datetime | None
    last_at: datetime | None


NOTHING = Sums(memories=0, tokens=0, first_at=None, last_at=None)


def told_in(*, session_id: UUID) -> frozenset[UUID]:
    """Return the memories that a session was given. In a unit."""
    rows = GivenOut.objects.filter(session_id=session_id)
    return frozenset(rows.values_list("memory_id", flat=True))


def entries(*, caller: Caller, session_id: UUID) -> tuple[Entry, ...]:
    """Return the ledger of a session, in its order, of memories that the caller may see.

    Raises NotFound also for a session not to be seen.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        row = sessions.find(caller=caller, session_id=session_id)
        seen = countable(caller=caller).values("id")
        found = GivenOut.objects.filter(session_id=row.id, memory_id__in=seen).order_by("at", "id")
        return tuple(
            Entry(memory_id=one.memory_id, point=one.point, tokens=one.tokens, at=one.at)
            for one in found
        )


def sums(*, session_ids: tuple[UUID, ...]) -> Mapping[UUID, Sums]:
    """Return what each session was given in all; sessions that were given nothing are missing.

    In a unit; the caller of this has looked up the sessions as ones that may be seen.
    """
    rows = (
        GivenOut.objects.filter(session_id__in=session_ids)
        .order_by()
        .values_list("session_id")
        .annotate(Count("pk"), Sum("tokens"), Min("at"), Max("at"))
    )
    return {
        session_id: Sums(memories=memories, tokens=tokens, first_at=first, last_at=last)
        for session_id, memories, tokens, first, last in rows
        if session_id is not None
    }
