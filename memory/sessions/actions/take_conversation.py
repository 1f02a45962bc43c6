"""Take a whole conversation at once: a session, its turns, its end, and the job."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction

from accounts import tenancy
from accounts.caller import Caller
from memory.sessions.actions import append_turns, close, open_session
from memory.sessions.actions.append_turns import Clean, Masked, NewTurn
from memory.sessions.actions.open_session import NewSession
from teams import audit
from teams.permissions import Act, require


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The session, the job that takes what is worth keeping, and what was stored of the turns."""

    session_id: UUID
    job_id: UUID | None
    stored: int
    known: int
    masked: tuple[Masked, ...]


def take_conversation(
    *, caller: Caller, new: NewSession, turns: tuple[NewTurn, ...], now: datetime
) -> Taken:
    """Store a conversation as an ended session; sent again under its external id, only what is new.

    Raises InvalidInput naming the field, NotFound for a project the caller cannot see,
    NotBoundToProject, and Forbidden for a session of somebody else.
    """
    require(caller=caller, act=Act.WRITE)
    open_session.check(new=new)
    clean = append_turns.cleaned(turns=turns)
    try:
        with tenancy.unit(), transaction.atomic():
            return _taken(caller, new, clean, now)
    except IntegrityError:  # somebody handed it in between our look and our write: add to theirs
        with tenancy.unit():
            return _taken(caller, new, clean, now)


def _taken(caller: Caller, new: NewSession, clean: tuple[Clean, ...], now: datetime) -> Taken:
    placed = open_session.place_session(caller=caller, new=new, now=now)
    row = append_turns.hold_own(caller=caller, session_id=placed.row.id)
    done = append_turns.store(row=row, clean=clean, now=now)
    is_open = row.state == "open"
    job_id = close.close(rows=(row,), now=now)[0] if is_open else None
    audit.append(
        act="session.taken",
        object_type="session",
        object_id=str(row.id),
        caller=caller,
        details={"stored": done.stored, "known": done.known, "masked": len(done.masked)},
    )
    return Taken(
        session_id=row.id,
        job_id=job_id,
        stored=done.stored,
        known=done.known,
        masked=done.masked,
    )
