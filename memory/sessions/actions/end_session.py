"""End a session; what is worth keeping of it is taken by a job."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.sessions.actions import close
from memory.sessions.actions.append_turns import hold_own
from memory.sessions.queries import sessions
from memory.sessions.queries.sessions import SessionView
from teams import audit
from teams.permissions import Act, require


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The session, and the job that consolidates it; None where one waits already, or none is due.

    None is due for a session that is not to be kept.
    """

    session: SessionView
    job_id: UUID | None


def end_session(*, caller: Caller, session_id: UUID, now: datetime) -> Ended:
    """End a session and queue its consolidation in the same unit; ended once, it stays ended.

    Raises NotFound, and Forbidden for a session that somebody else opened.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        row = hold_own(caller=caller, session_id=session_id)
        job_id = close.close(rows=(row,), now=now)[0] if row.state == "open" else None
        audit.append(
            act="session.ended", object_type="session", object_id=str(row.id), caller=caller
        )
        found = sessions.find(caller=caller, session_id=session_id)
        return Ended(session=sessions.to_view(found), job_id=job_id)
