"""Many at once: equal texts make one row, no update is lost, the feed is in order."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError, connection

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import PreconditionFailed
from accounts.models import Organization
from memory.documents.actions.note_push import NewNote, push_note
from memory.intake.actions.remember import remember_all
from memory.intake.actions.revise import revise
from memory.records.filters import Filters
from memory.records.queries import memories as queries
from teams import changes
from teams import queries as places
from tests.support.memories import CARTS, REDIS, new, sent, stored
from tests.support.racing import race_inside

MANY = 20  # threads

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("in_organization")]


def count(caller: Caller) -> int:
    return queries.count(caller=caller, filters=Filters())


def add_tag(caller: Caller, memory_id: UUID, tag: str, now: datetime) -> bool:
    """Read, add a tag, write; False when somebody else wrote in between."""
    seen = queries.get(caller=caller, memory_id=memory_id, now=now)
    wanted = {"tags": [*seen.tags, tag]}
    try:
        revise(caller=caller, memory_id=memory_id, changes=wanted, if_version=seen.version, now=now)
    except PreconditionFailed:
        return False
    return True


def append(caller: Caller) -> None:
    """Append an entry of its own to the feed."""
    changes.append(
        kind="agent.seen", object_id=uuid4(), project_id=None, audience=caller.organization_id,
        caller=caller, summary={},
    )  # fmt: skip


def test_many_threads_storing_one_text_make_one_memory(
    organization: Organization, caller: Caller, store: str, now: datetime
) -> None:
    def store_it(_: int) -> Any:
        return sent(caller, now, project=store)

    found = race_inside(organization, store_it, times=MANY)

    assert sorted(outcome.outcome for outcome in found) == ["added", *["confirmed"] * (MANY - 1)]
    assert count(caller) == 1
    [memory] = {outcome.memory.id for outcome in found}
    assert queries.get(caller=caller, memory_id=memory, now=now).confirmations == 1  # a session


def test_many_threads_sending_one_external_id_make_one_memory(
    organization: Organization, caller: Caller, store: str, now: datetime
) -> None:
    def store_it(number: int) -> Any:
        content = f"The build number of the store is {number} today."
        return sent(caller, now, content, project=store, external_id="build")

    found = race_inside(organization, store_it, times=MANY)

    assert {outcome.outcome for outcome in found} <= {"added", "updated", "confirmed"}
    assert count(caller) == 1


def test_many_writers_of_one_memory_lose_no_update(
    organization: Organization, caller: Caller, store: str, now: datetime
) -> None:
    memory = stored(caller, now, project=store)

    def tag(number: int) -> None:
        while not add_tag(caller, memory.id, f"n{number}", now):
            pass

    race_inside(organization, tag, times=MANY)

    after = queries.get(caller=caller, memory_id=memory.id, now=now)
    assert set(after.tags) == {f"n{number}" for number in range(MANY)}
    assert after.version == MANY + 1
    assert len(queries.history(caller=caller, memory_id=memory.id)) == MANY + 1


def test_batches_that_overlap_in_opposite_orders_all_succeed(
    organization: Organization, caller: Caller, store: str, now: datetime
) -> None:
    items = [new(f"Overlapping fact number {n} of the store.", project=store) for n in range(20)]

    def store_them(number: int) -> Any:
        ordered = items if number % 2 else items[::-1]
        return remember_all(caller=caller, new=tuple(ordered), now=now)

    found = race_inside(organization, store_them, times=4)

    added = [item for outcomes in found for item in outcomes if item.outcome == "added"]
    assert len(added) == 20
    assert count(caller) == 20


def test_singles_and_batches_do_not_lock_each_other_out(
    organization: Organization, caller: Caller, store: str, now: datetime
) -> None:
    stored(caller, now, REDIS, project=store)
    stored(caller, now, CARTS, project=store)
    pair = (new(REDIS, project=store), new(CARTS, project=store))

    def write(number: int) -> Any:
        if number % 2:
            return remember_all(caller=caller, new=pair if number % 4 == 1 else pair[::-1], now=now)
        return sent(caller, now, (REDIS, CARTS)[number % 4 // 2], project=store)

    race_inside(organization, write, times=24)

    assert count(caller) == 2


def test_the_feed_is_in_order(organization: Organization, caller: Caller, store: str) -> None:
    def append_without_waiting(_: int) -> None:
        with tenancy.unit():
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '50ms'")
            append(caller)

    def overtake() -> None:
        with pytest.raises(OperationalError, match="lock timeout"):
            race_inside(organization, append_without_waiting, times=1)

    with tenancy.unit():
        append(caller)
        tenancy.at_end_of_unit(overtake)

    assert len(places.changes_since(caller=caller, after=0, limit=9)) == 2


def test_batches_are_inserted_by_hash(caller: Caller, store: str, now: datetime) -> None:
    items = tuple(new(f"Ordered fact number {n} of the store.", project=store) for n in range(30))
    remember_all(caller=caller, new=items, now=now)

    with tenancy.unit(), connection.cursor() as cursor:
        cursor.execute("SELECT content_hash FROM memory_memory ORDER BY ctid")
        hashes = [row[0] for row in cursor.fetchall()]
    assert hashes == sorted(hashes)


def test_those_who_push_the_first_version_of_a_note_wait_for_each_other(
    organization: Organization, caller: Caller, store: str, now: datetime
) -> None:
    note = NewNote(project=store, path="docs/mill.md", text="The gate of the mill opens at nine.\n")

    pushed = race_inside(
        organization, lambda _: push_note(caller=caller, new=note, now=now), times=7
    )

    assert sorted(one.added for one in pushed) == [0] * 6 + [1]
    assert len({one.note.id for one in pushed}) == 1
