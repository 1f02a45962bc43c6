"""Background work over REST: list, look, try again, cancel."""

from datetime import datetime
from typing import Annotated, Any, ClassVar
from uuid import UUID

from pydantic import Field

from accounts.actions import operators
from accounts.api.endpoints import Answer, Call, get, post
from accounts.api.schemas import Nothing, OneOf, Page, PageQuery, Resource, Result
from accounts.caller import TokenScope
from accounts.errors import Conflict
from accounts.queries import job_list
from accounts.queries.job_list import JobView


class JobQuery(PageQuery):
    """Which jobs to list."""

    state: Annotated[str, OneOf(job_list.STATES)] | None = Field(
        None, description="Only jobs in this state."
    )


class Job(Result):
    """The job as it is now."""

    resource: ClassVar = Resource("jobs/{id}", "/id")
    id: UUID
    name: str
    queue: str
    state: Annotated[str, OneOf(job_list.STATES)]
    attempts: int
    progress_done: int
    progress_total: int
    result: dict[str, Any]
    error: str
    created_by: UUID | None
    created_at: datetime
    run_after: datetime
    started_at: datetime | None
    finished_at: datetime | None


@get("jobs", tag="jobs", scope=TokenScope.READ, answer=Page[Job])
def list_jobs(call: Call, query: JobQuery) -> Answer:
    """List background work.

    Background work one has set going, like embedding, newest first; managers see all.
    """
    page = job_list.list_jobs(
        caller=call.caller, state=query.state, cursor=call.cursor, limit=query.limit
    )
    return Answer(page.items, next_cursor=page.next_cursor)


@get("jobs/{id}", tag="jobs", scope=TokenScope.READ, answer=Job)
def get_job(call: Call) -> JobView:
    """Look at one job."""
    return job_list.find_job(caller=call.caller, job_id=call.id)


@post("jobs/{id}/retry", tag="jobs", scope=TokenScope.WRITE, answer=Job)
def retry_job(call: Call, body: Nothing) -> JobView:
    """Try a job again that did not succeed."""
    job = job_list.find_job(caller=call.caller, job_id=call.id)
    if not operators.retry_job(caller=call.caller, job_id=job.id):
        raise _not_possible(job, "tried again", "failed, quarantined or cancelled")
    return job_list.find_job(caller=call.caller, job_id=job.id)


@post("jobs/{id}/cancel", tag="jobs", scope=TokenScope.WRITE, answer=Job)
def cancel_job(call: Call, body: Nothing) -> JobView:
    """Cancel a job that has not begun."""
    job = job_list.find_job(caller=call.caller, job_id=call.id)
    if not operators.cancel_job(caller=call.caller, job_id=job.id):
        raise _not_possible(job, "cancelled", "queued")
    return job_list.find_job(caller=call.caller, job_id=job.id)


def _not_possible(job: JobView, verb: str, states: str) -> Conflict:
    return Conflict(
        detail=f"The job is {job.state}, so it cannot be {verb}.",
        hint=f"Only jobs that are {states} can.",
    )
