"""Try background work again, or cancel it, on somebody's word."""

from uuid import UUID

from accounts import audit, jobs
from accounts.caller import Caller


def retry_job(*, caller: Caller, job_id: UUID) -> bool:
    """Queue a job again that ended without success; False when it is in another state."""
    with audit.caller_unit(caller=caller):
        is_done = jobs.retry(job_id=job_id)
        if is_done:
            _note(caller, "retried", job_id)
    return is_done


def cancel_job(*, caller: Caller, job_id: UUID) -> bool:
    """Cancel a job that has not begun; False when it is in another state."""
    with audit.caller_unit(caller=caller):
        is_done = jobs.cancel(job_id=job_id)
        if is_done:
            _note(caller, "cancelled", job_id)
    return is_done


def _note(caller: Caller, verb: str, job_id: UUID) -> None:
    audit.append(act=f"job.{verb}", object_type="job", object_id=str(job_id), caller=caller)
