"""Why work failed is told in the language of who reads the page, and in English to programs."""

from collections.abc import Callable
from uuid import UUID

import pytest
from django.test import Client

from accounts import jobs, tasks, tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput, Unavailable
from accounts.messages import message
from accounts.models import Job, User
from tests.support import work as one_job

PAGE = "/o/acme/settings/jobs"


@pytest.fixture
def french(owner: User) -> None:
    """The owner reads French."""
    User.objects.filter(pk=owner.pk).update(language="fr")


@pytest.fixture
def run(caller: Caller, shop: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[Exception], UUID]:
    """Let a worker run a job of the owner's that ends so."""

    def running(error: Exception) -> UUID:
        def ends(claim: object) -> None:
            raise error

        monkeypatch.setitem(jobs._handlers, "memory.embed", ends)
        with entered(caller), tenancy.unit():
            job_id = jobs.enqueue("memory.embed", payload={"ids": []}, created_by=caller.user_id)
        assert job_id is not None
        tasks.run(held=one_job.taken(job_id))
        return job_id

    return running


REFUSED = InvalidInput(
    detail="This is not a moment until which to snooze.",
    hint=message("Name one in the next {days} days.", days=365),
)
GONE = Forbidden(detail=message("Memory {id} says the same under another external id or none.",
                                 id="7"), hint="")  # fmt: skip


@pytest.mark.parametrize(
    ("error", "english", "told"),
    [
        (
            REFUSED,
            "This is not a moment until which to snooze. Name one in the next 365 days.",
            ("On ne peut pas repor", "365 prochains jours"),
        ),
        (
            jobs.PermanentFailure(REFUSED.detail, REFUSED.hint),
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
    ],
)
def test_a_failure_is_said_in_french(
    owner_pages: Client,
    caller: Caller,
    french: None,
    run: Callable[[Exception], UUID],
    error: Exception,
    english: str | None,
    told: tuple[str, ...],
) -> None:
    job_id = run(error)

    page = owner_pages.get(PAGE).content.decode()

    assert [text for text in told if text not in page] == []
    assert "secret of somebody" not in page
    with entered(caller):
        view = jobs.find_job(caller=caller, job_id=job_id)
    assert english is None or view.error == english


def test_what_an_older_program_wrote_is_shown_as_it_is(
    owner_pages: Client, caller: Caller, french: None, run: Callable[[Exception], UUID]
) -> None:
    job_id = run(REFUSED)
    Job.objects.filter(pk=job_id).update(error="The key was refused.", error_parts=None)

    assert "The key was refused." in owner_pages.get(PAGE).content.decode()


def test_one_that_ends_well_forgets_why_it_failed(
    caller: Caller, run: Callable[[Exception], UUID]
) -> None:
    job_id = run(REFUSED)
    held = one_job.taken(job_id)

    jobs.finish(held=held, result={"embedded": 0})

    row = Job.objects.get(pk=job_id)
    assert (row.error, row.error_parts) == ("", None)
