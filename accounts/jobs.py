"""Background work: rows in the outbox, the names of all of it, and what people see of it.

`enqueue` writes a Job in the caller's transaction and, after commit, wakes a worker through Celery.
A lost wake-up costs only time: the sweeper on beat wakes what is due. Workers claim with FOR UPDATE
SKIP LOCKED and count the attempt at the claim, so a job that kills its worker is quarantined after
three claims instead of being ground forever. A job that found something it needs down gives its
claim back and waits, longer each time up to a bound, so an outage quarantines nothing and nobody is
asked too often; its result counts the waits and its error says why. Every moment is the database's.

Of jobs with one key at most one waits. Whoever finds one waiting holds it until commit, so it runs
after their change and sees it; a running one may have looked already, so it does not count.

People see states and counts, never the payload. One sees what one has set going, managers see all:
that somebody writes, and how much, is told by work as well, also of memories that are theirs alone.
"""

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from celery import current_app
from django.db import IntegrityError, connection, transaction
from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet
from django.db.models.functions import Least, Now
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from accounts import live, tenancy
from accounts.caller import Caller, manages, principal
from accounts.errors import NotFound, wrong_field
from accounts.messages import from_parts, join_messages, message, to_parts
from accounts.models import Job, Slot
from accounts.pages import Page, page_of
from accounts.tenancy import rls

log = logging.getLogger(__name__)

NAMES: Final[Mapping[str, str]] = {  # of all background work, with the queue of each
    "accounts.tell_leak": "interactive",
    "graph.resolve": "bulk",
    "memory.embed": "interactive",
    "memory.consolidate": "extraction",
    "memory.judge_added": "extraction",
    "memory.observe": "extraction",
    "memory.synthesize": "maintenance",
    "memory.embed_bulk": "bulk",
    "memory.run_import": "bulk",
    "memory.switch_model": "bulk",
    "memory.roll_back": "bulk",
    "memory.drop_vectors": "maintenance",
    "memory.refresh_lexicon": "maintenance",
    "memory.index_search": "maintenance",
    "memory.sort_topics": "maintenance",
    "memory.read_names": "maintenance",
    "memory.join_names": "maintenance",
    "memory.prove": "maintenance",
    "memory.enrich_entities": "maintenance",
}
MAX_CLAIMS: Final = 3
LEASE_SECONDS: Final = 60
FIRST_RETRY_SECONDS: Final = 5  # doubled at each attempt
FIRST_WAIT_SECONDS: Final = 30  # half the time a tripped circuit stays open
LONGEST_WAIT_SECONDS: Final = 300  # how late work begins after an outage, at most
MAX_DOUBLINGS: Final = 8  # beyond the longest wait
REFUSED_SECONDS: Final = 3_600  # after which upkeep tries what was refused once more
WAITS: Final = "waits"  # in the result of one that has not ended: how often it gave its claim back
HOLD_WAITING: Final = """
SELECT id FROM accounts_job
WHERE organization_id = %(organization)s AND name = %(name)s AND key = %(key)s AND state = 'queued'
FOR SHARE
"""
GONE: Final = message(
    "Its worker stopped without finishing it: it crashed, ran out of memory or was killed; tried "
    "again."
)
GONE_FOR_GOOD: Final = message(
    "Its worker stopped without finishing it: it crashed, ran out of memory or was killed "
    "({times} times).",
    times=MAX_CLAIMS,
)
KEEP_JOBS_DAYS: Final = 14
ENDED_WELL: Final = (Job.State.DONE, Job.State.CANCELLED)
KEEP_SLOTS_DAYS: Final = 2
BACKUP_SLOT: Final = "backup"  # when the last backup began, which the health checks read
WAKE_TASK: Final = "cairn.wake"
STATES: Final = tuple(Job.State.values)
UNSUCCESSFUL: Final = (Job.State.FAILED, Job.State.QUARANTINED, Job.State.CANCELLED)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)

Handler = Callable[["Claim"], Mapping[str, Any]]
_handlers: dict[str, Handler] = {}


