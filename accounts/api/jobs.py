"""Background work over REST: list, look, try again, cancel."""

from dataclasses import asdict
from typing import Any, Final

from accounts.actions.operators import cancel_job, retry_job
from accounts.api.endpoints import Answer, Ask, Endpoint, Reply, path_id
from accounts.api.shapes import Field, Record, Text
from accounts.caller import TokenScope
from accounts.errors import Conflict
from accounts.queries import jobs
from accounts.queries.jobs import JobView

EXAMPLE: Final[dict[str, Any]] = {
    "id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a77",
    "name": "memory.embed",
    "queue": "interactive",
    "state": "done",
    "attempts": 1,
    "progress_done": 1,
    "progress_total": 1,
    "result": {"embedded": 1},
    "error": "",
    "created_by": None,
    "created_at": "2026-11-20T12:00:00Z",
    "run_after": "2026-11-20T12:00:00Z",
    "started_at": "2026-11-20T12:00:01Z",
    "finished_at": "2026-11-20T12:00:01Z",
}


def index(ask: Ask) -> Answer:
    """Return a page of jobs, newest first."""
    page = jobs.list_jobs(
        caller=ask.caller,
        state=ask.query["state"],
        cursor=ask.cursor,
        limit=ask.query["limit"],
    )
    items = [asdict(job) for job in page.items]
    return Answer(body={"items": items}, next_cursor=page.next_cursor)


def look(ask: Ask) -> Answer:
    """Return one job."""
    return Answer(body=asdict(_job(ask)))


def retry(ask: Ask) -> Answer:
    """Queue a job again that did not succeed."""
    job = _job(ask)
    if not retry_job(caller=ask.caller, job_id=job.id):
        raise _not_possible(job, "tried again", "failed, quarantined or cancelled")
    return Answer(body=asdict(_job(ask)))


def cancel(ask: Ask) -> Answer:
    """Cancel a job that has not begun."""
    job = _job(ask)
    if not cancel_job(caller=ask.caller, job_id=job.id):
        raise _not_possible(job, "cancelled", "queued")
    return Answer(body=asdict(_job(ask)))


def _job(ask: Ask) -> JobView:
    return jobs.find_job(caller=ask.caller, job_id=path_id(ask=ask))


def _not_possible(job: JobView, verb: str, states: str) -> Conflict:
    return Conflict(
        detail=f"The job is {job.state}, so it cannot be {verb}.",
        hint=f"Only jobs that are {states} can.",
    )


def _verb(name: str, summary: str, run: Any) -> Endpoint:
    return Endpoint(
        method="POST",
        path=f"jobs/{{id}}/{name}",
        name=f"{name}_job",
        tag="jobs",
        summary=summary,
        scope=TokenScope.WRITE,
        run=run,
        body=Record(name="Nothing", fields=()),
        replies=(Reply(status=200, says="The job as it stands now.", schema="Job"),),
    )


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="jobs",
        name="list_jobs",
        tag="jobs",
        summary="List background work",
        says="Background work one has set going, like embedding, newest first; managers see all.",
        scope=TokenScope.READ,
        run=index,
        query=(
            Field(
                name="state",
                shape=Text(largest=12, choices=jobs.STATES),
                says="Only jobs in this state.",
            ),
        ),
        paged=True,
        replies=(
            Reply(
                status=200,
                says="A page of jobs.",
                schema="JobPage",
                example={"items": [EXAMPLE], "next_cursor": None},
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="jobs/{id}",
        name="get_job",
        tag="jobs",
        summary="Look at one job",
        scope=TokenScope.READ,
        run=look,
        replies=(Reply(status=200, says="The job.", schema="Job", example=EXAMPLE),),
    ),
    _verb("retry", "Try a job again that did not succeed", retry),
    _verb("cancel", "Cancel a job that has not begun", cancel),
)
