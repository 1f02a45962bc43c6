"""How much was remembered from a session, as far as one may see it."""

import re
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from accounts import tenancy
from accounts.caller import Caller
from memory.records.models import Memory
from memory.records.queries.views import visible

_TURN: Final = re.compile(r"\Asession:[0-9a-f-]{36}#turn-(\d{1,10})\Z")


def count(*, caller: Caller, session_id: UUID) -> int:
    """Count the memories taken from a session that the caller may see."""
    with tenancy.unit():
        return of_session(rows=visible(caller=caller), session_id=session_id).count()


def of_session(*, rows: QuerySet[Memory], session_id: UUID) -> QuerySet[Memory]:
    """Return those of memories that a session was read for. In a unit."""
    return rows.filter(session_id=session_id).order_by("created_at", "id")


def turn_of(*, source_uri: str) -> int | None:
    """Return the turn of a session that a memory's source names; None where it names none."""
    found = _TURN.match(source_uri)
    return None if found is None else int(found.group(1))
