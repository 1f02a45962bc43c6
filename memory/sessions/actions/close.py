"""What every ending of a session does: its state, and the job that takes what is worth keeping."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import jobs
from accounts.caller import Caller
from memory.sessions.models import Session

JOB: Final = "memory.consolidate"
MOST_AT_ONCE: Final = 500  # sessions that end together, so that it never takes long


def close(*, rows: Iterable[Session], now: datetime) -> tuple[UUID | None, ...]:
    """End locked sessions; return the job that consolidates each. In a unit."""
    return tuple(_close(row, now) for row in rows)


def close_others(*, caller: Caller, row: Session, now: datetime) -> int:
    """End the other open sessions of the same agent and credential there; return how many."""
    same = Session.objects.select_for_update().filter(
        state="open",
        audience=row.audience,
        project=row.project,
        agent=row.agent,
        token_id=caller.token_id,
        opened_by=caller.user_id,
    )
    return len(close(rows=same.exclude(pk=row.pk).order_by("id")[:MOST_AT_ONCE], now=now))


def _close(row: Session, now: datetime) -> UUID | None:
    """End one and queue its consolidation; nothing is queued for one that is not to be kept."""
    row.state, row.ended_at = "ended", now
    row.save(update_fields=["state", "ended_at"])
    if not row.memory_eligible:
        return None
    return jobs.enqueue(
        JOB,
        payload={"ids": [str(row.id)]},
        key=row.id.hex,
        created_by=row.opened_by or row.token_id,
    )
