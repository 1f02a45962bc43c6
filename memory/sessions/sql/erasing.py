"""Forget a session in tables that do not stand under it."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory import sql_queries

FILE = "sessions/sql/erasing.sql"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What is known of a session elsewhere: its place and since when.

    `counted_at` is when it was summed up, of one that does not know what it added.
    """

    session_id: UUID
    audience: UUID
    project_id: UUID | None
    opened_at: datetime
    counted_at: datetime | None


def forget_sums(*, trace: Trace) -> int:
    """Delete sums that a session alone has made, and texts beside the others. In a unit."""
    place = {"audience": trace.audience, "project": trace.project_id}
    dropped = sql_queries.execute("drop_sums", file=FILE, counted=trace.counted_at, **place)
    return dropped + sql_queries.execute("drop_notes", file=FILE, since=trace.opened_at, **place)


def strip_provenance(*, trace: Trace) -> int:
    """Let memories forget that a session is where they came from; return how many. In a unit."""
    origin = f"session:{trace.session_id}#%"
    return sql_queries.execute(
        "strip_provenance", file=FILE, session=trace.session_id, origin=origin
    )


def fold_given(*, trace: Trace) -> int:
    """Copy what was given out in a session to where no session is named. In a unit."""
    return sql_queries.execute("fold_given", file=FILE, session=trace.session_id)


def uncount_words(*, trace: Trace, memory_ids: tuple[UUID, ...]) -> None:
    """Take the words of memories of a session's place out of its word counts. In a unit."""
    sql_queries.execute(
        "uncount_words",
        file=FILE,
        ids=list(memory_ids),
        audience=trace.audience,
        project=trace.project_id,
    )
