"""Try an import again that failed: what is in stays, what still waits is taken in."""

from datetime import datetime
from uuid import UUID

from accounts import jobs, tenancy
from accounts.caller import Caller, principal
from accounts.errors import Conflict
from memory.documents.actions.begin_import import JOB
from memory.documents.actions.undo_import import check_own
from memory.documents.models import Import
from memory.documents.queries import imports
from memory.documents.queries.imports import ImportView
from teams import audit
from teams.permissions import Act, require


def retry_import(*, caller: Caller, batch_id: UUID, now: datetime) -> ImportView:
    """Queue the job of a batch again; one's own, or as a steward in person anybody's.

    Raises NotFound, Forbidden, Conflict when it has not failed.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        batch = imports.lock(caller=caller, batch_id=batch_id)
        check_own(caller=caller, batch=batch)
        if imports.failure_of(batch=batch) is None:
            raise Conflict(
                detail="Only an import that failed is tried again.",
                hint="Wait until it has ended, or import the file again.",
            )
        batch.state, batch.error, batch.ended_at = "queued", "", None
        batch.job_id = _queued(caller, batch)
        batch.save(update_fields=["state", "error", "ended_at", "job_id"])
        audit.append(
            act="import.retried", object_type="import", object_id=str(batch.id), caller=caller
        )
        return imports.view_of(caller=caller, batch=batch, now=now)


def _queued(caller: Caller, batch: Import) -> UUID | None:
    """Queue the job there was, else a new one; return which."""
    if batch.job_id is not None and jobs.retry(job_id=batch.job_id):
        return batch.job_id
    made = jobs.enqueue(
        JOB,
        payload={"key": str(batch.id)},
        key=batch.id.hex,
        created_by=principal(caller=caller),
    )
    return made or batch.job_id
