"""In whose name a job works on a session: of who opened it, with the rights they have now."""

from datetime import datetime

from accounts.caller import Caller
from accounts.errors import Forbidden, NotFound
from accounts.jobs import PermanentFailure
from accounts.queries import directory
from accounts.queries.directory import Initiator
from memory.sessions.models import Session
from teams import queries as places
from teams.permissions import Act, require


def opener_of(*, row: Session, now: datetime) -> Caller:
    """Return who opened a session. In a unit.

    Raises PermanentFailure when they are gone, may not write or do not see its project.
    """
    beginner = Initiator(
        user_id=row.opened_by,
        token_id=row.token_id,
        agent=row.agent,
        source_interface=row.source_interface,
    )
    try:
        caller = directory.caller_of(beginner=beginner, now=now)
        require(caller=caller, act=Act.WRITE)
        if row.project_id is not None:
            places.find_project(caller=caller, ref=str(row.project_id))
    except (Forbidden, NotFound) as error:
        raise PermanentFailure(error.detail, error.hint) from error
    return caller
