"""Equal jobs, what surrounds a job, who may stop it, and slots."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import transaction
from django.db.models.functions import Now

from accounts import jobs, tenancy
from accounts.models import Job, Organization, Slot
from tests.support import people
from tests.support.racing import race, race_inside
from tests.support.work import NAME, QUEUE, claimed, enqueued, lose_worker, the_job

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("in_organization", "nobody_listens"),
]


def test_of_equal_jobs_of_an_organization_one_waits(other_organization: Organization) -> None:
    first, second = enqueued(key="same"), enqueued(key="same")
    with people.outside(), people.entered(organization=other_organization):
        theirs = enqueued(key="same")
    claimed()  # a running one does not stand for a later one

    assert None not in {first, theirs, enqueued(key="same")}
    assert second is None


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


def test_two_clocks_make_one_run() -> None:
    taken = race(lambda _: jobs.take_slot(name="x", interval_seconds=86_400), times=20)

    assert taken.count(True) == 1
    assert Slot.objects.count() == 1
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


def test_an_unknown_job_and_one_of_no_organization_is_not_enqueued() -> None:
    with pytest.raises(KeyError), tenancy.unit():
        jobs.enqueue("memory.forget_everything", payload={})
    with people.outside(), pytest.raises(tenancy.NoTenant), transaction.atomic():
        jobs.enqueue(NAME, payload={"x": str(uuid4())})
