"""Ask the agent that was there whether what its session showed is a lesson.

It is asked when it stops, once a session, and only where `lessons` finds evidence. Its answer is
what it adds then (`memory.sessions.actions.answers`).

A session is looked at from its checkpoint. Where many events came since, it is looked at only if
one of them is an error, and where far too many came, at its next stop; the job that makes
checkpoints is queued. So who has nothing to be asked about hardly waits.
"""

from dataclasses import asdict
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.injection.actions import external_binding
from memory.injection.harnesses import HookEvent
from memory.observer import lessons
from memory.search.request import NEVER, Deadline
from memory.sessions import queries as sessions
from memory.sessions.actions import append_events, scratchpads
from memory.sessions.models import Session
from memory.sessions.scratchpad import Scratchpad
from teams import audit
from teams import queries as places
from teams.permissions import Act, require
from teams.queries import Hook, hooks_in, is_paused

BEHIND_MOST: Final = 2_000  # events since the checkpoint that are looked at; default
SMOOTH_MOST: Final = 300  # of them without an error: 0.15 ms each (bench_observer)


def ask(*, caller: Caller, event: HookEvent, now: datetime, deadline: Deadline = NEVER) -> str:
    """Return the question for an agent that stops; empty where there is nothing to ask.

    Nothing is asked after the deadline, nor where the session was asked before.
    """
    if not (event.can_be_asked and event.waits):
        return ""
    with tenancy.unit():
        row, _ = external_binding.find_bound(caller=caller, event=event)
        if row is None or not _may_be_asked(caller, row):
            return ""
        opened = scratchpads.read(row=row, most=BEHIND_MOST + 1)
        append_events.ask_for_checkpoint(row=row, behind=len(opened.events))
    most = BEHIND_MOST if any(one.is_error for one in opened.events) else SMOOTH_MOST
    if len(opened.events) > most:
        return ""
    return _ask(caller, row.id, scratchpads.settled(opened=opened), now, deadline)


def ask_again(*, caller: Caller, project: str | None, now: datetime) -> str:
    """Return the question about the caller's running session, asked by a person as often as wanted.

    The last one in which anything happened, of a project where one is named. Empty where it showed
    nothing. Raises NotFound for a project the caller cannot see.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        there = None if project is None else places.find_project(caller=caller, ref=project).id
        rows = sessions.running(caller=caller)
        row = next((one for one in rows if there in {None, one.project_id}), None)
        if row is None or not row.memory_eligible:
            return ""
        scratchpad = scratchpads.settled(opened=scratchpads.read(row=row))
    return _ask(caller, row.id, scratchpad, now, NEVER, is_again=True)


def _may_be_asked(caller: Caller, row: Session) -> bool:
    """Say whether anybody wants a session's agent to be asked, and nobody has. In a unit."""
    if row.reflection is not None or not row.memory_eligible or not row.events:
        return False
    is_held = is_paused(project=row.project, token_id=caller.token_id, user_id=caller.user_id)
    return hooks_in(project=row.project)[Hook.REFLECT] and not is_held


def _ask(
    caller: Caller,
    session_id: UUID,
    scratchpad: Scratchpad,
    now: datetime,
    deadline: Deadline,
    *,
    is_again: bool = False,
) -> str:
    """Write down that a session's agent is asked, and return the question; empty for none."""
    found = lessons.find_lessons(scratchpad=scratchpad)
    if not found or deadline.is_past():
        return ""
    with tenancy.unit():
        rows = Session.objects.select_for_update(of=("self",)).select_related("project")
        row = rows.filter(pk=session_id).first()
        if row is None or (row.reflection is not None and not is_again):
            return ""
        before = row.reflection or {}
        row.reflection = {
            "first_asked_at": before.get("first_asked_at", before.get("asked_at", now.isoformat())),
            "asked_at": now.isoformat(),
            "lessons": [asdict(one) for one in found],
        }
        row.save(update_fields=["reflection"])
        audit.append(
            "session.asked",
            "session",
            str(row.id),
            caller=caller,
            details={"lessons": len(found)},
        )
        slug = row.project.slug if row.project else ""
    return lessons.question(lessons=found, project=slug)