class PermanentFailure(Exception):
    """A job that can never succeed; it is not tried again. Its sentences are shown to people."""

    def __init__(self, *reason: str) -> None:
        """Keep why, in one sentence or several."""
        self.reason = join_messages(*reason)
        super().__init__(self.reason)


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
        raise KeyError(f"{name} is not in accounts.jobs.NAMES")
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

    Returns its id, or None when a waiting job with the same key will do the work.
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
    with tenancy.walled(organization_id=tenant.organization_id):
        is_new = False
        while not is_new and not (key and _hold_waiting(job)):
            Job.objects.bulk_create([job], ignore_conflicts=True)
            is_new = not key or Job.objects.filter(pk=job.pk).exists()
    if is_new or not delay_seconds:
        transaction.on_commit(lambda: wake(queue=job.queue, delay_seconds=delay_seconds))
    return job.id if is_new else None


def put_off(*, name: str, key: str, delay_seconds: int, longest_seconds: int) -> None:
    """Let the waiting job of a key begin so much later than now, within a bound of its age."""
    later, last = Now() + timedelta(seconds=delay_seconds), timedelta(seconds=longest_seconds)
    with _own_jobs(name=name, key=key, state=Job.State.QUEUED) as waiting:
        waiting.update(run_after=Least(later, F("created_at") + last))


def wake(*, queue: str, delay_seconds: int = 0) -> None:
    """Tell a worker that its queue has work. A broker that is away is logged; the sweeper helps."""
    if live.redis.is_active():
        return
    later = {"countdown": delay_seconds} if delay_seconds else {}
    try:
        current_app.send_task(WAKE_TASK, args=[queue], queue=queue, ignore_result=True, **later)
    except (OperationalError, RedisError, OSError) as error:
        live.redis.start()
        log.warning("No worker woken for %s: %s; the sweeper will.", queue, error)


def claim(*, queue: str, worker: str) -> Claim | None:
    """Take the next due job of a queue, or return None. Counts the attempt."""
    lease = timedelta(seconds=LEASE_SECONDS)
    job = rls.claim_job(queue=queue, worker=worker, lease=lease)
    if job is None:
        return None
    id, name, payload, attempt, organization_id, slug, schema_name = job
    tenant = tenancy.Tenant(organization_id=organization_id, slug=slug, schema_name=schema_name)
    return Claim(id=id, name=name, payload=json.loads(payload), attempt=attempt, tenant=tenant)


def heartbeat(*, held: Claim) -> bool:
    """Extend the lease; False when the job is no longer held by this attempt."""
    with _held(held) as row:
        return row.update(lease_until=Now() + timedelta(seconds=LEASE_SECONDS)) == 1


def progress(held: Claim, done: int, total: int, so_far: Mapping[str, Any] | None = None) -> None:
    """Record how far a job is, and extend its lease.

    `so_far` is its result until now, which stays where it comes to no end.
    """
    result = {} if so_far is None else {"result": dict(so_far)}
    with _held(held) as row:
        row.update(
            progress_done=done,
            progress_total=total,
            lease_until=Now() + timedelta(seconds=LEASE_SECONDS),
            **result,
        )


def finish(*, held: Claim, result: Mapping[str, Any]) -> bool:
    """Mark a job done with its counts; False when another attempt has taken over."""
    done = {"state": Job.State.DONE, "result": dict(result), **_because("")}
    with _held(held) as row:
        return row.update(**done, finished_at=Now(), lease_until=None) == 1


def fail(*, held: Claim, reason: str, permanent: bool) -> None:
    """Record a failed attempt: queue it again with doubling delay, or end it."""
    with _held(held) as row:
        if permanent or held.attempt >= MAX_CLAIMS:
            state = Job.State.FAILED if permanent else Job.State.QUARANTINED
            row.update(state=state, **_because(reason), finished_at=Now(), lease_until=None)
            return
        delay = FIRST_RETRY_SECONDS * 2 ** (held.attempt - 1)
        _queue_again(row, **_because(reason), run_after=Now() + timedelta(seconds=delay))


def postpone(*, held: Claim, reason: str) -> None:
    """Give a claim back because something the job needs is down; it is no failed attempt.

    It waits 30 s, then twice as long each time, at most 300 s.
    """
    with _held(held) as row:
        before = row.values_list("result", flat=True).first() or {}
        waits = before.get(WAITS, 0)
        wait = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** min(waits, MAX_DOUBLINGS))
        _queue_again(
            row,
            **_because(reason),
            attempts=F("attempts") - 1,
            result={WAITS: waits + 1},
            run_after=Now() + timedelta(seconds=wait),
        )


