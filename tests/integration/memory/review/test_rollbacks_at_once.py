"""A job of a rollback is tried again, or cancelled, while what it did is undone, either first."""

from collections.abc import Callable
from uuid import UUID

import pytest

from accounts import jobs, tasks, tenancy
from accounts.errors import Conflict
from accounts.models import Job, Organization
from memory.records.models import ReviewVerdict
from memory.review.actions import rollback
from tests.support import work
from tests.support.memories import CARTS, PARSER, REDIS
from tests.support.racing import one_then_another
from tests.support.reviewed import HOUR, World
from tests.support.taking_in import active

pytestmark = pytest.mark.django_db(transaction=True)

TEXTS = sorted((REDIS, CARTS, PARSER))


class Died(Exception):
    """A worker that goes away before its job is noted as done."""


def die(*_: object) -> None:
    raise Died


@pytest.fixture
def died(world: World, monkeypatch: pytest.MonkeyPatch) -> UUID:
    """The job of a rollback that failed after it had taken three memories back."""
    for text in TEXTS:
        world.theirs(text)
    monkeypatch.setattr(rollback, "MOST_AT_ONCE", 0)
    job_id = world.roll().job_id
    held = work.taken(job_id)
    with pytest.raises(Died):
        rollback.run(caller=world.owner, choice=world.choice(), asked_at=world.now + HOUR, tell=die)
    jobs.fail(held=held, reason="It died.", permanent=True)
    return held.id


@pytest.fixture
def undo(world: World, died: UUID) -> Callable[[], int]:
    """Undo what the job has done."""
    with tenancy.unit():
        review_id = ReviewVerdict.objects.filter(undone_at=None)[0].id
    then = world.now + 2 * HOUR
    return lambda: rollback.undo_rollback(caller=world.owner, review_id=review_id, now=then)


def retry(job_id: UUID) -> bool:
    with tenancy.unit():
        return jobs.retry(job_id=job_id)


def test_a_retry_waits_for_the_undo_and_then_takes_all_of_it_back_anew(
    organization: Organization, died: UUID, undo: Callable[[], int]
) -> None:
    done = one_then_another(organization, undo, lambda: retry(died))
    between = active()
    tasks.run(held=work.taken(died))

    assert (done, between) == ([3, True], TEXTS)
    assert active() == []
    with tenancy.unit():
        assert ReviewVerdict.objects.filter(undone_at=None).count() == len(TEXTS)


def test_an_undo_waits_for_the_retry_and_is_refused(
    organization: Organization, died: UUID, undo: Callable[[], int]
) -> None:
    def refused() -> str:
        with pytest.raises(Conflict) as told:
            undo()
        return told.value.detail

    said = one_then_another(organization, lambda: retry(died), refused)
    tasks.run(held=work.taken(died))

    assert said == [True, "A job still takes back what was chosen; nothing was undone."]
    assert active() == []
    assert undo() == len(TEXTS)
    assert active() == TEXTS


def test_an_undo_waits_for_the_job_to_be_cancelled(
    organization: Organization, died: UUID, undo: Callable[[], int]
) -> None:
    retry(died)

    def cancel() -> bool:
        with tenancy.unit():
            return jobs.cancel(job_id=died)

    done = one_then_another(organization, cancel, undo)

    assert done == [True, 3]
    assert (Job.objects.get(pk=died).state, active()) == ("cancelled", TEXTS)


def test_what_is_undone_is_not_cancelled(died: UUID, undo: Callable[[], int]) -> None:
    with tenancy.unit():
        undone = undo()
        is_cancelled = jobs.cancel(job_id=died)

    assert (undone, is_cancelled) == (3, False)
    assert (Job.objects.get(pk=died).state, active()) == ("failed", TEXTS)
