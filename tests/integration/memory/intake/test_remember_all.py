"""Many candidates at once: each meets the gates alone, all are written together."""

from datetime import datetime

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.errors import NotFound, RoleNotSufficient, TooLarge
from accounts.models import Job
from memory.intake.actions.remember import NewMemory, Outcome
from memory.intake.actions.remember_all import MOST, remember_all
from memory.records.models import Memory
from teams.models import AuditEntry, Change
from tests.support import memories
from tests.support.memories import CARTS, PARSER, REDIS, new, stored

pytestmark = pytest.mark.usefixtures("in_organization")


def sent(caller: Caller, now: datetime, *items: NewMemory) -> tuple[Outcome, ...]:
    return remember_all(caller=caller, new=items, now=now)


def outcomes(caller: Caller, now: datetime, *items: NewMemory) -> list[str]:
    return [outcome.outcome for outcome in sent(caller, now, *items)]


def test_each_item_has_its_own_outcome_in_order(caller: Caller, store: str, now: datetime) -> None:
    stored(caller, now, CARTS, project=store)

    found = outcomes(
        caller,
        now,
        new(REDIS, project=store),
        new("short", project=store),
        new(CARTS, project=store),
        new(REDIS, project=store),
        new(PARSER, project=store, type="nonsense"),
        new(PARSER, project=store, scope="team", team="nobody's"),
        new("password = hunter2Xq9!zLm4 is what it is", project=store),
    )

    assert found == ["added", "refused", "confirmed", "confirmed", *["refused"] * 3]


def test_what_an_agent_may_not_do_is_refused_alone(
    agent: Caller, store: str, now: datetime
) -> None:
    found = outcomes(agent, now, new(project=store), new(CARTS, project=store, type="identity"))

    assert found == ["added", "refused"]


def test_a_protected_memory_is_not_overwritten_and_the_rest_is_stored(
    caller: Caller, agent: Caller, store: str, now: datetime
) -> None:
    stored(caller, now, CARTS, project=store, type="decision", external_id="adr-1")

    found = outcomes(
        agent, now, new(project=store), new(PARSER, project=store, external_id="adr-1")
    )

    assert found == ["added", "refused"]


def test_one_job_embeds_all_and_one_line_of_audit_tells_of_it(
    caller: Caller, store: str, now: datetime
) -> None:
    found = sent(caller, now, new(REDIS, project=store), new(CARTS, project=store))

    ids = [str(outcome.memory.id) for outcome in found if outcome.memory]
    job = Job.objects.get(name="memory.embed_bulk")
    assert job.payload["ids"] == ids
    assert {outcome.job_id for outcome in found} == {job.id}
    with tenancy.unit():
        assert AuditEntry.objects.filter(act="memory.bulk_written").count() == 1
        assert Change.objects.filter(kind="memory.created").count() == 2


def test_external_ids_are_brought_up_to_date(caller: Caller, store: str, now: datetime) -> None:
    stored(caller, now, REDIS, project=store, external_id="a")

    found = outcomes(
        caller,
        now,
        new(CARTS, project=store, external_id="a"),
        new(CARTS, project=store, external_id="a"),
        new(CARTS, project=store),
        new(REDIS, project=store),
    )

    assert found == ["updated", "confirmed", "confirmed", "added"]


def test_an_external_id_that_comes_twice_with_two_texts_is_refused_the_second_time(
    caller: Caller, store: str, now: datetime
) -> None:
    found = outcomes(
        caller,
        now,
        new(REDIS, project=store, external_id="a"),
        new(REDIS, project=store, external_id="a"),
        new(CARTS, project=store, external_id="a"),
    )

    assert found == ["added", "confirmed", "refused"]


def test_an_external_id_does_not_take_a_text_that_was_just_added(
    caller: Caller, store: str, now: datetime
) -> None:
    stored(caller, now, REDIS, project=store, external_id="a")

    found = outcomes(
        caller, now, new(CARTS, project=store), new(CARTS, project=store, external_id="a")
    )

    assert found == ["added", "refused"]


def test_a_short_text_under_a_known_external_id_is_refused_alone(
    caller: Caller, store: str, now: datetime
) -> None:
    stored(caller, now, REDIS, project=store, external_id="a")

    found = outcomes(
        caller, now, new("short", project=store, external_id="a"), new(CARTS, project=store)
    )

    assert found == ["refused", "added"]


@pytest.mark.django_db(transaction=True)
def test_everything_or_nothing_is_written(caller: Caller, store: str, now: datetime) -> None:
    with connection.as_owner(), tenancy.unit(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE teams_change ADD CHECK (summary->>'type' <> 'decision')")

    with pytest.raises(Exception, match="check constraint"):
        sent(caller, now, new(project=store), new(CARTS, project=store, type="decision"))

    with tenancy.unit():
        assert not Memory.objects.exists()
    assert not Job.objects.exists()


def test_a_thousand_go_in_at_once_and_one_more_is_too_many(
    caller: Caller, store: str, now: datetime
) -> None:
    items = tuple(new(f"Fact number {n} about the store.", project=store) for n in range(MOST))

    with pytest.raises(TooLarge):
        sent(caller, now, *items, new())
    found = outcomes(caller, now, *items)

    assert found == ["added"] * MOST


def test_a_project_that_cannot_be_seen_refuses_the_call(
    caller: Caller, store: str, now: datetime
) -> None:
    with pytest.raises(NotFound):
        sent(caller, now, new(project=store), new(CARTS, project="nothing"))


def test_a_viewer_sends_nothing(caller: Caller, store: str, now: datetime) -> None:
    with pytest.raises(RoleNotSufficient):
        sent(memories.as_role(caller, Role.VIEWER), now, new(project=store))


def test_nothing_sent_is_nothing_done(caller: Caller, now: datetime) -> None:
    assert sent(caller, now) == ()
