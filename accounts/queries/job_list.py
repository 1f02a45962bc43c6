"""Background work as people see it: states and counts, never the payload.

One sees what one has set going, managers see all: that somebody writes, and how much, is told by
work as well, also of memories that are theirs alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Max, Min, Q, QuerySet

from accounts import rights, tenancy
from accounts.caller import Caller, principal
from accounts.errors import InvalidInput, NotFound, wrong_field
from accounts.messages import from_parts, message
from accounts.models import Job, Slot

MAXIMUM_PAGE: Final = 200
STATES: Final = tuple(Job.State.values)
UNSUCCESSFUL: Final = (Job.State.FAILED, Job.State.QUARANTINED, Job.State.CANCELLED)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """One piece of background work; `result` holds its counts, `error` a sentence for people."""

    id: UUID
    name: str
    queue: str
    state: str
    attempts: int
    progress_done: int
    progress_total: int
    result: Mapping[str, Any]
    error: str
    created_by: UUID | None
    created_at: datetime
    run_after: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """How many jobs are in each state, and since when the one waits that has been due the longest.

    `last_runs` says when each scheduled task last began; it is empty but for managers.
    """

    states: Mapping[str, int]
    due_since: datetime | None
    last_runs: Mapping[str, datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPage:
    """Jobs, newest first, and where the next page begins (None: this is the last)."""

    items: tuple[JobView, ...]
    next_cursor: str | None


def list_jobs(
    *, caller: Caller, state: str | None = None, cursor: str | None = None, limit: int = 50
) -> JobPage:
    """Return a page of the jobs that the caller may see.

    Raises InvalidInput for an unknown state, a cursor not of ours, or a limit outside 1..200.
    """
    if not 1 <= limit <= MAXIMUM_PAGE:
        raise _invalid("/limit", message("The limit is 1 to {most}.", most=MAXIMUM_PAGE))
    rows = _of(caller).order_by("-created_at", "id")
    if state is not None:
        if state not in STATES:
            raise _invalid("/state", message("The state is one of {names}.", names=tuple(STATES)))
        rows = rows.filter(state=state)
    if cursor is not None:
        rows = rows.filter(_after(cursor))
    with tenancy.walled(organization_id=caller.organization_id):
        found = list(rows[: limit + 1])
    items = tuple(_job_view(row) for row in found[:limit])
    if len(found) <= limit:
        return JobPage(items=items, next_cursor=None)
    last = items[-1]
    cursor = f"{(last.created_at - EPOCH) // MICROSECOND:x}-{last.id.hex}"
    return JobPage(items=items, next_cursor=cursor)


def failures(*, job_ids: tuple[UUID, ...]) -> dict[UUID, str]:
    """Return why those of the entered organization's jobs failed for good that did."""
    organization_id = tenancy.current().organization_id
    rows = Job.objects.filter(
        organization_id=organization_id, pk__in=job_ids, state__in=UNSUCCESSFUL
    )
    with tenancy.walled(organization_id=organization_id):
        found = tuple(rows.order_by("id").values_list("id", "error", "error_parts"))
    return {
        id: from_parts(parts=parts, text=error) or message("Its job was cancelled.")
        for id, error, parts in found
    }


def failure(*, name: str, keys: tuple[str, ...]) -> str:
    """Return why the newest of the entered organization's jobs with one of these keys failed.

    Nothing when it waits, runs or is done, or when there is none.
    """
    organization_id = tenancy.current().organization_id
    rows = Job.objects.filter(organization_id=organization_id, name=name, key__in=keys)
    with tenancy.walled(organization_id=organization_id):
        newest = rows.order_by("-created_at", "id").values_list("id", flat=True).first()
    return failures(job_ids=(newest,)).get(newest, "") if newest else ""


def workload(*, caller: Caller, now: datetime) -> Workload:
    """Return how the work stands that the caller may see."""
    due = _of(caller).filter(state=Job.State.QUEUED, run_after__lte=now)
    with tenancy.walled(organization_id=caller.organization_id):
        counted = dict(_of(caller).values_list("state").annotate(Count("id")).order_by("state"))
        due_since = due.aggregate(first=Min("run_after"))["first"]
    runs = Slot.objects.values_list("name").annotate(Max("taken_at")).order_by("name")
    return Workload(
        states={state: counted.get(state, 0) for state in STATES},
        due_since=due_since,
        last_runs=dict(runs) if rights.manages(caller=caller) else {},
    )


def find_job(*, caller: Caller, job_id: UUID) -> JobView:
    """Return one job. Raises NotFound also for one that is not the caller's to see."""
    with tenancy.walled(organization_id=caller.organization_id):
        row = _of(caller).filter(pk=job_id).first()
    if row is None:
        raise NotFound(detail="There is no such job.", hint="GET /api/v1/jobs lists them.")
    return _job_view(row)


def latest(*, caller: Caller, name: str, key: str) -> JobView | None:
    """Return the newest job of a name and key that the caller may see; None without one."""
    with tenancy.walled(organization_id=caller.organization_id):
        row = _of(caller).filter(name=name, key=key).order_by("-created_at", "-id").first()
    return None if row is None else _job_view(row)


def _of(caller: Caller) -> QuerySet[Job]:
    rows = Job.objects.filter(organization_id=caller.organization_id).defer("payload")
    if rights.manages(caller=caller):
        return rows
    return rows.filter(created_by=principal(caller=caller))


def _after(cursor: str) -> Q:
    timestamp, _, identifier = cursor.partition("-")
    try:
        created_at = EPOCH + int(timestamp, 16) * MICROSECOND
        last = UUID(hex=identifier)
    except (ValueError, OverflowError) as error:
        raise _invalid("/cursor", "The cursor is not one of ours.") from error
    return Q(created_at__lt=created_at) | Q(created_at=created_at, id__gt=last)


def _job_view(row: Job) -> JobView:
    return JobView(
        id=row.id,
        name=row.name,
        queue=row.queue,
        state=row.state,
        attempts=row.attempts,
        progress_done=row.progress_done,
        progress_total=row.progress_total,
        result=row.result,
        error=from_parts(parts=row.error_parts, text=row.error),
        created_by=row.created_by,
        created_at=row.created_at,
        run_after=row.run_after,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def _invalid(pointer: str, detail: str) -> InvalidInput:
    return wrong_field(pointer=pointer, detail=detail, hint="Correct the parameter and ask again.")
