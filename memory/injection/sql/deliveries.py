"""What was delivered to an agent."""

from datetime import datetime
from uuid import UUID

from memory import sql_queries

FILE = "injection/sql/deliveries.sql"


def delivered_to_agent(
    *,
    sessions: tuple[UUID, ...],
    agent: str,
    token: UUID | None,
    since: datetime,
    compacted_at: datetime | None,
    is_anew: bool,
    memory_ids: tuple[UUID, ...],
) -> frozenset[UUID]:
    """Return which of some memories an agent of a session and its full parts need not be given.

    `is_anew`: log entries of before `compacted_at` do not count. Without a token, answers to its
    searches do not count. In a unit.
    """
    if not memory_ids:
        return frozenset()
    rows = sql_queries.rows(
        "delivered_to_agent",
        file=FILE,
        sessions=list(sessions),
        agent=agent,
        token=token,
        since=since,
        compacted=compacted_at,
        is_anew=is_anew,
        ids=list(memory_ids),
    )
    return frozenset(memory_id for (memory_id,) in rows)
