"""Bind what an agent adds on purpose, and what it searches, to its running session.

So it has a source that it can be rolled back by, goes on to who continues the work, and is tainted
where the session has seen outside content: that waits for a person like all that the session came
to. What a search gives is what others know, so that a session's own additions are left out of it.
A session is the caller's own, of the same token or of the same program of the same person.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller, is_person
from accounts.errors import NotFound
from memory.intake.validation import NewMemory
from memory.search.request import Narrowing, Work
from memory.sessions import queries as sessions
from memory.sessions.actions import append_events, scratchpads
from memory.sessions.models import Session

LONGEST_REASON: Final = 200  # characters, the column's


Asked = TypeVar("Asked", bound=Narrowing)


class _Origin(NamedTuple):
    """The session that an addition comes from, its unit of work, and its taint."""

    session_id: UUID
    work_unit: Mapping[str, str]
    taint: str


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
    found: dict[str | None, _Origin | None] = {}
    with tenancy.unit():
        for project in dict.fromkeys(one.project for one in candidates if not one.session_id):
            row = _running(caller, project)
            found[project] = None if row is None else _Origin(row.id, row.work_unit, _taint_of(row))
    return tuple(_bound(one, found.get(one.project)) for one in candidates)


def taint_of_caller(*, caller: Caller) -> str:
    """Return what outside content the caller's running session has seen, wherever it works."""
    if is_person(caller=caller):
        return ""
    with tenancy.unit():
        row = sessions.running(caller=caller, project=None)
        return "" if row is None else _taint_of(row)


def running_id(*, caller: Caller) -> UUID | None:
    """Return the caller's running session, wherever it works; None for a person or without one."""
    if is_person(caller=caller):
        return None
    with tenancy.unit():
        row = sessions.running(caller=caller, project=None)
    return None if row is None else row.id


def in_work(
    *, caller: Caller, asked: Asked, near: tuple[str, ...] | None = (), everywhere: bool = False
) -> Asked:
    """Return what a program asks, with where it works; as it is for a person, or for everything.

    `near` are the files and modules that it works on, None where it asks about these alone.
    """
    if everywhere or is_person(caller=caller):
        return asked
    with tenancy.unit():
        row = _running(caller, asked.project)
    work = Work(near=near)
    if row is not None:
        work = Work(session_id=row.id, unit=row.work_unit, near=near)
    return replace(asked, work=work)


def _bound(new: NewMemory, origin: _Origin | None) -> NewMemory:
    if new.session_id is not None or origin is None:
        return new
    return replace(
        new,
        session_id=origin.session_id,
        work_unit=new.work_unit or origin.work_unit,
        taint_reason=new.taint_reason or origin.taint,
        needs_review=new.needs_review or bool(origin.taint),
    )


def _running(caller: Caller, project: str | None) -> Session | None:
    """Return the caller's running session there. In a unit."""
    try:
        return sessions.running(caller=caller, project=project)
    except NotFound:  # what is added or searched there is refused by who does that
        return None


def _taint_of(row: Session) -> str:
    """Return what outside content a session has seen so far; what it has seen, it never unsees.

    Events that wait for earlier ones, which may never come, count as well.
    """
    reason = (row.observed or {}).get("tainted_by", "")
    if not reason and row.events:
        opened = scratchpads.read(row=row)
        append_events.ask_for_checkpoint(row=row, behind=len(opened.events))
        reason = opened.scratchpad.taint_reason or scratchpads.settled(opened=opened).taint_reason
    return str(reason)[:LONGEST_REASON]
