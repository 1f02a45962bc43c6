"""What the session before left unfinished, offered where its work goes on.

Work goes on in the same session, in its thread or its unit of work; on its branch or in its folder
only where the same person opened both. A session that still runs left nothing. What followed
outside content is told to nobody else; its own person is told the files of such a session alone.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db.models import Q

from accounts.caller import Caller
from memory.injection import relays
from memory.injection.relays import WorkState
from memory.sessions.actions import chain, scratchpads
from memory.sessions.actions.session_upkeep import IDLE_MINUTES
from memory.sessions.models import Session
from memory.sessions.queries import sessions
from memory.text.text import normalized

LONGEST = 400  # characters of a task or an error that is told, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """Where unfinished work stands, and when and on which branch that was."""

    state: WorkState
    branch: str
    at: datetime


def unfinished(*, caller: Caller, row: Session) -> Unfinished | None:
    """Return what was left unfinished where a session goes on; None for nothing. In a unit."""
    return _left(caller, row if row.events else _before(caller, row))


def left_before(*, caller: Caller, row: Session) -> Unfinished | None:
    """Return what was left unfinished before a session that has just begun to be heard. In a unit.

    Its own work counts where it had ended and goes on.
    """
    return _left(caller, _before(caller, row) if row.ended_at is None else row)


def _left(caller: Caller, before: Session | None) -> Unfinished | None:
    if before is None:
        return None
    scratchpad = scratchpads.settled(opened=scratchpads.read(row=before))
    state = relays.work_state(scratchpad=scratchpad)
    if state is None:
        return None
    if scratchpad.taint is not None:
        if not sessions.is_own(caller=caller, row=before):
            return None
        state = replace(state, task="", last_error="")
    return Unfinished(state=state, branch=before.branch, at=before.active_at)


def told(*, left: Unfinished) -> str:
    """Write unfinished work as text that stands before memories."""
    state = left.state
    where = f" on the branch {normalized(text=left.branch)}" if left.branch else ""
    lines = [f"Work left unfinished{where}, {left.at:%Y-%m-%d %H:%M} UTC, at step {state.step}:"]
    if state.task:
        lines.append(f"- task: {normalized(text=state.task)[:LONGEST]}")
    lines.extend(f"- changed: {normalized(text=path)}" for path in state.files)
    if state.last_error:
        lines.append(f"- last error: {normalized(text=state.last_error)[:LONGEST]}")
    return "\n".join(lines) + "\n"


def _before(caller: Caller, row: Session) -> Session | None:
    """Return the last session whose work may go on in this one, of those the caller may see."""
    same = Q(pk__in=())
    if row.thread:
        same |= Q(thread=row.thread)
    if row.work_unit:
        same |= Q(work_unit=row.work_unit)
    if row.branch:
        same |= Q(branch=row.branch) & sessions.own(caller=caller)
    elif row.cwd:
        same |= Q(cwd=row.cwd, branch="") & sessions.own(caller=caller)
    idle = Q(active_at__lt=row.active_at - timedelta(minutes=IDLE_MINUTES))
    rows = sessions.opened_before(caller=caller, row=row).filter(same, ~Q(state="open") | idle)
    rows = rows.exclude(pk__in=chain.carried(row=row).parts)  # to its agent one session
    return rows.order_by("-active_at", "-id").first()
