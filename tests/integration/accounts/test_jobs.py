"""Jobs run once, are tried again, end somewhere; equal ones wait once.

What surrounds a job, who may stop it, and slots of the clock.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from accounts import jobs, tasks, tenancy
from accounts.api import jobs as job_calls
from accounts.caller import Caller
from accounts.errors import InvalidInput, Unavailable
from accounts.jobs import Claim
from accounts.models import Job, Organization, Slot
from memory.records.queries import memories as queries
from tests.support import people
from tests.support.memories import stored
from tests.support.racing import race, race_inside
from tests.support.work import NAME, QUEUE, claimed, enqueued, lose_worker, make_due, the_job

pytestmark = pytest.mark.usefixtures("in_organization", "nobody_listens")
committed = pytest.mark.django_db(transaction=True)  # where other threads look, or a worker runs


def failing(stop: Exception) -> Callable[[Claim], Mapping[str, Any]]:
    """Return the work of a job that stops so."""

    def work(claim: Claim) -> Mapping[str, Any]:
        raise stop

    return work


@committed
def test_many_workers_claim_each_job_once() -> None:
    for _ in range(60):
        enqueued()

    held = race(lambda _: jobs.claim(queue=QUEUE, worker="w"), times=90)

    ids = [claim.id for claim in held if claim is not None]
    assert len(ids) == len(set(ids)) == 60


def test_due_jobs_are_claimed_the_most_urgent_first_and_the_attempt_counts() -> None:
    late, urgent = enqueued(priority=5), enqueued(priority=1)
    enqueued(delay_seconds=60, priority=0)

    held = [claimed(), claimed()]

    assert [one.id for one in held] == [urgent, late]
    assert jobs.claim(queue=QUEUE, worker="w") is None
    row = Job.objects.get(pk=urgent)
    assert (held[0].attempt, row.attempts, row.state) == (1, 1, "running")


def test_a_failed_job_is_tried_again_after_doubling_delays() -> None:
    enqueued()

    delays = []
    for _ in range(2):
        make_due()
        jobs.fail(held=claimed(), reason="no", permanent=False)
        waits = Job.objects.annotate(waits=F("run_after") - Now()).get().waits
        delays.append(round(waits.total_seconds()))

    assert delays == [5, 10]


@committed
def test_the_third_failure_puts_a_job_aside_with_its_reason(handled: dict[str, Any]) -> None:
    handled["do"] = failing(InvalidInput(detail="It is broken.", hint="Mend it."))
    enqueued()

    for _ in range(3):
        make_due()
        tasks.wake(QUEUE)

    assert (the_job().state, the_job().attempts) == ("quarantined", 3)
    assert the_job().error == "It is broken. Mend it."
    assert jobs.claim(queue=QUEUE, worker="w") is None


@committed
def test_what_stopped_a_job_is_said_without_content(handled: dict[str, Any]) -> None:
    unexpected = "Unexpected builtins.RuntimeError; the log has it under this job's id."
    for stop, state, reason in (
        (jobs.PermanentFailure("The key was refused."), "failed", "The key was refused."),
        (SoftTimeLimitExceeded(), "queued", "It ran longer than 900 s and was stopped."),
        (MemoryError(), "queued", "It needed more memory than the 2048 MB of a job."),
        (RuntimeError("content of a memory"), "queued", unexpected),
    ):
        handled["do"] = failing(stop)
        job_id = enqueued()

        tasks.wake(QUEUE)

        job = Job.objects.get(pk=job_id)
        assert (job.state, job.error, job.attempts) == (state, reason, 1)


@committed
def test_an_outage_is_waited_out_and_counts_as_no_attempt(handled: dict[str, Any]) -> None:
    handled["do"] = failing(Unavailable(detail="The embedder is away."))
    enqueued()
    for _ in range(10):
        make_due()
        tasks.wake(QUEUE)
    assert (the_job().state, the_job().attempts) == ("queued", 0)

    handled["do"] = lambda claim: {"embedded": 1}
    make_due()
    tasks.wake(QUEUE)

    assert (the_job().state, the_job().result, the_job().error) == ("done", {"embedded": 1}, "")


def test_a_job_waits_longer_at_each_outage_up_to_a_bound() -> None:
    enqueued()

    delays = []
    for _ in range(6):
        make_due()
        jobs.postpone(held=claimed(), reason="away")
        waits = Job.objects.annotate(waits=F("run_after") - Now()).get().waits
        delays.append(round(waits.total_seconds()))

    assert delays == [30, 60, 120, 240, 300, 300]
    assert (the_job().result, the_job().attempts) == ({"waits": 6}, 0)


def test_what_was_refused_is_tried_again_after_an_hour() -> None:
    for age in (59, 61):
        enqueued()
        jobs.fail(held=claimed(), reason="The key was refused.", permanent=True)
        refused = Job.objects.filter(state="failed", finished_at__gt=Now() - timedelta(minutes=1))
        refused.update(finished_at=Now() - timedelta(minutes=age))

    with tenancy.unit():
        assert jobs.retry_refused(names=(NAME,), limit=10) == 1

    assert sorted(Job.objects.values_list("state", flat=True)) == ["failed", "queued"]


def test_keys_of_jobs_that_are_not_done_are_known() -> None:
    for key in ("queued", "done", "failed"):
        enqueued(key=key)
        Job.objects.filter(key=key).update(state=key)

    known = jobs.known_keys(names=(NAME,), keys=("queued", "done", "failed", "none"))

    assert known == {"queued", "failed"}


def test_a_job_whose_worker_died_is_handed_on(woken: list[str]) -> None:
    enqueued()
    dead = claimed()
    lose_worker()
    woken.clear()

    found = jobs.sweep()

    assert (found["requeued"], woken) == (1, [QUEUE])
    assert claimed().attempt == 2
    assert not jobs.finish(held=dead, result={})
    assert not jobs.heartbeat(held=dead)
    jobs.fail(held=dead, reason="late", permanent=True)
    assert the_job().state == "running"


def test_a_job_that_kills_its_worker_is_put_aside_after_three_claims() -> None:
    enqueued()

    for _ in range(3):
        claimed()
        lose_worker()
        jobs.sweep()

    assert the_job().state == "quarantined"
    assert "3 times" in the_job().error


def test_a_living_worker_keeps_its_job_and_its_progress_is_seen() -> None:
    enqueued()
    held = claimed()
    lose_worker()

    assert jobs.heartbeat(held=held)
    assert jobs.sweep()["requeued"] == 0
    jobs.progress(held=held, done=3, total=9)
    assert (the_job().progress_done, the_job().progress_total) == (3, 9)


@committed
def test_ten_deliveries_and_ten_runs_have_one_effect(caller: Caller, now: datetime) -> None:
    memory = stored(caller, now)
    enqueued(payload={"ids": [str(memory.id)]})
    race(lambda _: tasks.wake(QUEUE), times=10)
    (once,) = Job.objects.filter(name=NAME)

    enqueued(payload={"ids": [str(memory.id)]})
    held = claimed()
    for _ in range(10):
        tasks.run(held=held)

    again = Job.objects.get(pk=held.id)
    assert once.attempts == 1
    assert (again.state, again.result) == ("done", {"embedded": 1, "gone": 0, "integrated": 0})
    assert queries.get(caller=caller, memory_id=memory.id, now=now) == memory


def test_of_equal_jobs_of_an_organization_one_waits(other_organization: Organization) -> None:
    first, second = enqueued(key="same"), enqueued(key="same")
    with people.outside(), people.entered(organization=other_organization):
        theirs = enqueued(key="same")
    claimed()  # a running one does not stand for a later one

    assert None not in {first, theirs, enqueued(key="same")}
    assert second is None


@committed
def test_a_waiting_job_starts_only_after_the_change_that_leaned_on_it() -> None:
    enqueued(key="same")

    with tenancy.unit():
        jobs.enqueue(NAME, payload={}, key="same")
        [meanwhile] = race(lambda _: jobs.claim(queue=QUEUE, worker="w"), times=1)

    assert meanwhile is None
    assert jobs.claim(queue=QUEUE, worker="w") is not None


@committed
def test_equal_jobs_from_many_threads_are_one(organization: Organization) -> None:
    found = race_inside(organization, lambda _: enqueued(key="same"), times=30)

    assert len([job_id for job_id in found if job_id]) == 1
    assert Job.objects.count() == 1


@pytest.mark.parametrize("ending", ["fail", "sweep", "postpone"])
def test_a_job_gives_way_to_an_equal_one_that_waits(ending: str) -> None:
    enqueued(key="same")
    held = claimed()
    waiting = enqueued(key="same")

    if ending == "fail":
        jobs.fail(held=held, reason="no", permanent=False)
    elif ending == "postpone":
        jobs.postpone(held=held, reason="away")
    else:
        lose_worker()
        jobs.sweep()

    assert Job.objects.get(pk=held.id).state == "cancelled"
    assert Job.objects.get(pk=waiting).state == "queued"


@committed
def test_a_job_is_undone_with_its_cause_and_wakes_its_queue_after_commit(woken: list[str]) -> None:
    def enqueue_and_fail() -> float:
        with tenancy.unit():
            return 1 / len(str(jobs.enqueue(NAME, payload={}))[:0])

    with pytest.raises(ZeroDivisionError):
        enqueue_and_fail()

    assert not Job.objects.exists()
    assert woken == []
    enqueued()
    assert woken == [QUEUE]


def test_a_queued_job_is_cancelled_and_tried_again_and_no_running_or_finished_one() -> None:
    job_id = enqueued()
    assert job_id is not None

    assert jobs.cancel(job_id=job_id)
    assert jobs.claim(queue=QUEUE, worker="w") is None
    assert jobs.retry(job_id=job_id)
    held = claimed()
    running = [jobs.cancel(job_id=job_id), jobs.retry(job_id=job_id)]
    jobs.finish(held=held, result={})

    assert held.id == job_id
    assert [*running, jobs.cancel(job_id=job_id), jobs.retry(job_id=job_id)] == [False] * 4


def test_nobody_else_cancels_or_retries(other_organization: Organization) -> None:
    job_id = enqueued()
    assert job_id is not None

    with people.outside(), people.entered(organization=other_organization):
        assert not jobs.cancel(job_id=job_id)
        Job.objects.update(state="failed")
        assert not jobs.retry(job_id=job_id)

    assert the_job().state == "failed"


@committed
def test_two_clocks_make_one_run() -> None:
    taken = race(lambda _: jobs.take_slot(name="x", interval_seconds=86_400), times=20)

    assert taken.count(True) == 1
    assert Slot.objects.count() == 1
    assert jobs.take_slot(name="y", interval_seconds=86_400)


def test_old_finished_jobs_and_slots_are_forgotten_but_failed_and_last_ones_stay() -> None:
    now = datetime.now(UTC)
    for state in ("done", "cancelled", "failed", "quarantined", "queued"):
        enqueued()
        Job.objects.filter(state="queued").update(
            state=state, finished_at=Now() - timedelta(days=15)
        )
    slots = [
        Slot.objects.create(name=name, starts_at=now - timedelta(days=days)).pk
        for name, days in (("weekly", 6), ("weekly", 13), ("hourly", 0), ("hourly", 3))
    ]

    jobs.evict()

    states = set(Job.objects.values_list("state", flat=True))
    assert states == {"failed", "quarantined", "queued"}
    left = Slot.objects.filter(pk__in=slots)  # backups of other tests have slots too
    assert set(left.values_list("pk", flat=True)) == {slots[0], slots[2]}


def test_an_unknown_job_and_one_of_no_organization_is_not_enqueued() -> None:
    with pytest.raises(KeyError), tenancy.unit():
        jobs.enqueue("memory.forget_everything", payload={})
    with people.outside(), pytest.raises(tenancy.NoTenant), transaction.atomic():
        jobs.enqueue(NAME, payload={"x": str(uuid4())})


def test_a_call_stops_waiting_as_soon_as_there_is_something() -> None:
    looks = iter([None, None, "done"])  # a fourth look would raise

    assert job_calls.until(look=lambda: next(looks), seconds=5) == "done"
