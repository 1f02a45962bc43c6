"""Bind what an agent adds on purpose to its running session.

So it has a source that it can be rolled back by, goes on to who continues the work, and is tainted
where the session has seen outside content: that waits for a person like all that the session came
to. A session is the caller's own, of the same token or of the same program of the same person.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller, is_person
from accounts.errors import NotFound
from memory.intake.validation import NewMemory
from memory.sessions import queries as sessions
from memory.sessions.actions import scratchpads
from memory.sessions.models import Session

LONGEST_REASON: Final = 200  # characters, the column's


def bind(*, caller: Caller, new: NewMemory) -> NewMemory:
    """Return what a caller adds, with the session it comes from and that session's taint.

    It comes back as it is from a person, from who runs no session, and where it names its session.
    """
    return bind_all(caller=caller, new=(new,))[0]


def bind_all(*, caller: Caller, new: Iterable[NewMemory]) -> tuple[NewMemory, ...]:
    """Return many additions likewise; each project's session is looked up once."""
    candidates = tuple(new)
    if is_person(caller=caller):
        return candidates
    found: dict[str | None, tuple[UUID, str] | None] = {}
    with tenancy.unit():
        for project in dict.fromkeys(one.project for one in candidates if not one.session_id):
            found[project] = _find(caller, project)
    return tuple(_bound(one, found.get(one.project)) for one in candidates)


def taint_of_caller(*, caller: Caller) -> str:
    """Return what outside content the caller's running session has seen, wherever it works."""
    if is_person(caller=caller):
        return ""
    with tenancy.unit():
        session = _find(caller, None)
    return "" if session is None else session[1]


def running_id(*, caller: Caller) -> UUID | None:
    """Return the caller's running session, wherever it works; None for a person or without one."""
    if is_person(caller=caller):
        return None
    with tenancy.unit():
        row = sessions.running(caller=caller, project=None)
    return None if row is None else row.id


def _bound(new: NewMemory, session: tuple[UUID, str] | None) -> NewMemory:
    if new.session_id is not None or session is None:
        return new
    session_id, taint = session
    return replace(
        new,
        session_id=session_id,
        taint_reason=new.taint_reason or taint,
        needs_review=new.needs_review or bool(taint),
    )


def _find(caller: Caller, project: str | None) -> tuple[UUID, str] | None:
    """Return the caller's running session there and its taint. In a unit."""
    try:
        row = sessions.running(caller=caller, project=project)
    except NotFound:  # what is added there is refused by who stores it
        return None
    return None if row is None else (row.id, _taint_of(row))


def _taint_of(row: Session) -> str:
    """Return what outside content a session has seen so far; what it has seen, it never unsees.

    Events that wait for earlier ones, which may never come, count as well.
    """
    reason = (row.observed or {}).get("tainted_by", "")
    if not reason and row.events:
        opened = scratchpads.read(row=row)
        reason = opened.scratchpad.taint_reason or scratchpads.settled(opened=opened).taint_reason
    return str(reason)[:LONGEST_REASON]
