"""Background work: rows in the outbox, and the names of all of it (spec 2.5).

`enqueue` writes a Job in the caller's transaction and, after commit, wakes a worker through Celery.
A lost wake-up costs only time: the sweeper on beat wakes what is due. Workers claim with FOR UPDATE
SKIP LOCKED and count the attempt at the claim, so a job that kills its worker is quarantined after
three claims instead of being ground forever. Leases use the database's clock.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from celery import current_app
from django.db import connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from accounts import tenancy
from accounts.job_names import NAMES
from accounts.models import Job, Slot

log = logging.getLogger(__name__)

MAX_CLAIMS: Final = 3  # spec 2.5
LEASE_SECONDS: Final = 60
FIRST_RETRY_SECONDS: Final = 5  # doubled at each attempt
KEEP_JOBS_DAYS: Final = 14
KEEP_SLOTS_DAYS: Final = 2
WAKE_TASK: Final = "cairn.wake"

Handler = Callable[["Claim"], Mapping[str, Any]]
_handlers: dict[str, Handler] = {}


class PermanentFailure(Exception):
    """A job that can never succeed; it is not tried again. The text is shown to people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A job this worker holds, with what it needs to run it."""

    id: UUID
    name: str
    payload: Mapping[str, Any]
    attempt: int
    tenant: tenancy.Tenant


def handler(name: str) -> Callable[[Handler], Handler]:
    """Register the function that runs jobs of this name. It returns the counts of its result."""
    if name not in NAMES:
        raise KeyError(f"{name} is not in accounts.job_names.NAMES")
    if name in _handlers:
        raise KeyError(f"{name} has a handler already")

    def register(function: Handler) -> Handler:
        _handlers[name] = function
        return function

    return register


def registered() -> frozenset[str]:
    """Return the names that have a handler in this process."""
    return frozenset(_handlers)


def run_handler(claim: Claim) -> Mapping[str, Any]:
    """Run the handler of a claimed job."""
    return _handlers[claim.name](claim)


def enqueue(
    name: str,
    *,
    payload: Mapping[str, Any],
    key: str = "",
    priority: int = 3,
    delay_seconds: int = 0,
    created_by: UUID | None = None,
) -> UUID | None:
    """Write a job of the entered organization in the current transaction.

    Returns its id, or None when an open job with the same key already does the work.
    """
    tenant = tenancy.current()
    job = Job(
        organization_id=tenant.organization_id,
        name=name,
        queue=NAMES[name],
        key=key,
        priority=priority,
        payload=dict(payload),
        run_after=Now() + timedelta(seconds=delay_seconds),
        created_by=created_by,
    )
    if not Job.objects.bulk_create([job], ignore_conflicts=True) or not _exists(job.id):
        return None
    transaction.on_commit(lambda: wake(queue=job.queue))
    return job.id


def wake(*, queue: str) -> None:
    """Tell a worker that its queue has work. A broker that is away is logged; the sweeper helps."""
    try:
        current_app.send_task(WAKE_TASK, args=[queue], queue=queue, ignore_result=True)
    except (OperationalError, OSError) as error:
        log.warning("No worker woken for %s: %s; the sweeper will.", queue, error)


def claim(*, queue: str, worker: str) -> Claim | None:
    """Take the next due job of a queue, or return None. Counts the attempt."""
    with transaction.atomic():
        job = (
            Job.objects.select_for_update(skip_locked=True, of=("self",))
            .select_related("organization")
            .filter(queue=queue, state=Job.State.QUEUED, run_after__lte=Now())
            .order_by("priority", "run_after", "id")
            .first()
        )
        if job is None:
            return None
        Job.objects.filter(pk=job.pk).update(
            state=Job.State.RUNNING,
            attempts=F("attempts") + 1,
            lease_until=Now() + timedelta(seconds=LEASE_SECONDS),
            started_at=Now(),
            worker=worker,
        )
    organization = job.organization
    return Claim(
        id=job.id,
        name=job.name,
        payload=job.payload,
        attempt=job.attempts + 1,
        tenant=tenancy.Tenant(
            organization_id=organization.id,
            slug=organization.slug,
            schema_name=organization.schema_name,
        ),
    )


def heartbeat(*, held: Claim) -> bool:
    """Extend the lease; False when the job is no longer held by this attempt."""
    rows = _held(held).update(lease_until=Now() + timedelta(seconds=LEASE_SECONDS))
    return rows == 1


def progress(*, held: Claim, done: int, total: int) -> None:
    """Record how far a job is, and extend its lease."""
    _held(held).update(
        progress_done=done,
        progress_total=total,
        lease_until=Now() + timedelta(seconds=LEASE_SECONDS),
    )


def finish(*, held: Claim, result: Mapping[str, Any]) -> bool:
    """Mark a job done with its counts; False when another attempt has taken over."""
    return (
        _held(held).update(
            state=Job.State.DONE, result=dict(result), error="", finished_at=Now(), lease_until=None
        )
        == 1
    )


def fail(*, held: Claim, reason: str, permanent: bool) -> None:
    """Record a failed attempt: queue it again with doubling delay, or end it."""
    if permanent or held.attempt >= MAX_CLAIMS:
        state = Job.State.FAILED if permanent else Job.State.QUARANTINED
        _held(held).update(state=state, error=reason, finished_at=Now(), lease_until=None)
        return
    delay = FIRST_RETRY_SECONDS * 2 ** (held.attempt - 1)
    _held(held).update(
        state=Job.State.QUEUED,
        error=reason,
        lease_until=None,
        run_after=Now() + timedelta(seconds=delay),
    )


def sweep() -> dict[str, int]:
    """Take back jobs whose worker is gone, and wake the queues that have due work."""
    lost = Job.objects.filter(state=Job.State.RUNNING, lease_until__lt=Now())
    gone = "Its worker stopped without finishing it"
    quarantined = lost.filter(attempts__gte=MAX_CLAIMS).update(
        state=Job.State.QUARANTINED, error=f"{gone}, {MAX_CLAIMS} times.", finished_at=Now()
    )
    requeued = lost.filter(attempts__lt=MAX_CLAIMS).update(
        state=Job.State.QUEUED, error=f"{gone}; tried again.", run_after=Now(), lease_until=None
    )
    due = (
        Job.objects.filter(state=Job.State.QUEUED, run_after__lte=Now())
        .order_by("queue")
        .values_list("queue", flat=True)
        .distinct()
    )
    for queue in due:
        wake(queue=queue)
    return {"requeued": requeued, "quarantined": quarantined, "queues": len(due)}


def retry(*, job_id: UUID) -> bool:
    """Queue a failed, quarantined or cancelled job of the entered organization again."""
    rows = Job.objects.filter(
        Q(state__in=(Job.State.FAILED, Job.State.QUARANTINED, Job.State.CANCELLED)),
        pk=job_id,
        organization_id=tenancy.current().organization_id,
    ).update(state=Job.State.QUEUED, attempts=0, run_after=Now(), finished_at=None, error="")
    if rows:
        queue = Job.objects.values_list("queue", flat=True).get(pk=job_id)
        transaction.on_commit(lambda: wake(queue=queue))
    return rows == 1


def cancel(*, job_id: UUID) -> bool:
    """Cancel a job of the entered organization that is still queued."""
    rows = Job.objects.filter(
        pk=job_id,
        organization_id=tenancy.current().organization_id,
        state=Job.State.QUEUED,
    ).update(state=Job.State.CANCELLED, finished_at=Now())
    return rows == 1


def take_slot(*, name: str, interval_seconds: int) -> bool:
    """Take the current slot of a scheduled job; False when another beat has it already."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO accounts_slot (name, starts_at, taken_at)"
            " SELECT %(name)s, to_timestamp(floor(extract(epoch FROM now()) / %(seconds)s)"
            " * %(seconds)s), now() ON CONFLICT DO NOTHING",
            {"name": name, "seconds": interval_seconds},
        )
        return cursor.rowcount == 1


def evict() -> None:
    """Forget finished jobs and slots past their time; failed ones wait for a person."""
    done = Job.objects.filter(state__in=(Job.State.DONE, Job.State.CANCELLED))
    done.filter(finished_at__lt=Now() - timedelta(days=KEEP_JOBS_DAYS)).delete()
    Slot.objects.filter(starts_at__lt=Now() - timedelta(days=KEEP_SLOTS_DAYS)).delete()


def _held(held: Claim) -> Any:
    return Job.objects.filter(pk=held.id, state=Job.State.RUNNING, attempts=held.attempt)


def _exists(job_id: UUID) -> bool:
    return Job.objects.filter(pk=job_id).exists()
