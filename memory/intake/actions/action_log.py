"""Write down what became of each candidate: when, from whom, how it ended and why.

Never what it said. A refused one is known to its sender alone; where no person stands behind the
credential, to who may see the place it was meant for.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from accounts import bulk_insert, tenancy
from accounts.caller import Caller, principal
from memory.intake.actions.candidate import Placement
from memory.intake.models import ActionLog
from memory.taxonomy import Source

REFUSED: Final = "refused"
SOURCES: Final = frozenset(Source)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """What became of one candidate; `place` is None where it found none.

    `memory_id` is what was stored or confirmed, `other_id` what it replaced or contradicts.
    """

    source: str
    place: Placement | None
    outcome: str
    gate: str = ""
    cause: str = ""
    memory_id: UUID | None = None
    other_id: UUID | None = None


def record(*, caller: Caller, entries: tuple[LogEntry, ...], now: datetime) -> None:
    """Append a row a candidate. In a unit."""
    bulk_insert.insert_rows(
        rows=[
            ActionLog(
                at=now,
                audience=_audience(caller, entry),
                project_id=entry.place.project.id if entry.place and entry.place.project else None,
                user_id=caller.user_id,
                token_id=caller.token_id,
                agent=caller.agent,
                source=entry.source if entry.source in SOURCES else "unknown",
                source_interface=caller.source_interface,
                outcome=entry.outcome,
                gate=entry.gate,
                cause=entry.cause[:24],
                memory_id=entry.memory_id,
                other_id=entry.other_id,
            )
            for entry in entries
        ]
    )


def forget(*, now: datetime, days: int) -> int:
    """Delete rows older than some days; return how many."""
    with tenancy.unit():
        old = ActionLog.objects.filter(at__lt=now - timedelta(days=days))
        deleted, _ = old.delete()
        return deleted


def _audience(caller: Caller, entry: LogEntry) -> UUID:
    if entry.outcome == REFUSED and caller.user_id is not None:
        return caller.user_id
    if entry.place is not None:
        return entry.place.audience
    return principal(caller=caller) or caller.organization_id
