"""Many candidates at once: each meets the gates alone, all are written together."""

from datetime import datetime

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.errors import NotFound, RoleNotSufficient, TooLarge
from accounts.models import Job
from memory.intake.actions.remember import MOST, NewMemory, Outcome, remember, remember_all
from memory.intake.actions.revise import revise
from memory.records.models import Memory
from teams.actions import change_project
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


def test_agents_are_refused_alone(caller: Caller, agent: Caller, store: str, now: datetime) -> None:
    stored(caller, now, CARTS, project=store, type="decision", external_id="adr-1")

    found = outcomes(
        agent,
        now,
        new(project=store),
        new(PARSER, project=store, external_id="adr-1"),
        new("short", project=store, external_id="adr-1"),
        new(PARSER, project=store, type="identity"),
    )

    assert found == ["added", *["refused"] * 3]


def test_one_job_and_one_audit_entry_for_all(caller: Caller, store: str, now: datetime) -> None:
    found = sent(caller, now, new(REDIS, project=store), new(CARTS, project=store))

    ids = [str(outcome.memory.id) for outcome in found if outcome.memory]
    job = Job.objects.get(name="memory.embed_bulk")
    assert job.payload["ids"] == ids
    assert {outcome.job_id for outcome in found} == {job.id}
    with tenancy.unit():
        assert AuditEntry.objects.filter(act="memory.bulk_written").count() == 1
        assert Change.objects.filter(kind="memory.created").count() == 2


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        (((CARTS, "a"), (CARTS, "a"), (CARTS, ""), (REDIS, "")),
         ["updated", "confirmed", "confirmed", "added"]),
        (((PARSER, "b"), (PARSER, "b"), (CARTS, "b")), ["added", "confirmed", "refused"]),
        (((CARTS, ""), (CARTS, "a")), ["added", "refused"]),
    ],
)  # fmt: skip
def test_external_ids_are_brought_up_to_date(
    caller: Caller, store: str, now: datetime,
    items: tuple[tuple[str, str], ...], expected: list[str],
) -> None:  # fmt: skip
    stored(caller, now, REDIS, project=store, external_id="a")

    sending = (new(text, project=store, external_id=external_id) for text, external_id in items)

    assert outcomes(caller, now, *sending) == expected


def test_more_than_a_thousand_are_too_many(caller: Caller, store: str, now: datetime) -> None:
    with pytest.raises(TooLarge):
        sent(caller, now, *(new() for _ in range(MOST + 1)))


@pytest.mark.django_db(transaction=True)
def test_everything_or_nothing_is_written(caller: Caller, store: str, now: datetime) -> None:
    with connection.as_owner(), tenancy.unit(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE teams_change ADD CHECK (summary->>'type' <> 'decision')")

    with pytest.raises(Exception, match="check constraint"):
        sent(caller, now, new(project=store), new(CARTS, project=store, type="decision"))

    with tenancy.unit():
        assert not Memory.objects.exists()
    assert not Job.objects.exists()


def test_a_viewer_and_an_unseen_project_are_refused(
    caller: Caller, store: str, now: datetime
) -> None:
    viewer, hidden = memories.as_role(caller, Role.VIEWER), new(CARTS, project="nothing")

    for who, items, error in (
        (viewer, (new(project=store),), RoleNotSufficient),
        (caller, (new(project=store), hidden), NotFound),
    ):
        with pytest.raises(error):
            remember_all(caller=who, new=items, now=now)
        with pytest.raises(error):
            remember(caller=who, new=items[-1], now=now)


def _urgency(name: str) -> list[int]:
    """Return the priorities of the jobs of a name, in the order in which they were queued."""
    found = Job.objects.filter(name=name).order_by("created_at", "id")
    return list(found.values_list("priority", flat=True))


def test_a_call_is_as_urgent_as_its_firmest(caller: Caller, store: str, now: datetime) -> None:
    passing = new(CARTS, project=store, type="event")
    remember_all(caller=caller, new=(passing,), now=now)
    rule = new(PARSER, project=store, pinned=True)

    remember_all(caller=caller, new=(new(project=store), rule), now=now)

    assert _urgency("memory.embed_bulk") == [4, 2]


def test_changes_are_as_urgent_as_the_memory(caller: Caller, store: str, now: datetime) -> None:
    one = {"max_llm_adds_per_day": 2}
    change_project(caller=caller, ref=store, changes=one, if_version=None)
    memory = stored(caller, now, project=store, pinned=True)

    revise(caller=caller, memory_id=memory.id, changes={"content": CARTS}, if_version=None, now=now)

    assert _urgency("memory.judge_added") == [2]
    assert _urgency("memory.embed") == [2]
