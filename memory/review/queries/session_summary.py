"""What a session came to, and how a memory was learned in a session.

Who may see a session may see its summary; of the memories each sees those they may see. Who may see
a memory need not see its session: then nothing is said of how it was learned. What a signal rests
on is kept in the session when it is promoted, so it stays when the events themselves are forgotten.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from accounts import tenancy
from accounts.caller import Caller
from memory.customization.queries import trust_level_of
from memory.experiments import queries as experiments
from memory.experiments.queries import ReentryView
from memory.records.models import Memory
from memory.records.queries import pending
from memory.records.queries.views import MemoryView, to_view, visible
from memory.sessions import queries as sessions
from memory.sessions.models import Session
from memory.sessions.queries import SessionView
from teams.permissions import Act, require
from teams.trust import Asking, level_row

MOST: Final = 200  # memories of a session that are shown; default, not measured
INNER: Final = frozenset({  # shown elsewhere
    "promoted", "ribbon", "named", "carried", experiments.REENTERED_KEY,
})  # fmt: skip
LEARNED: Final = re.compile(r"\Asession:[0-9a-f-]{36}#")  # how the source of such a memory begins
EMPTY: Final[Mapping[str, Any]] = {
    "signals": {}, "seen": [], "dropped": {}, "early": [], "counts": {}, "steps": 0, "tools": 0,
    "outcome": "", "tainted_by": "", "task": "", "events": 0,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCandidate:
    """A memory that a session came to: whether it waits, who may keep it, and on what it rests.

    `why` names the signal, empty for what was taken from turns.
    """

    memory: MemoryView
    waits: bool
    may_keep: bool
    why: str
    tier: str
    sessions: int
    evidence: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """A session, what it showed, and what came of it.

    `waiting` counts what nobody has decided; what the caller has put off until later is left out.
    `asking` is how the caller wants to be asked about it, by their trust in the project; `again`
    are the known dead ends that the session entered.
    """

    session: SessionView
    shown: Mapping[str, Any]
    candidates: tuple[SessionCandidate, ...]
    waiting: int
    asking: Asking
    again: tuple[ReentryView, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EventEvidence:
    """An event that a signal rests on, its step, and the place in the code where it names one."""

    sequence: int
    step: int
    file: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOrigin:
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
    rests: tuple[EventEvidence, ...]


def get_summary(*, caller: Caller, session_id: UUID, now: datetime) -> SessionSummary:
    """Return what a session came to. Raises NotFound also for one the caller may not see."""
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        return read_summary(caller=caller, session_id=session_id, now=now)


def read_summary(*, caller: Caller, session_id: UUID, now: datetime) -> SessionSummary:
    """Return what a session came to. In a unit. Raises NotFound."""
    row = sessions.find(caller=caller, session_id=session_id)
    observed = row.observed or {}
    promoted = {one["memory_id"]: one for one in observed.get("promoted", ())}
    rows = tuple(_candidate_rows(caller, row))
    waiting = set(_awake_ids(caller, rows, now))
    candidates = []
    for one in rows:
        kept = promoted.get(str(one.id), {})
        candidate = SessionCandidate(
            memory=to_view(one, now=now),
            waits=one.id in waiting,
            may_keep=pending.may_approve(caller=caller, row=one),
            why=str(kept.get("key", "")).partition(":")[0],
            tier=str(kept.get("tier", "")),
            sessions=int(kept.get("sessions", 1)),
            evidence=tuple(kept.get("evidence", ())),
        )
        candidates.append(candidate)
    level = trust_level_of(caller=caller, project_id=row.project_id)
    return SessionSummary(
        session=sessions.to_view(row),
        shown={**EMPTY, **{name: observed[name] for name in observed if name not in INNER}},
        candidates=tuple(candidates),
        waiting=sum(one.waits for one in candidates),
        asking=level_row(level=level).asking,
        again=experiments.reentry_views(caller=caller, observed=observed, now=now),
    )


def candidate_ids(*, caller: Caller, session: Session) -> tuple[UUID, ...]:
    """Return the memories of a session that the caller may see. In a unit."""
    return tuple(one.id for one in _candidate_rows(caller, session))


def waiting_ids(*, caller: Caller, session: Session, now: datetime) -> tuple[UUID, ...]:
    """Return the memories of a session that wait, as its summary counts them. In a unit."""
    return _awake_ids(caller, tuple(_candidate_rows(caller, session)), now)


def is_of_session(*, memory: MemoryView) -> bool:
    """Say whether a memory was learned in a session."""
    return LEARNED.match(memory.source_uri) is not None


def find_origin(*, caller: Caller, memory: MemoryView) -> MemoryOrigin | None:
    """Return how a memory was learned; None where no session is, or none the caller may see."""
    if not is_of_session(memory=memory):
        return None
    own = Memory.objects.filter(pk=memory.id).values("session_id")
    with tenancy.unit():
        row = sessions.visible(caller=caller).filter(pk__in=own).first()
    if row is None:
        return None
    promoted = (row.observed or {}).get("promoted", ())
    kept: Mapping[str, Any] = next(
        (one for one in promoted if one["memory_id"] == str(memory.id)), {}
    )
    turn = sessions.turn_of(source_uri=memory.source_uri)
    sign = memory.source_uri.partition("#")[2]
    return MemoryOrigin(
        session_id=row.id,
        project=row.project.slug if row.project else "",
        agent=row.agent,
        branch=row.branch,
        opened_at=row.opened_at,
        signal=sign.partition("-")[0] if turn is None else "",
        sessions=int(kept.get("sessions", 1)),
        turn=turn,
        rests=tuple(
            EventEvidence(**{name: one[name] for name in ("sequence", "step", "file", "line")})
            for one in kept.get("evidence", ())
        ),
    )


def _candidate_rows(caller: Caller, session: Session) -> QuerySet[Memory]:
    rows = visible(caller=caller).filter(session_id=session.id)
    return rows.order_by("-confidence", "id")[:MOST]


def _awake_ids(caller: Caller, rows: tuple[Memory, ...], now: datetime) -> tuple[UUID, ...]:
    ids = tuple(row.id for row in rows if pending.group_of(row=row) is not None)
    awake = Memory.objects.filter(pending.is_awake(caller=caller, now=now), pk__in=ids)
    found = set(awake.values_list("id", flat=True))
    return tuple(one for one in ids if one in found)
