"""Background work over REST: list, look, try again, cancel."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from datetime import UTC, datetime
from threading import BoundedSemaphore, Event
from typing import Annotated, Any, ClassVar, Final, TypeVar
from uuid import UUID

from pydantic import Field

from accounts import jobs, queries, tenancy
from accounts.actions import organizations
from accounts.api import schemas
from accounts.api.endpoints import Answer, Call, get, post
from accounts.caller import Caller
from accounts.errors import Conflict, InvalidToken
from accounts.jobs import JobView


class JobQuery(schemas.PageQuery):
    """Which jobs to list."""

    state: Annotated[str, schemas.OneOf(jobs.STATES)] | None = Field(
        None, description="Only jobs in this state."
    )


@schemas.fields_of(JobView)
class Job(schemas.Result):
    """The job as it is now."""

    resource: ClassVar = schemas.Resource("jobs/{id}", "/id")
    state: Annotated[str, schemas.OneOf(jobs.STATES)]
    result: dict[str, Any]


@get("jobs", tag="jobs", answer=schemas.Page[Job])
def list_jobs(call: Call, query: JobQuery) -> Answer:
    """List background work.

    Background work one has set going, like embedding, newest first; managers see all.
    """
    page = jobs.list_jobs(
        caller=call.caller, state=query.state, cursor=call.after(str), limit=query.limit
    )
    return Answer(page.items, following=page.next_place)


@get("jobs/{id}", tag="jobs", answer=Job)
def get_job(call: Call) -> JobView:
    """Look at one job."""
    return jobs.find_job(caller=call.caller, job_id=call.id)


@post("jobs/{id}/retry", tag="jobs", answer=Job, idempotent=False)
def retry_job(call: Call, body: schemas.Nothing) -> JobView:
    """Try a job again that did not succeed."""
    job = jobs.find_job(caller=call.caller, job_id=call.id)
    if not organizations.retry_job(caller=call.caller, job_id=job.id):
        raise _not_possible(job, "tried again", "failed, quarantined or cancelled")
    return jobs.find_job(caller=call.caller, job_id=job.id)


@post("jobs/{id}/cancel", tag="jobs", answer=Job, idempotent=False)
def cancel_job(call: Call, body: schemas.Nothing) -> JobView:
    """Cancel a job that has not begun."""
    job = jobs.find_job(caller=call.caller, job_id=call.id)
    if not organizations.cancel_job(caller=call.caller, job_id=job.id):
        raise _not_possible(job, "cancelled", "queued")
    return jobs.find_job(caller=call.caller, job_id=job.id)


def _not_possible(job: JobView, verb: str, states: str) -> Conflict:
    return Conflict(
        detail=f"The job is {job.state}, so it cannot be {verb}.",
        hint=f"Only jobs that are {states} can.",
    )


# Wait for background work inside a request, bounded, holding nothing meanwhile.
#
# Between two looks the database connection goes back to the pool: a handful of waiting callers
# would otherwise take all of them. In a surrounding transaction (tests) it stays, because it
# must. A thread cannot be given back, so only some may wait at a time.

LONGEST_WAIT: Final = 30  # seconds, ours; below the timeouts of usual proxies
PAUSE_SECONDS: Final = 0.2
MOST_WAITING: Final = 8  # calls of one process, half of its threads; the rest must stay usable
ENDED: Final = frozenset({"done", "failed", "quarantined", "cancelled"})
Found = TypeVar("Found")


class WaitQuery(schemas.Query):
    """How long a call waits for its background work."""

    wait: int = Field(
        0,
        ge=0,
        le=LONGEST_WAIT,
        description="Seconds to wait for the background work of this call, 0 to 30.",
    )


# What a request enters while it only waits: others are worked on meanwhile (`config.admission`).
idle: ContextVar[Callable[[], AbstractContextManager[None]]] = ContextVar(
    "cairn_idle", default=nullcontext
)
_places = BoundedSemaphore(MOST_WAITING)
_is_ending = Event()


def stop_waiting() -> None:
    """End all waiting of this process, now and from now on: it is about to end itself."""
    _is_ending.set()


def until(
    *, look: Callable[[], Found | None], seconds: int, check: Callable[[], object] = lambda: None
) -> Found | None:
    """Look until there is something or the time is over; return the last that was seen.

    `check` is asked after each pause and raises when waiting must end. When `MOST_WAITING` others
    wait already, looks once: waiting is a courtesy to the caller.
    """
    found = look()
    if found or not seconds or not _places.acquire(blocking=False):
        return found
    ends_at = time.monotonic() + seconds
    try:
        with idle.get()():
            while not found and time.monotonic() < ends_at and not _is_ending.is_set():
                tenancy.let_go()
                _is_ending.wait(PAUSE_SECONDS)
                check()
                found = look()
        return found
    finally:
        _places.release()


def check_holds(*, caller: Caller) -> None:
    """Raise InvalidToken when what let the caller in has ended, or gives less than it gave."""
    if not queries.still_holds(caller=caller, now=datetime.now(UTC)):
        raise InvalidToken(
            detail="This credential ended while the call waited.", hint="Sign in again."
        )


def until_done(*, caller: Caller, job_id: UUID | None, seconds: int) -> bool:
    """Wait for a job to end; say whether it is done. No job, or no time to wait: False."""
    if job_id is None or not seconds:
        return False

    def look() -> JobView | None:
        job = jobs.find_job(caller=caller, job_id=job_id)
        return job if job.state in ENDED else None

    job = until(look=look, seconds=seconds)
    return job is not None and job.state == "done"
