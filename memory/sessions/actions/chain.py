"""The parts of a session that was full and goes on: one agent's context in several of ours.

A part keeps what it begins with from the ones before it, since their events are forgotten sooner.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from memory.sessions.models import Session
from memory.sessions.scratchpad import Scratchpad

KEPT: Final = "carried"  # in what a session has shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """What the parts before came to; `opened_at` is when the first of them began.

    `tainted_by` says what outside content they saw, `written` which files outside of the repository
    they wrote, `has_sent` whether they sent a subagent.
    """

    parts: tuple[UUID, ...]
    opened_at: datetime
    tainted_by: str = ""
    written: frozenset[str] = frozenset()
    has_sent: bool = False


def carried(*, row: Session) -> Carried:
    """Return what a session begins with; that of no other part for one that was never full."""
    kept: Mapping[str, Any] | None = (row.observed or {}).get(KEPT)
    if kept is None:
        return Carried(parts=(), opened_at=row.opened_at)
    return Carried(
        parts=tuple(map(UUID, kept["parts"])),
        opened_at=datetime.fromisoformat(kept["opened_at"]),
        tainted_by=kept["tainted_by"],
        written=frozenset(kept["written"]),
        has_sent=kept["has_sent"],
    )


def all_of(*, row: Session) -> tuple[UUID, ...]:
    """Return the ids of a session and of the parts before it."""
    return (row.id, *carried(row=row).parts)


def observed(*, row: Session, scratchpad: Scratchpad) -> dict[str, Any]:
    """Return what the next part of a full session has shown before its events."""
    reason = scratchpad.taint.reason if scratchpad.taint else ""
    return {
        "tainted_by": reason,
        KEPT: {
            "parts": [str(id) for id in all_of(row=row)],
            "opened_at": carried(row=row).opened_at.isoformat(),
            "tainted_by": reason,
            "written": sorted(scratchpad.written),
            "has_sent": bool(scratchpad.sent),
        },
    }
