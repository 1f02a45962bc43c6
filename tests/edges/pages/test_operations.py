"""The settings pages of background work, embedding models and what models cost."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from django.conf import LazySettings
from django.utils import timezone

from accounts import jobs, tasks, tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput, Unavailable
from accounts.messages import message
from accounts.models import Job, User
from memory.extraction.actions import Spent, book_use
from memory.records.models import Memory
from tests.edges.pages.conftest import HTMX, remembered
from tests.edges.pages.session_pages import Pages
from tests.support import work
from tests.support.switching import active_key, do_jobs

JOBS = "/o/acme/settings/jobs"
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


def test_a_failed_job_says_why_to_its_person_and_is_tried_again_and_one_that_waits_cancelled(
    pages: Pages,
) -> None:
    failed = made(pages.caller, state=Job.State.FAILED, error=REASON, attempts=3)
    shown, of_others = pages.owner.get(JOBS).text, pages.viewer.get(JOBS).text
    refused = pages.viewer.post(f"{JOBS}/{failed}", {"verb": "retry"})
    before = state(failed)

    answer = pages.owner.post(f"{JOBS}/{failed}", {"verb": "retry"}, **HTMX)

    for text in (REASON, "Embed memories", "Failed", "Try again"):
        assert text in shown
    assert [REASON in of_others, "On schedule" in of_others] == [False, False]
    assert (refused.status_code, before) == (404, "failed")
    assert (answer["HX-Redirect"], state(failed)) == (JOBS, "queued")
    Job.objects.all().delete()
    waiting = made(pages.caller, run_after=timezone.now() - timedelta(minutes=5))
    due = pages.text(JOBS)
    jobs.take_slot(name="sweep", interval_seconds=10)
    pages.owner.post(f"{JOBS}/{waiting}", {"verb": "cancel"})
    for text in ("was due", "every 5s"):
        assert text in due
    assert ["Reassign work" in text for text in (due, pages.text(JOBS))] == [False, True]
    assert state(waiting) == "cancelled"


def test_names_that_nobody_could_read_are_told_with_the_way_out(pages: Pages) -> None:
    done = {"state": Job.State.DONE, "name": "memory.enrich_entities"}
    result = {"read": 0, "named": 0, "not_installed": "It is not."}
    missing = made(pages.caller, **done, result=result)
    without = pages.owner.get(JOBS).text
    Job.objects.filter(pk=missing).update(result={"read": 1_204, "named": 2})
    with_it = pages.owner.get(JOBS).text

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

        page = pages.owner.get(JOBS).text

        assert [text for text in french if text not in page] == []
        assert "secret of somebody" not in page
        with entered(pages.caller):
            view = jobs.find_job(caller=pages.caller, job_id=job_id)
        assert english is None or view.error == english
        Job.objects.filter(pk=job_id).update(error="The key was refused.", error_parts=None)
        assert "The key was refused." in pages.owner.get(JOBS).text  # as an older program wrote it
        Job.objects.all().delete()


def test_a_job_that_ends_well_forgets_why_it_failed(pages: Pages) -> None:
    job_id = made(pages.caller, error="Away.", error_parts=[])

    jobs.finish(held=work.taken(job_id), result={"embedded": 0})

    row = Job.objects.get(pk=job_id)
    assert (row.error, row.error_parts) == ("", None)


MODELS = "/o/acme/settings/models"
WORDS, TURNED = "hashing/words-384", "hashing/turned-384"


def test_with_a_memory_an_owner_switches_watches_goes_back_and_drops(pages: Pages) -> None:
    before = pages.owner.get(MODELS).text
    remembered(pages.caller)

    answer = pages.owner.post(MODELS, {"verb": "switch", "key": TURNED}, **HTMX)
    filling = pages.owner.get(MODELS).text
    with entered(pages.caller):
        do_jobs()
        taken_over = active_key()
    kept = pages.owner.get(MODELS).text
    pages.owner.post(MODELS, {"verb": "rollback", "key": WORDS})
    pages.owner.post(MODELS, {"verb": "drop", "key": TURNED})

    assert "No memory has been embedded yet." in before
    assert answer["HX-Redirect"] == MODELS
    assert [word in filling for word in ("Being filled", "every 3s")] == [True, True]
    assert taken_over == TURNED
    assert [word in kept for word in ("Go back", "every 3s")] == [True, False]
    with entered(pages.caller):
        assert active_key() == WORDS


SPENT = Spent(model="openai/small", calls=2, fallbacks=1, input_tokens=9_000, output_tokens=1_000)
USAGE = "/o/acme/settings/usage"


@pytest.fixture
def spent(shop: str, caller: Caller, settings: LazySettings) -> None:
    """What a model cost in the project and in none, and a memory that was accepted."""
    settings.CAIRN_MODEL_PRICES = {"openai/small": (Decimal(100), Decimal(200))}
    settings.CAIRN_MODEL_TOKENS_PER_MONTH = 20_000
    memory = remembered(caller)
    with entered(caller), tenancy.unit():
        now = datetime.now(UTC)
        book_use(spent=SPENT, project_id=memory.project_id, now=now)
        book_use(spent=SPENT, project_id=None, now=now)
        Memory.objects.update(source="extracted", needs_review=False)


@pytest.mark.usefixtures("spent")
def test_a_month_is_told_against_its_cap_and_a_project_tells_of_itself_alone(pages: Pages) -> None:
    page, project, empty = (
        pages.owner.get(address).text
        for address in (USAGE, f"{pages.shop}usage", f"{USAGE}?month=2025-02")
    )

    for text in ("20,000 of 20,000 tokens", "The cap is reached", "Each cost 2.2000."):
        assert text in page
    assert 'href="/o/acme/p/shop/usage"' in page
    assert ["no project" in text for text in (page, project)] == [True, False]
    for text in ("10,000 tokens", "There is no cap."):
        assert text in project
    for text in ("February 2025", "No model was asked", '?month=2025-01"', '?month=2025-03"'):
        assert text in empty
    for month in ("x", "2999-01", "0001-01", "2026-13"):
        present = pages.owner.get(f"{USAGE}?month={month}").text
        assert f"{datetime.now(UTC):%B %Y}" in present, month
