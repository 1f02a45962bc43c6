"""What a session came to: what its agent showed, and the memories that wait because of it (4.4).

Who may see a session may see its summary; of the memories each sees those of their own sight.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from accounts import tenancy
from accounts.caller import Caller
from memory.customization.queries import trust_levels
from memory.experiments.queries import reentries
from memory.experiments.queries.reentries import Again
from memory.records.models import Memory
from memory.records.queries.views import MemoryView, to_view, visible
from memory.review.queries import pending, reviews
from memory.sessions.models import Session
from memory.sessions.queries import sessions
from memory.sessions.queries.sessions import SessionView
from teams.permissions import Act, require
from teams.trust import Asking, level_row

MOST: Final = 200  # memories of a session that are told, ours; 30 and 20 are taken at most at once
INNER: Final = frozenset({  # told elsewhere
    "promoted", "counted_at", "ribbon", "named", "carried", reentries.KEPT,
})  # fmt: skip
EMPTY: Final[Mapping[str, Any]] = {
    "signals": {},
    "seen": [],
    "dropped": {},
    "early": [],
    "counts": {},
    "steps": 0,
    "tools": 0,
    "outcome": "",
    "tainted_by": "",
    "task": "",
    "events": 0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Came:
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
class Summary:
    """A session, what it showed, and what came of it.

    `waiting` counts what nobody has decided; what the caller has put off until later is left out.
    `asking` is how the caller wants to be asked about it, by their trust in the project; `again`
    are the known dead ends that the session entered.
    """

    session: SessionView
    shown: Mapping[str, Any]
    candidates: tuple[Came, ...]
    waiting: int
    asking: Asking
    again: tuple[Again, ...] = ()


def summary(*, caller: Caller, session_id: UUID, now: datetime) -> Summary:
    """Return what a session came to. Raises NotFound also for one the caller may not see."""
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        return read(caller=caller, session_id=session_id, now=now)


def read(*, caller: Caller, session_id: UUID, now: datetime) -> Summary:
    """Return what a session came to. In a unit. Raises NotFound."""
    row = sessions.find(caller=caller, session_id=session_id)
    observed = row.observed or {}
    rests = {one["memory_id"]: one for one in observed.get("promoted", ())}
    rows = tuple(_rows(caller, row))
    due = set(_waiting(caller, rows, now))
    candidates = tuple(
        replace(_came(caller, one, rests.get(str(one.id), {}), now), waits=one.id in due)
        for one in rows
    )
    return Summary(
        session=sessions.to_view(row),
        shown={**EMPTY, **{name: observed[name] for name in observed if name not in INNER}},
        candidates=candidates,
        waiting=sum(one.waits for one in candidates),
        asking=level_row(
            level=trust_levels.level_of(caller=caller, project_id=row.project_id)
        ).asking,
        again=reentries.told_of(caller=caller, observed=observed, now=now),
    )


def candidate_ids(*, caller: Caller, session: Session) -> tuple[UUID, ...]:
    """Return the memories of a session that the caller may see. In a unit."""
    return tuple(one.id for one in _rows(caller, session))


def waiting_ids(*, caller: Caller, session: Session, now: datetime) -> tuple[UUID, ...]:
    """Return the memories of a session that wait, as its summary counts them. In a unit."""
    return _waiting(caller, tuple(_rows(caller, session)), now)


def _rows(caller: Caller, session: Session) -> QuerySet[Memory]:
    rows = visible(caller=caller).filter(session_id=session.id)
    return rows.order_by("-confidence", "id")[:MOST]


def _waiting(caller: Caller, rows: tuple[Memory, ...], now: datetime) -> tuple[UUID, ...]:
    ids = tuple(row.id for row in rows if reviews.group_of(row=row) is not None)
    awake = Memory.objects.filter(pending.awake(caller=caller, now=now), pk__in=ids)
    here = set(awake.values_list("id", flat=True))
    return tuple(one for one in ids if one in here)


def _came(caller: Caller, row: Memory, rests: Mapping[str, Any], now: datetime) -> Came:
    return Came(
        memory=to_view(row, now=now),
        waits=False,
        may_keep=reviews.may_keep(caller=caller, row=row),
        why=str(rests.get("key", "")).partition(":")[0],
        tier=str(rests.get("tier", "")),
        sessions=int(rests.get("sessions", 1)),
        evidence=tuple(rests.get("evidence", ())),
    )
