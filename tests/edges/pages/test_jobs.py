"""The page of background work: what it shows to whom, trying again, cancelling."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone

from accounts import jobs, tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.models import Job, Organization
from tests.edges.pages.conftest import HTMX

PAGE = "/o/acme/settings/jobs"
REASON = "The embedder did not answer. Is its address right?"


@pytest.fixture
def failed(caller: Caller, shop: str) -> UUID:
    """A job of the owner's that failed."""
    return made(caller, state=Job.State.FAILED, error=REASON, attempts=3)


def made(caller: Caller, **fields: object) -> UUID:
    """Make a job of somebody's."""
    with entered(caller), tenancy.unit():
        job_id = jobs.enqueue("memory.embed", payload={"ids": []}, created_by=caller.user_id)
    assert job_id is not None
    Job.objects.filter(pk=job_id).update(**fields)
    return job_id


def state(job_id: UUID) -> str:
    return str(Job.objects.get(pk=job_id).state)


def test_a_failed_job_says_why_and_is_tried_again(owner_pages: Client, failed: UUID) -> None:
    shown = owner_pages.get(PAGE).content.decode()
    answer = owner_pages.post(f"{PAGE}/{failed}", {"verb": "retry"}, **HTMX)

    for text in (REASON, "Embed memories", "Failed", "Try again"):
        assert text in shown
    assert answer["HX-Redirect"] == PAGE
    assert state(failed) == "queued"


def test_what_waits_is_cancelled_and_looked_at_again(
    owner_pages: Client, caller: Caller, shop: str
) -> None:
    waiting = made(caller, run_after=timezone.now() - timedelta(minutes=5))
    shown = owner_pages.get(PAGE).content.decode()

    owner_pages.post(f"{PAGE}/{waiting}", {"verb": "cancel"})

    assert "was due" in shown
    assert "every 5s" in shown
    assert state(waiting) == "cancelled"


@pytest.mark.parametrize(("verb", "status"), [("cancel", 409), ("explode", 422)])
def test_what_cannot_be_is_explained(
    owner_pages: Client, failed: UUID, verb: str, status: int
) -> None:
    answer = owner_pages.post(f"{PAGE}/{failed}", {"verb": verb})

    assert answer.status_code == status
    assert b'role="alert"' in answer.content
    assert state(failed) == "failed"


def test_others_see_nothing_of_it(
    viewer_pages: Client, organization: Organization, failed: UUID
) -> None:
    page = viewer_pages.get(PAGE).content.decode()

    assert REASON not in page
    assert "On schedule" not in page
    assert viewer_pages.post(f"{PAGE}/{failed}", {"verb": "retry"}).status_code == 404
    assert state(failed) == "failed"


def test_it_says_when_what_is_scheduled_last_began(owner_pages: Client, shop: str) -> None:
    before = owner_pages.get(PAGE).content.decode()
    jobs.take_slot(name="sweep", interval_seconds=10)
    after = owner_pages.get(PAGE).content.decode()

    assert ["Reassign work" in text for text in (before, after)] == [False, True]


def test_names_that_nobody_could_read_are_told_with_the_way_out(
    owner_pages: Client, caller: Caller, shop: str
) -> None:
    done = {"state": Job.State.DONE, "name": "memory.enrich_entities"}
    missing = made(caller, **done, result={"read": 0, "named": 0, "not_installed": "It is not."})
    without = owner_pages.get(PAGE).content.decode()
    Job.objects.filter(pk=missing).update(result={"read": 1_204, "named": 2})
    with_it = owner_pages.get(PAGE).content.decode()

    assert "the reader of names is not installed" in without
    assert "<code>make ner</code>" in without
    assert "2 names in 1,204 memories" in with_it
    assert "make ner" not in with_it