def sweep() -> dict[str, int]:
    """Take back jobs whose worker is gone, and wake the queues that have due work."""
    ended = [_take_back(job_id, organization_id) for job_id, organization_id in rls.lost_jobs()]
    due = rls.due_queues()
    for queue in due:
        wake(queue=queue)
    requeued, quarantined = (ended.count(s) for s in (Job.State.QUEUED, Job.State.QUARANTINED))
    return {"requeued": requeued, "quarantined": quarantined, "queues": len(due)}


def retry(*, job_id: UUID) -> bool:
    """Queue a failed, quarantined or cancelled job of the entered organization again."""
    states = (Job.State.FAILED, Job.State.QUARANTINED, Job.State.CANCELLED)
    with _own_jobs(pk=job_id, state__in=states) as ended:
        queue = ended.values_list("queue", flat=True).first()
        if queue is None:
            return False
        _queue_again(
            ended, attempts=0, run_after=Now(), finished_at=None, result={}, **_because("")
        )
        transaction.on_commit(lambda: wake(queue=queue))
    return True


def known_keys(*, names: tuple[str, ...], keys: tuple[str, ...]) -> frozenset[str]:
    """Return those keys for which the entered organization has a job that is not done."""
    with _own_jobs(name__in=names, key__in=keys) as rows:
        return frozenset(rows.exclude(state__in=ENDED_WELL).values_list("key", flat=True))


def last_error(*, name: str) -> str:
    """Return why the newest job of a name waits or failed; nothing when it is well."""
    with _own_jobs(name=name) as rows:
        not_done = rows.exclude(state__in=ENDED_WELL).order_by("-created_at", "-id")
        newest = not_done.values_list("error", "error_parts").first()
    return "" if newest is None else from_parts(text=newest[0], parts=newest[1])


def retry_refused(*, names: tuple[str, ...], limit: int) -> int:
    """Queue jobs again that were refused more than an hour ago; return how many, at most limit."""
    before = Now() - timedelta(seconds=REFUSED_SECONDS)
    with _own_jobs(name__in=names, state=Job.State.FAILED, finished_at__lt=before) as refused:
        found = tuple(refused.order_by("finished_at", "id").values_list("id", flat=True)[:limit])
        return sum(retry(job_id=job_id) for job_id in found)


def cancel(*, job_id: UUID) -> bool:
    """Cancel a job of the entered organization that is still queued."""
    with _own_jobs(pk=job_id, state=Job.State.QUEUED) as waiting:
        return waiting.update(state=Job.State.CANCELLED, finished_at=Now()) == 1


def hold_ended(*, name: str, carrying: Mapping[str, Any]) -> bool:
    """Say whether the jobs of a name that carry this have ended, and keep it so. In a unit.

    Whoever wants to try one again waits until the unit ends.
    """
    with _own_jobs(name=name, payload__contains=dict(carrying)) as rows:
        held = rows.select_for_update(of=("self",)).order_by("id")
        states = set(held.values_list("state", flat=True))
    return states.isdisjoint({Job.State.QUEUED, Job.State.RUNNING})


