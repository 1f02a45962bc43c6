"""Bind what an agent adds on purpose, and what it searches, to its running session.

So it has a source that it can be rolled back by, goes on to who continues the work, and is tainted
where outside content was seen: that waits for a person like all that the session came to. What a
search gives is what others know, so that a session's own additions are left out of it. A session is
the caller's own, of the same token or of the same program of the same person.

A program may run several at once, and no call says from which it comes. It is bound to the one of
its project in which something happened last, and tainted by any: an agent that was told by a page
what to store may store it in another project. What it saw is named in its own project alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller, is_person
from accounts.identifiers import as_uuid
from memory.intake.validation import NewMemory
from memory.search.request import Narrowing, Work
from memory.sessions import queries as sessions
from memory.sessions.actions import append_events, scratchpads
from memory.sessions.models import Session

LONGEST_REASON: Final = 200  # characters, the column's
ELSEWHERE: Final = "outside content in another session"  # what, others need not see


Asked = TypeVar("Asked", bound=Narrowing)


class _Origin(NamedTuple):
    """The session that an addition comes from, its unit of work, and what taints it."""

    session_id: UUID | None
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
    with tenancy.unit():
        rows = sessions.running(caller=caller)
        taints = {row.id: _taint_of(row) for row in rows}
        projects = dict.fromkeys(one.project for one in candidates) if rows else ()
        found = {project: _origin(rows, project, taints) for project in projects}
    return tuple(_bound(one, found.get(one.project)) for one in candidates)


def taint_of_caller(*, caller: Caller, project: str | None) -> str:
    """Return what outside content the caller's running sessions have seen, for a project."""
    new = NewMemory(content="", source="", project=project)
    return bind(caller=caller, new=new).taint_reason


def running_id(*, caller: Caller) -> UUID | None:
    """Return the caller's running session, wherever it works; None for a person or without one."""
    if is_person(caller=caller):
        return None
    with tenancy.unit():
        rows = sessions.running(caller=caller)
    return rows[0].id if rows else None


def in_work(
    *, caller: Caller, asked: Asked, near: tuple[str, ...] | None = (), everywhere: bool = False
) -> Asked:
    """Return what a program asks, with where it works; as it is for a person, or for everything.

    `near` are the files and modules that it works on, None where it asks about these alone.
    """
    if everywhere or is_person(caller=caller):
        return asked
    locate = partial(_locate, caller, asked.project, near)
    return replace(asked, work=Work(near=near, locate=locate))


def _locate(caller: Caller, project: str | None, near: tuple[str, ...] | None) -> Work:
    """Return where the caller's program works in a project. In a unit."""
    found = sessions.work_of_program(caller=caller, project=project)
    if found is None:
        return Work(near=near)
    session_id, unit = found
    return Work(session_id=session_id, unit=unit, near=near)


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


def _of_project(rows: tuple[Session, ...], project: str | None) -> tuple[Session, ...]:
    """Return those of some sessions that are of a project; all where none is named.

    No project is looked up: who stores or searches there refuses one that is not to be seen.
    """
    if project is None:
        return rows
    by_id = as_uuid(text=project)
    return tuple(
        row
        for row in rows
        if row.project is not None and (row.project_id == by_id or row.project.slug == project)
    )


def _origin(rows: tuple[Session, ...], project: str | None, taints: Mapping[UUID, str]) -> _Origin:
    """Return where an addition to a project comes from, of sessions and the taint of each.

    What is of no project may be read by people who do not see the project of a session.
    """
    own = _of_project(rows, project)
    named = own if project is not None else tuple(row for row in own if row.project_id is None)
    seen = next((taints[row.id] for row in named if taints[row.id]), "")
    taint = seen or (ELSEWHERE if any(taints.values()) else "")
    return _Origin(own[0].id, own[0].work_unit, taint) if own else _Origin(None, {}, taint)


def _taint_of(row: Session) -> str:
    """Return what outside content a session has seen so far; what it has seen, it never unsees.

    Events that wait for earlier ones, which may never come, count as well.
    """
    reason = (row.observed or {}).get("tainted_by", "")
    if not reason and row.events:
        opened = _opened(row)
        reason = opened.scratchpad.taint_reason or scratchpads.settled(opened=opened).taint_reason
    return str(reason)[:LONGEST_REASON]


def _opened(row: Session) -> scratchpads.OpenedScratchpad:
    """Return a session's scratchpad, and see to it that few events stand behind a checkpoint.

    Nobody looks at a session of which no memories are taken, so its checkpoint is kept here, unless
    something else holds the session.
    """
    if row.memory_eligible:
        opened = scratchpads.read(row=row)
        append_events.ask_for_checkpoint(row=row, behind=len(opened.events))
        return opened
    held = None
    if row.events - row.folded >= append_events.CHECKPOINT_FROM:
        held = Session.objects.select_for_update(skip_locked=True).filter(pk=row.pk).first()
    opened = scratchpads.read(row=held or row)
    if held is not None:
        states = scratchpads.fold_by_writer(opened=opened)
        if scratchpads.keep(row=held, states=states, now=held.active_at):
            held.save(update_fields=["folded"])
        opened = replace(opened, scratchpad=states[-1], events=())
    return opened
