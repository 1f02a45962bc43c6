"""Go on in another session when one is full: to the agent both are one."""

from datetime import datetime
from typing import Final

from accounts.caller import Caller
from memory.injection.actions import delivery_log
from memory.sessions.actions import chain, close, scratchpads
from memory.sessions.actions.open_session import NewSession, Placed, place_session
from memory.sessions.models import Session

TOLD: Final = ("briefed_at", "brief_tries", "prefetched_at", "compacted_at", "experiment_group")


def go_on(*, caller: Caller, row: Session, name: str, now: datetime) -> Placed:
    """End a session that is full, and open the one in which it goes on; both are one thread.

    What its agent was told it is not told again, and what it has seen goes with it. In a unit.
    """
    row.thread = row.thread or row.external_id
    row.save(update_fields=["thread"])
    if row.state == "open":
        close.close(rows=(row,), now=now)
    placed = place_session(caller=caller, new=_next(row, name), now=now, ends_others=False)
    if placed.is_new:
        _carry(row, placed.row)
    return placed


def _next(row: Session, name: str) -> NewSession:
    return NewSession(
        project=None if row.project_id is None else str(row.project_id),
        external_id=name,
        thread=row.thread,
        type=row.type,
        phase=row.phase,
        methodology=row.methodology,
        agent=row.agent,
        cwd=row.cwd,
        root=row.root,
        branch=row.branch,
        commit=row.commit,
        plan=tuple(row.plan or ()),
        work_unit=row.work_unit,
        shared=row.audience == row.project_id,
        memory_eligible=row.memory_eligible,
        models_agreed=row.models_agreed,
    )


def _carry(row: Session, following: Session) -> None:
    """Let the next part know what was told, seen and done in a full one."""
    seen = scratchpads.settled(opened=scratchpads.read(row=row))
    following.observed = {
        **chain.observed(row=row, scratchpad=seen),
        delivery_log.SUGGESTED_FILES_KEY: dict.fromkeys(
            delivery_log.suggested_files(session=row), 0
        ),
    }
    for name in TOLD:
        setattr(following, name, getattr(row, name))
    following.save(update_fields=["observed", *TOLD])
