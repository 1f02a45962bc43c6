"""Events of a session, stored as they come: a batch is one text and one statement."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, TypeAlias
from uuid import UUID

import orjson

from memory import sql_queries
from memory.sessions.models import Stream

FILE: Final = "sessions/sql/events.sql"
Row: TypeAlias = Mapping[str, object]  # an event: its sequence, body, masked and at


def last(*, session_id: UUID) -> int:
    """Return the last sequence of a session's events, 0 without any. In a unit."""
    ((found,),) = sql_queries.rows("last", file=FILE, session=session_id, done=Stream.DONE.value)
    return found or 0


def append(*, session_id: UUID, events: Mapping[int, Row], now: datetime) -> bool:
    """Store events by their sequences; say whether one came so late that all are looked at again.

    In a unit that holds the session. Raises IntegrityError for a sequence that is there.
    """
    ((is_late,),) = sql_queries.rows(
        "append",
        file=FILE,
        session=session_id,
        done=Stream.DONE.value,
        checkpoint=Stream.CHECKPOINT.value,
        events=orjson.dumps(tuple(events.values())).decode(),
        count=len(events),
        first=min(events),
        now=now,
    )
    return bool(is_late)
