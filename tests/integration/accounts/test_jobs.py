"""Jobs run once, are tried again, end somewhere, survive what surrounds them (spec 2.5, 10.5)."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from accounts import jobs, tasks, tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, Unavailable
from accounts.jobs import Claim
from accounts.models import Job, Organization, Slot
from config.celery import app
from memory.queries import memories as queries
from tests.support import people
from tests.support.memories import stored
from tests.support.racing import race, race_inside

NAME = "memory.embed"
QUEUE = "interactive"
LATER = timedelta(seconds=jobs.LEASE_SECONDS + 1)

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("in_organization", "nobody_listens"),
]


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queues that were woken."""
    heard: list[str] = []
    monkeypatch.setattr(app, "send_task", lambda name, args, **_: heard.append(args[0]))
    return heard


@pytest.fixture
def nobody_listens(woken: list[str]) -> None:
    """No broker: what a job does is looked at row by row."""


@pytest.fixture
def handled(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the handler of the job's name does: `do` is called with the claim."""
    plan: dict[str, Any] = {}

    def follow(claim: Claim) -> Mapping[str, Any]:
        return plan["do"](claim)

    monkeypatch.setitem(jobs._handlers, NAME, follow)
    return plan


def enqueued(**given: Any) -> UUID | None:
    with tenancy.unit():
        return jobs.enqueue(NAME, **{"payload": {"ids": []}, **given})


def claimed() -> Claim:
    held = jobs.claim(queue=QUEUE, worker="w")
    assert held is not None
    return held


def the_job() -> Job:
    return Job.objects.get()


def make_due() -> None:
    Job.objects.filter(state="queued").update(run_after=Now())


def lose_worker() -> None:
    Job.objects.filter(state="running").update(lease_until=Now() - timedelta(seconds=1))


def test_many_workers_claim_each_job_once() -> None:
    for _ in range(60):
        enqueued()

    held = race(lambda _: jobs.claim(queue=QUEUE, worker="w"), times=90)

    ids = [claim.id for claim in held if claim is not None]
    assert len(ids) == len(set(ids)) == 60


def test_the_most_urgent_job_is_claimed_first() -> None:
    late, urgent = enqueued(priority=5), enqueued(priority=1)

    assert [claimed().id, claimed().id] == [urgent, late]
    assert jobs.claim(queue=QUEUE, worker="w") is None


def test_a_job_is_not_claimed_before_its_time() -> None:
    enqueued(delay_seconds=60)

    assert jobs.claim(queue=QUEUE, worker="w") is None


def test_the_attempt_counts_from_the_claim_on() -> None:
    enqueued()

    held = claimed()

    assert (held.attempt, the_job().attempts, the_job().state) == (1, 1, "running")


def test_a_failed_job_is_tried_again_after_doubling_delays() -> None:
    enqueued()

    delays = []
    for _ in range(2):
        make_due()
        jobs.fail(held=claimed(), reason="no", permanent=False)
        waits = Job.objects.annotate(waits=F("run_after") - Now()).get().waits
        delays.append(round(waits.total_seconds()))

    assert delays == [5, 10]


def test_the_third_failure_puts_a_job_aside_with_its_reason(handled: dict[str, Any]) -> None:
    def break_(claim: Claim) -> Mapping[str, Any]:
        raise InvalidInput(detail="It is broken.", hint="Mend it.")

    handled["do"] = break_
    enqueued()

    for _ in range(3):
        make_due()
        tasks.wake(QUEUE)

    assert (the_job().state, the_job().attempts) == ("quarantined", 3)
    assert the_job().error == "It is broken. Mend it."
    assert jobs.claim(queue=QUEUE, worker="w") is None


def test_what_can_never_succeed_is_not_tried_again(handled: dict[str, Any]) -> None:
    def refuse(claim: Claim) -> Mapping[str, Any]:
        raise jobs.PermanentFailure("The key was refused.")

    handled["do"] = refuse
    enqueued()

    tasks.wake(QUEUE)

    assert (the_job().state, the_job().error) == ("failed", "The key was refused.")


def test_an_outage_is_waited_out_and_counts_as_no_attempt(handled: dict[str, Any]) -> None:
    def be_away(claim: Claim) -> Mapping[str, Any]:
        raise Unavailable(detail="The embedder is away.")

    handled["do"] = be_away
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


@pytest.mark.parametrize(
    ("stop", "said"),
    [
        (SoftTimeLimitExceeded(), "It ran longer than 900 s and was stopped."),
        (MemoryError(), "It needed more memory than the 2048 MB of a job."),
    ],
)
def test_what_a_job_took_too_much_of_is_said(
    handled: dict[str, Any], stop: Exception, said: str
) -> None:
    def take(claim: Claim) -> Mapping[str, Any]:
        raise stop

    handled["do"] = take
    enqueued()

    tasks.wake(QUEUE)

    assert (the_job().error, the_job().attempts) == (said, 1)


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


def test_an_unexpected_error_is_recorded_without_its_text(
    handled: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    def explode(claim: Claim) -> Mapping[str, Any]:
        raise RuntimeError("content of a memory")

    handled["do"] = explode
    enqueued()
    tasks.wake(QUEUE)

    assert "RuntimeError" in the_job().error
    assert "content of a memory" not in the_job().error


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


def test_a_living_worker_keeps_its_job() -> None:
    enqueued()
    held = claimed()
    lose_worker()

    assert jobs.heartbeat(held=held)
    assert jobs.sweep()["requeued"] == 0


def test_ten_deliveries_have_one_effect(caller: Caller, now: datetime) -> None:
    memory = stored(caller, now)
    enqueued(payload={"ids": [str(memory.id)]})

    race(lambda _: tasks.wake(QUEUE), times=10)

    assert [job.attempts for job in Job.objects.filter(name=NAME)] == [1]
    assert queries.get(caller=caller, memory_id=memory.id, now=now) == memory


def test_running_a_finished_job_once_more_changes_nothing(caller: Caller, now: datetime) -> None:
    memory = stored(caller, now)
    enqueued(payload={"ids": [str(memory.id)]})
    held = claimed()

    for _ in range(10):
        tasks.run(held=held)

    job = Job.objects.get(name=NAME)
    assert (job.state, job.result) == ("done", {"embedded": 1, "gone": 0})
    assert queries.get(caller=caller, memory_id=memory.id, now=now) == memory


def test_of_equal_jobs_one_waits() -> None:
    first, second = enqueued(key="same"), enqueued(key="same")

    assert first is not None
    assert second is None
    assert Job.objects.count() == 1


def test_a_running_job_does_not_stand_for_a_later_one() -> None:
    enqueued(key="same")
    claimed()

    assert enqueued(key="same") is not None


def test_equal_jobs_of_two_organizations_are_two(other_organization: Organization) -> None:
    enqueued(key="same")

    with people.outside(), people.entered(organization=other_organization):
        assert enqueued(key="same") is not None


def test_a_waiting_job_starts_only_after_the_change_that_leaned_on_it() -> None:
    enqueued(key="same")

    with tenancy.unit():
        jobs.enqueue(NAME, payload={}, key="same")
        [meanwhile] = race(lambda _: jobs.claim(queue=QUEUE, worker="w"), times=1)

    assert meanwhile is None
    assert jobs.claim(queue=QUEUE, worker="w") is not None


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


def test_a_job_is_undone_with_its_cause_and_wakes_nobody(woken: list[str]) -> None:
    def enqueue_and_fail() -> float:
        with tenancy.unit():
            return 1 / len(str(jobs.enqueue(NAME, payload={}))[:0])

    with pytest.raises(ZeroDivisionError):
        enqueue_and_fail()

    assert not Job.objects.exists()
    assert woken == []


def test_a_committed_job_wakes_its_queue(woken: list[str]) -> None:
    enqueued()

    assert woken == [QUEUE]


def test_progress_is_seen_while_it_runs() -> None:
    enqueued()

    jobs.progress(held=claimed(), done=3, total=9)

    assert (the_job().progress_done, the_job().progress_total) == (3, 9)


def test_a_queued_job_is_cancelled_and_can_be_tried_again() -> None:
    job_id = enqueued()
    assert job_id is not None

    assert jobs.cancel(job_id=job_id)
    assert jobs.claim(queue=QUEUE, worker="w") is None
    assert jobs.retry(job_id=job_id)
    assert claimed().id == job_id


def test_a_running_or_finished_job_is_neither_cancelled_nor_retried() -> None:
    enqueued()
    held = claimed()

    assert not jobs.cancel(job_id=held.id)
    assert not jobs.retry(job_id=held.id)
    jobs.finish(held=held, result={})
    assert not jobs.cancel(job_id=held.id)
    assert not jobs.retry(job_id=held.id)


def test_nobody_else_cancels_or_retries(other_organization: Organization) -> None:
    job_id = enqueued()
    assert job_id is not None

    with people.outside(), people.entered(organization=other_organization):
        assert not jobs.cancel(job_id=job_id)
        Job.objects.update(state="failed")
        assert not jobs.retry(job_id=job_id)

    assert the_job().state == "failed"


def test_two_clocks_make_one_run() -> None:
    taken = race(lambda _: jobs.take_slot(name="x", interval_seconds=86_400), times=20)

    assert taken.count(True) == 1
    assert Slot.objects.count() == 1


def test_another_schedule_has_slots_of_its_own() -> None:
    assert jobs.take_slot(name="x", interval_seconds=86_400)
    assert jobs.take_slot(name="y", interval_seconds=86_400)


def test_old_finished_jobs_and_slots_are_forgotten_and_failed_ones_stay() -> None:
    for state in ("done", "cancelled", "failed", "quarantined", "queued"):
        enqueued()
        Job.objects.filter(state="queued").update(
            state=state, finished_at=Now() - timedelta(days=15)
        )
    jobs.take_slot(name="x", interval_seconds=86_400)
    Slot.objects.update(starts_at=Now() - timedelta(days=3))

    jobs.evict()

    states = set(Job.objects.values_list("state", flat=True))
    assert states == {"failed", "quarantined", "queued"}
    assert not Slot.objects.exists()


def test_an_unknown_job_is_not_enqueued() -> None:
    with pytest.raises(KeyError), tenancy.unit():
        jobs.enqueue("memory.forget_everything", payload={})


def test_a_job_needs_an_organization() -> None:
    with people.outside(), pytest.raises(tenancy.NoTenant), transaction.atomic():
        jobs.enqueue(NAME, payload={"x": str(uuid4())})
