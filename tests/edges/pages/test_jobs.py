"""The page of background work: what it shows to whom, trying again, cancelling."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone

from accounts import jobs, tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.models import Job
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


def test_what_waits_is_cancelled_and_what_is_scheduled_is_told(
    owner_pages: Client, caller: Caller, shop: str
) -> None:
    waiting = made(caller, run_after=timezone.now() - timedelta(minutes=5))
    shown = owner_pages.get(PAGE).content.decode()
    jobs.take_slot(name="sweep", interval_seconds=10)

    owner_pages.post(f"{PAGE}/{waiting}", {"verb": "cancel"})
    after = owner_pages.get(PAGE).content.decode()

    for text in ("was due", "every 5s"):
        assert text in shown
    assert ["Reassign work" in text for text in (shown, after)] == [False, True]
    assert state(waiting) == "cancelled"


def test_what_cannot_be_is_explained_and_others_see_nothing_of_it(
    owner_pages: Client, viewer_pages: Client, failed: UUID
) -> None:
    page = viewer_pages.get(PAGE).content.decode()

    for verb, status in (("cancel", 409), ("explode", 422)):
        answer = owner_pages.post(f"{PAGE}/{failed}", {"verb": verb})
        assert answer.status_code == status
        assert b'role="alert"' in answer.content
    assert [REASON in page, "On schedule" in page] == [False, False]
    assert viewer_pages.post(f"{PAGE}/{failed}", {"verb": "retry"}).status_code == 404
    assert state(failed) == "failed"


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
