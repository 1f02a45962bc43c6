"""The page of background work: what it shows to whom, in which language, retried, cancelled."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from accounts import jobs, tasks, tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput, Unavailable
from accounts.messages import message
from accounts.models import Job, User
from tests.edges.pages.conftest import HTMX
from tests.edges.pages.session_pages import Pages
from tests.support import work

PAGE = "/o/acme/settings/jobs"
REASON = "The embedder did not answer. Is its address right?"
LATE = InvalidInput(
    detail="This is not a moment until which to snooze.",
    hint=message("Name one in the next {days} days.", days=365),
)
GONE = Forbidden(
    detail=message("Memory {id} says the same under another external id or none.", id="7"), hint=""
)
ENDS: tuple[tuple[Exception, str | None, tuple[str, ...]], ...] = (  # in English, in French
    (
        jobs.PermanentFailure(LATE.detail, LATE.hint),
        "This is not a moment until which to snooze. Name one in the next 365 days.",
        ("On ne peut pas repor", "365 prochains jours"),
    ),
    (
        Unavailable(detail=GONE.detail),
        "Memory 7 says the same under another external id or none.",
        ("Le souvenir 7",),
    ),
    (
        KeyError("secret of somebody"),
        "Unexpected builtins.KeyError; the log has it under this job's id.",
        ("Erreur inattendue builtins.KeyError",),
    ),
    (MemoryError(), None, ("Mo de mémoire",)),
)


def made(caller: Caller, **fields: object) -> UUID:
    """Make a job of somebody's."""
    with entered(caller), tenancy.unit():
        job_id = jobs.enqueue("memory.embed", payload={"ids": []}, created_by=caller.user_id)
    assert job_id is not None
    Job.objects.filter(pk=job_id).update(**fields)
    return job_id


def state(job_id: UUID) -> str:
    return str(Job.objects.get(pk=job_id).state)


def test_a_failed_job_says_why_to_its_person_and_is_tried_again(pages: Pages) -> None:
    failed = made(pages.caller, state=Job.State.FAILED, error=REASON, attempts=3)
    shown, of_others = pages.owner.get(PAGE).text, pages.viewer.get(PAGE).text
    refused = pages.viewer.post(f"{PAGE}/{failed}", {"verb": "retry"})
    before = state(failed)

    answer = pages.owner.post(f"{PAGE}/{failed}", {"verb": "retry"}, **HTMX)

    for text in (REASON, "Embed memories", "Failed", "Try again"):
        assert text in shown
    assert [REASON in of_others, "On schedule" in of_others] == [False, False]
    assert (refused.status_code, before) == (404, "failed")
    assert (answer["HX-Redirect"], state(failed)) == (PAGE, "queued")


def test_what_waits_is_cancelled_and_what_is_scheduled_is_told(pages: Pages) -> None:
    waiting = made(pages.caller, run_after=timezone.now() - timedelta(minutes=5))
    shown = pages.owner.get(PAGE).text
    jobs.take_slot(name="sweep", interval_seconds=10)

    pages.owner.post(f"{PAGE}/{waiting}", {"verb": "cancel"})
    after = pages.owner.get(PAGE).text

    for text in ("was due", "every 5s"):
        assert text in shown
    assert ["Reassign work" in text for text in (shown, after)] == [False, True]
    assert state(waiting) == "cancelled"


def test_names_that_nobody_could_read_are_told_with_the_way_out(pages: Pages) -> None:
    done = {"state": Job.State.DONE, "name": "memory.enrich_entities"}
    result = {"read": 0, "named": 0, "not_installed": "It is not."}
    missing = made(pages.caller, **done, result=result)
    without = pages.owner.get(PAGE).text
    Job.objects.filter(pk=missing).update(result={"read": 1_204, "named": 2})
    with_it = pages.owner.get(PAGE).text

    assert "the reader of names is not installed" in without
    assert "<code>make ner</code>" in without
    assert "2 names in 1,204 memories" in with_it
    assert "make ner" not in with_it


def test_a_failure_is_said_in_french_and_in_english_to_programs(
    pages: Pages, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    User.objects.filter(pk=owner.pk).update(language="fr")
    for error, english, french in ENDS:

        def end(claim: object, error: Exception = error) -> None:
            raise error

        monkeypatch.setitem(jobs._handlers, "memory.embed", end)
        job_id = made(pages.caller)
        tasks.run(held=work.taken(job_id))

        page = pages.owner.get(PAGE).text

        assert [text for text in french if text not in page] == []
        assert "secret of somebody" not in page
        with entered(pages.caller):
            view = jobs.find_job(caller=pages.caller, job_id=job_id)
        assert english is None or view.error == english
        Job.objects.filter(pk=job_id).update(error="The key was refused.", error_parts=None)
        assert "The key was refused." in pages.owner.get(PAGE).text  # as an older program wrote it
        Job.objects.all().delete()


def test_a_job_that_ends_well_forgets_why_it_failed(pages: Pages) -> None:
    job_id = made(pages.caller, error="Away.", error_parts=[])

    jobs.finish(held=work.taken(job_id), result={"embedded": 0})

    row = Job.objects.get(pk=job_id)
    assert (row.error, row.error_parts) == ("", None)
