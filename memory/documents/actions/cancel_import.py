"""Cancel an import: what is in stays until it is undone, what still waits never comes."""

from datetime import datetime
from uuid import UUID

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.errors import Conflict
from memory.documents.actions.undo_import import check_own
from memory.documents.queries import imports
from memory.documents.queries.imports import ImportView
from teams import audit
from teams.permissions import Act, require

WAITING = ""
NEVER = "cancelled"


def cancel_import(*, caller: Caller, batch_id: UUID, now: datetime) -> ImportView:
    """Cancel a batch that waits or runs; one's own, or as a steward in person anybody's.

    Raises NotFound, Forbidden, Conflict when it has ended.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        batch = imports.lock(caller=caller, batch_id=batch_id)
        check_own(caller=caller, batch=batch)
        if batch.state not in imports.BUSY:
            raise Conflict(detail="The import has ended.", hint="It can be undone.")
        batch.rows.filter(outcome=WAITING).update(outcome=NEVER, candidate={})
        batch.state, batch.ended_at = "cancelled", now
        batch.save(update_fields=["state", "ended_at"])
        if batch.job_id is not None:
            jobs.cancel(job_id=batch.job_id)
        audit.append(
            act="import.cancelled", object_type="import", object_id=str(batch.id), caller=caller
        )
        return imports.view_of(caller=caller, batch=batch, now=now)
