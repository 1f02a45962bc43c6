"""How a memory was learned: in which session, by which signal, from which events and lines (4.4).

Who may see the memory need not see its session: then nothing of that is told. What a signal rests
on is kept in the session when it is promoted, so it stays when the events themselves are forgotten.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from memory.sessions.models import Session
from memory.sessions.queries import learned, sessions

_OF_A_SESSION: Final = re.compile(r"\Asession:[0-9a-f-]{36}#")  # begins what we write ourselves


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """An event that a signal rests on, its step, and the place in the code where it names one."""

    sequence: int
    step: int
    file: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The session a memory was learned in: by a signal of what was done, or from a turn.

    `signal` is empty for a turn, and `turn` None for a signal; `sessions` counts those that show
    the same; `project` is empty where the session belongs to none.
    """

    session_id: UUID
    project: str
    agent: str
    branch: str
    opened_at: datetime
    signal: str
    sessions: int
    turn: int | None
    rests: tuple[Rest, ...]


def is_of_session(*, memory: MemoryView) -> bool:
    """Say whether a memory was learned in a session."""
    return _OF_A_SESSION.match(memory.source_uri) is not None


def of_memory(*, caller: Caller, memory: MemoryView) -> Proof | None:
    """Return how a memory was learned; None where no session is, or none the caller may see."""
    if not is_of_session(memory=memory):
        return None
    own = Memory.objects.filter(pk=memory.id).values("session_id")
    with tenancy.unit():
        row = sessions.visible(caller=caller).filter(pk__in=own).first()
    return None if row is None else _proof(row, memory)


def _proof(row: Session, memory: MemoryView) -> Proof:
    rests = _rests(row, memory.id)
    turn = learned.turn_of(source_uri=memory.source_uri)
    sign = memory.source_uri.partition("#")[2]
    return Proof(
        session_id=row.id,
        project=row.project.slug if row.project else "",
        agent=row.agent,
        branch=row.branch,
        opened_at=row.opened_at,
        signal=sign.partition("-")[0] if turn is None else "",
        sessions=int(rests.get("sessions", 1)),
        turn=turn,
        rests=tuple(
            Rest(
                sequence=int(one["sequence"]),
                step=int(one["step"]),
                file=str(one["file"]),
                line=int(one["line"]),
            )
            for one in rests.get("evidence", ())
        ),
    )


def _rests(row: Session, memory_id: UUID) -> Mapping[str, Any]:
    """Return what was kept of a memory's promotion; nothing for what was taken from turns."""
    kept = (row.observed or {}).get("promoted", ())
    return next((one for one in kept if one["memory_id"] == str(memory_id)), {})
