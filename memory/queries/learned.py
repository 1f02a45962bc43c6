"""What was remembered from a session, as far as one may see it (spec 2.7, 9.2)."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from accounts import tenancy
from accounts.caller import Caller
from memory.models import Memory
from memory.queries.views import MemoryView, to_view, visible

_TURN: Final = re.compile(r"\Asession:[0-9a-f-]{36}#turn-(\d{1,10})\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """A memory, and the turn it was taken from where it names one."""

    memory: MemoryView
    turn: int | None


def learned(*, caller: Caller, session_id: UUID, limit: int, now: datetime) -> tuple[Learned, ...]:
    """Return memories taken from a session, by where they stand in it."""
    with tenancy.unit():
        rows = of_session(rows=visible(caller=caller), session_id=session_id)[:limit]
        return tuple(
            Learned(memory=to_view(row, now=now), turn=_turn(row.source_uri)) for row in rows
        )


def count(*, caller: Caller, session_id: UUID) -> int:
    """Count the memories taken from a session that the caller may see."""
    with tenancy.unit():
        return of_session(rows=visible(caller=caller), session_id=session_id).count()


def of_session(*, rows: QuerySet[Memory], session_id: UUID) -> QuerySet[Memory]:
    """Return those of memories that a session was read for. In a unit."""
    return rows.filter(session_id=session_id).order_by("created_at", "id")


def _turn(source_uri: str) -> int | None:
    found = _TURN.match(source_uri)
    return None if found is None else int(found.group(1))
