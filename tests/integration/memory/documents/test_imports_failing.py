"""Imports that fail: what is in stays, why is told, and they go on where they stopped."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts import jobs
from accounts.caller import Caller
from accounts.errors import Conflict, Forbidden, NotFound
from accounts.models import Job, Token
from memory.documents import queries
from memory.documents.actions.import_batches import (
    begin_import,
    fail_import,
    retry_import,
    undo_import,
)
from memory.tasks import job_handlers
from tests.support import memories, work
from tests.support.taking_in import active, run, upload

pytestmark = pytest.mark.usefixtures("store")


def test_a_job_that_died_between_two_parts_goes_on(
    caller: Caller, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.documents.actions.import_batches.PART", 2)
    begun = begin_import(caller=caller, upload=upload(), now=now)

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "progress", die)
        with pytest.raises(KeyboardInterrupt):
            job_handlers.take_in(work.taken(begun.job_id))
    assert len(active()) == 2
    job_handlers.take_in(work.taken(begun.job_id))

    assert dict(queries.get_import(caller=caller, batch_id=begun.id, now=now).counts) == {
        "added": 3
    }


@pytest.fixture
def token(caller: Caller, now: datetime) -> Token:
    """A token of the owner's that is good."""
    assert caller.user_id is not None
    return Token.objects.create(
        organization_id=caller.organization_id, user_id=caller.user_id, name="ci", kind="personal",
        lookup="import-test", digest="x", last_four="abcd", scopes=["read", "write"],
        expires_at=timezone.now() + timedelta(days=9),
    )  # fmt: skip


@pytest.mark.parametrize("end", ["revoked_at", "expires_at"])
def test_import_of_a_token_that_has_ended_fails_and_says_so(
    caller: Caller, now: datetime, token: Token, end: str
) -> None:
    agent = memories.as_agent(caller, token_id=token.id)
    begun = begin_import(caller=agent, upload=upload(), now=now)
    Token.objects.filter(pk=token.id).update(**{end: timezone.now() - timedelta(days=1)})

    with pytest.raises(jobs.PermanentFailure):
        job_handlers.take_in(work.taken(begun.job_id))

    failed = queries.get_import(caller=caller, batch_id=begun.id, now=now)
    assert (failed.state, active()) == ("failed", [])
    assert "token" in failed.error
    assert undo_import(caller=caller, batch_id=begun.id, now=now).batch.state == "undone"


def test_import_of_a_token_that_is_good_goes_on(
    caller: Caller, now: datetime, token: Token
) -> None:
    done = run(memories.as_agent(caller, token_id=token.id), upload(), now)

    assert (done.state, dict(done.counts)) == ("done", {"added": 3})


def test_row_that_the_database_refuses_stops_no_other(caller: Caller, now: datetime) -> None:
    begun = begin_import(caller=caller, upload=upload(), now=now)

    def no_ledger(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "INSERT" in sql and "Never mock the ledger" in repr(params):
            return execute("SELECT 'ledger'::integer", None, False, context)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(no_ledger):
        job_handlers.take_in(work.taken(begun.job_id))

    done = queries.get_import(caller=caller, batch_id=begun.id, now=now)
    assert (done.state, dict(done.counts)) == ("done", {"added": 2, "refused": 1})


@pytest.mark.parametrize(
    ("state", "error"),
    [
        (Job.State.QUARANTINED, "Its worker stopped without finishing it."),
        (Job.State.CANCELLED, ""),
    ],
)
def test_import_whose_job_ended_without_success_says_why_and_is_tried_again(
    caller: Caller, now: datetime, state: str, error: str
) -> None:
    begun = begin_import(caller=caller, upload=upload(), now=now)
    Job.objects.filter(pk=str(begun.job_id)).update(state=state, error=error)

    failed = queries.get_import(caller=caller, batch_id=begun.id, now=now)
    again = retry_import(caller=caller, batch_id=begun.id, now=now)
    job_handlers.take_in(work.taken(again.job_id))
    done = queries.get_import(caller=caller, batch_id=begun.id, now=now)

    assert (failed.state, failed.error) == ("failed", error or "Its job was cancelled.")
    assert (again.state, again.error) == ("queued", "")
    assert (done.state, done.error, dict(done.counts)) == ("done", "", {"added": 3})


def test_import_of_a_job_put_aside_is_taken_back(caller: Caller, now: datetime) -> None:
    begun = begin_import(caller=caller, upload=upload(), now=now)
    Job.objects.filter(pk=str(begun.job_id)).update(state=Job.State.QUARANTINED)

    undone = undo_import(caller=caller, batch_id=begun.id, now=now)

    assert undone.batch.state == "undone"


def test_import_whose_job_is_forgotten_gets_a_new_one(caller: Caller, now: datetime) -> None:
    begun = begin_import(caller=caller, upload=upload(), now=now)
    fail_import(batch_id=begun.id, reason="The project was archived.", now=now)
    Job.objects.filter(pk=str(begun.job_id)).delete()

    again = retry_import(caller=caller, batch_id=begun.id, now=now)

    assert again.job_id not in {None, begun.job_id}
    assert Job.objects.get(pk=again.job_id).state == Job.State.QUEUED


def test_only_an_import_that_failed_is_tried_again(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    waits = begin_import(caller=caller, upload=upload(), now=now)
    own = begin_import(caller=caller, upload=upload(scope="personal"), now=now)

    with pytest.raises(Conflict):
        retry_import(caller=caller, batch_id=waits.id, now=now)
    with pytest.raises(Forbidden):
        retry_import(caller=member_caller, batch_id=waits.id, now=now)
    with pytest.raises(NotFound):
        retry_import(caller=member_caller, batch_id=own.id, now=now)
    assert Job.objects.filter(name="memory.run_import").count() == 2