def take_slot(*, name: str, interval_seconds: int) -> bool:
    """Take the current slot of a scheduled job; False when another beat has it already."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO accounts_slot (name, starts_at, taken_at)"
            " SELECT %(name)s, to_timestamp(floor(extract(epoch FROM now()) / %(seconds)s)"
            " * %(seconds)s), now() ON CONFLICT DO NOTHING",
            {"name": name, "seconds": interval_seconds},
        )
        return bool(cursor.rowcount == 1)


def evict() -> None:
    """Forget finished jobs and slots past their time; failed ones wait for a person.

    The last slot of each name stays: that of a week may be the current one.
    """
    rls.forget_jobs(age=timedelta(days=KEEP_JOBS_DAYS))
    later = Slot.objects.filter(name=OuterRef("name"), starts_at__gt=OuterRef("starts_at"))
    old = Slot.objects.filter(starts_at__lt=Now() - timedelta(days=KEEP_SLOTS_DAYS))
    old.filter(Exists(later)).delete()


@contextmanager
def _own_jobs(**wanted: Any) -> Iterator[QuerySet[Job]]:
    """Yield some jobs of the entered organization, inside the wall of it."""
    organization_id = tenancy.current().organization_id
    with tenancy.walled(organization_id=organization_id):
        yield Job.objects.filter(organization_id=organization_id, **wanted)


@contextmanager
def _held(held: Claim) -> Iterator[QuerySet[Job]]:
    """Yield the row of a claim that has not ended, inside the wall of its organization."""
    with tenancy.walled(organization_id=held.tenant.organization_id):
        yield Job.objects.filter(pk=held.id, state=Job.State.RUNNING, attempts=held.attempt)


def _take_back(job_id: UUID, organization_id: UUID) -> Job.State | None:
    """End the attempt of a lost job; return how it went on, None when it was not lost after all."""
    lost = Job.objects.filter(pk=job_id, state=Job.State.RUNNING, lease_until__lt=Now())
    with tenancy.walled(organization_id=organization_id):
        ended = lost.filter(attempts__gte=MAX_CLAIMS).update(
            state=Job.State.QUARANTINED, **_because(GONE_FOR_GOOD), finished_at=Now()
        )
        if ended:
            return Job.State.QUARANTINED
        if not lost.exists():
            return None
        _queue_again(lost, **_because(GONE), run_after=Now())
        return Job.State.QUEUED


def _because(reason: str) -> dict[str, Any]:
    """Return the columns that say why: the text, and what it is made of."""
    return {"error": str(reason), "error_parts": to_parts(text=reason) if reason else None}


def _hold_waiting(job: Job) -> bool:
    """Keep the waiting job of the same key from being claimed before this transaction ends."""
    same: dict[str, Any] = {"organization": job.organization_id, "name": job.name, "key": job.key}
    with connection.cursor() as cursor:
        cursor.execute(HOLD_WAITING, same)
        return cursor.fetchone() is not None


def _queue_again(rows: QuerySet[Job], **changes: Any) -> None:
    """Queue one job again, unless a job with its key waits already: then that one does the work."""
    try:
        with transaction.atomic():
            rows.update(state=Job.State.QUEUED, lease_until=None, **changes)
    except IntegrityError:
        rows.update(
            state=Job.State.CANCELLED,
            **_because(message("A job that does the same waits already.")),
            finished_at=Now(),
            lease_until=None,
        )


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
    """How many jobs are in each state, and since when the one due longest waits."""

    states: Mapping[str, int]
    due_since: datetime | None
    last_runs: Mapping[str, datetime]  # of each scheduled task; empty but for managers


def list_jobs(
    *, caller: Caller, state: str | None = None, cursor: str | None = None, limit: int = 50
) -> Page[JobView, str]:
    """Return a page of the jobs that the caller may see, newest first.

    Raises InvalidInput for a cursor not of ours.
    """
    rows = _of(caller).order_by("-created_at", "id")
    if state is not None:
        rows = rows.filter(state=state)
    if cursor is not None:
        rows = rows.filter(_after(cursor))
    with tenancy.walled(organization_id=caller.organization_id):
        found = [_job_view(row) for row in rows[: limit + 1]]
    return page_of(
        found=found,
        limit=limit,
        place=lambda last: f"{(last.created_at - EPOCH) // MICROSECOND:x}-{last.id.hex}",
    )


def failures(*, job_ids: tuple[UUID, ...]) -> dict[UUID, str]:
    """Return why those of the entered organization's jobs failed for good that did."""
    with _own_jobs(pk__in=job_ids, state__in=UNSUCCESSFUL) as rows:
        found = tuple(rows.order_by("id").values_list("id", "error", "error_parts"))
    return {
        id: from_parts(parts=parts, text=error) or message("Its job was cancelled.")
        for id, error, parts in found
    }


def failure(*, name: str, keys: tuple[str, ...]) -> str:
    """Return why the newest of the entered organization's jobs with one of these keys failed.

    Nothing when it waits, runs or is done, or when there is none.
    """
    with _own_jobs(name=name, key__in=keys) as rows:
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
        last_runs=dict(runs) if manages(caller=caller) else {},
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
    if manages(caller=caller):
        return rows
    return rows.filter(created_by=principal(caller=caller))


def _after(cursor: str) -> Q:
    timestamp, _, identifier = cursor.partition("-")
    try:
        created_at = EPOCH + int(timestamp, 16) * MICROSECOND
        last = UUID(hex=identifier)
    except (ValueError, OverflowError) as error:
        raise wrong_field(
            pointer="/cursor",
            detail="The cursor is not one of ours.",
            hint="Correct the parameter and ask again.",
        ) from error
    return Q(created_at__lt=created_at) | Q(created_at=created_at, id__gt=last)


def _job_view(row: Job) -> JobView:
    values = {name: getattr(row, name) for name in JobView.__dataclass_fields__}
    return JobView(**{**values, "error": from_parts(parts=row.error_parts, text=row.error)})
