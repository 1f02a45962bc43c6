"""A job of a rollback is tried again, or cancelled, while what it did is undone, either first."""

from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Event
from uuid import UUID

import pytest

from accounts import jobs, tasks, tenancy
from accounts.caller import Caller
from accounts.errors import Conflict
from accounts.models import Job, Organization
from memory.records.models import ReviewVerdict
from memory.review.rollback import execute
from memory.review.rollback.selection import RollbackChoice
from memory.review.rollback.undo import undo_rollback
from tests.integration.memory.sessions.test_taken_at_once import LONGEST_WAIT, until_somebody_waits
from tests.support import work
from tests.support.memories import CARTS, PARSER, REDIS, stored
from tests.support.racing import race_inside
from tests.support.taking_in import active

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("in_organization")]

LATER = timedelta(hours=1)
TEXTS = sorted((REDIS, CARTS, PARSER))
Then = Callable[[], object]


class Died(Exception):
    """A worker that goes away before its job is noted as done."""


def die(*_: object) -> None:
    raise Died


@pytest.fixture
def died(
    caller: Caller, member_caller: Caller, store: str, now: datetime,
    monkeypatch: pytest.MonkeyPatch,
) -> UUID:  # fmt: skip
    """The job of a rollback that failed after it had taken three memories back."""
    for text in TEXTS:
        stored(member_caller, now, text, project=store)
    monkeypatch.setattr(execute, "MOST_AT_ONCE", 0)
    choice = RollbackChoice(project=store, person=member_caller.user_id)
    job_id = execute.roll_back(caller=caller, choice=choice, now=now + LATER).job_id
    held = work.taken(job_id)
    with pytest.raises(Died):
        execute.run(caller=caller, choice=choice, asked_at=now + LATER, tell=die)
    jobs.fail(held=held, reason="It died.", permanent=True)
    return held.id


@pytest.fixture
def undo(caller: Caller, died: UUID, now: datetime) -> Callable[[], int]:
    """Undo what the job has done."""
    with tenancy.unit():
        review_id = ReviewVerdict.objects.filter(undone_at=None)[0].id
    return lambda: undo_rollback(caller=caller, review_id=review_id, now=now + 2 * LATER)


def retry(job_id: UUID) -> bool:
    with tenancy.unit():
        return jobs.retry(job_id=job_id)


def cancel(job_id: UUID) -> bool:
    with tenancy.unit():
        return jobs.cancel(job_id=job_id)


def one_then_the_other(organization: Organization, one: Then, other: Then) -> list[object]:
    """Do one thing and, before it is committed, begin another one that waits for it."""
    is_done = Event()

    def act(number: int) -> object:
        if number:
            assert is_done.wait(LONGEST_WAIT)
            try:
                return other()
            except Conflict as error:
                return error.detail
        with tenancy.unit():
            answer = one()
            is_done.set()
            until_somebody_waits()
        return answer

    return race_inside(organization, act, times=2, threads=2)


def state_of(job_id: UUID) -> str:
    return Job.objects.get(pk=job_id).state


def test_a_retry_waits_for_the_undo_and_then_takes_all_of_it_back_anew(
    organization: Organization, died: UUID, undo: Callable[[], int]
) -> None:
    done = one_then_the_other(organization, undo, lambda: retry(died))
    between = active()
    tasks.run(held=work.taken(died))

    assert (done, between) == ([3, True], TEXTS)
    assert active() == []
    with tenancy.unit():
        assert ReviewVerdict.objects.filter(undone_at=None).count() == len(TEXTS)


def test_an_undo_waits_for_the_retry_and_is_refused(
    organization: Organization, died: UUID, undo: Callable[[], int]
) -> None:
    said = one_then_the_other(organization, lambda: retry(died), undo)
    tasks.run(held=work.taken(died))

    assert said == [True, "A job still takes back what was chosen; nothing was undone."]
    assert active() == []
    assert undo() == len(TEXTS)
    assert active() == TEXTS


def test_an_undo_waits_for_the_job_to_be_cancelled(
    organization: Organization, died: UUID, undo: Callable[[], int]
) -> None:
    retry(died)

    done = one_then_the_other(organization, lambda: cancel(died), undo)

    assert done == [True, 3]
    assert (state_of(died), active()) == ("cancelled", TEXTS)


def test_what_has_failed_is_not_cancelled_while_it_is_undone(
    died: UUID, undo: Callable[[], int]
) -> None:
    with tenancy.unit():
        undone = undo()
        is_cancelled = cancel(died)

    assert (undone, is_cancelled) == (3, False)
    assert (state_of(died), active()) == ("failed", TEXTS)
