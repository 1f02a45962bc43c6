"""A rollback that was undone: all that one call took back is as it was before."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from uuid import uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller, TokenScope
from accounts.errors import Conflict
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from memory.review.actions.verdict_undo import undo, undo_call
from memory.review.queries import inbox
from memory.review.rollback.undo import undo_rollback
from teams.models import Change
from tests.support.memories import CARTS, PARSER, REDIS, as_agent, stored
from tests.support.rollbacks import LATER, Roll, put_right, row_of, say
from tests.support.taking_in import active

pytestmark = pytest.mark.usefixtures("in_organization")


def said_before(memory: MemoryView) -> list[str]:
    with tenancy.unit():
        return [one.content for one in row_of(memory).versions.all()]


def vouch_for(memory: MemoryView, now: datetime) -> None:
    """Let somebody have verified what a memory says."""
    vouched = {"user_verified": True, "verification": "verified", "verified_at": now}
    with tenancy.unit():
        Memory.objects.filter(pk=memory.id).update(**vouched)


def test_what_stands_again_and_says_again_what_it_said_is_undone_too(
    caller: Caller, member_caller: Caller, store: str, now: datetime, roll: Roll
) -> None:
    old = stored(caller, now, REDIS, project=store)
    say(member_caller, old, CARTS, now)
    put_right(member_caller, old.id, PARSER, now)
    before = row_of(old)
    done = roll(person=member_caller.user_id)
    assert (done.archived, done.reinstated, done.rewritten, active()) == (1, 1, 1, [REDIS])
    assert done.review_id is not None

    undone = undo_rollback(caller=caller, review_id=done.review_id, now=now + 2 * LATER)

    assert (undone, active()) == (2, [PARSER])
    row = row_of(old)
    assert (row.content, row.status, row.superseded_by_id, row.confidence, row.updated_at) == (
        CARTS, "superseded", before.superseded_by_id, before.confidence, before.updated_at,
    )  # fmt: skip
    assert said_before(old) == [REDIS]
    assert roll(person=member_caller.user_id).archived == 1


@pytest.mark.parametrize("take_back", [undo, undo_call])
def test_a_part_of_a_rollback_is_not_undone_by_itself(
    caller: Caller,
    member_caller: Caller,
    store: str,
    now: datetime,
    roll: Roll,
    take_back: Callable[..., object],
) -> None:
    for text in (REDIS, CARTS):
        stored(member_caller, now, text, project=store)
    done = roll(person=member_caller.user_id)
    assert done.review_id is not None

    with pytest.raises(Conflict, match="part of a rollback"):
        take_back(caller=caller, review_id=done.review_id, now=now + 2 * LATER)

    assert active() == []
    assert undo_rollback(caller=caller, review_id=done.review_id, now=now + 2 * LATER) == 2


def test_the_feed_says_of_each_memory_what_became_of_it(
    caller: Caller, member_caller: Caller, store: str, now: datetime, roll: Roll
) -> None:
    old = stored(caller, now, REDIS, project=store)
    new = put_right(member_caller, old.id, PARSER, now)
    done = roll(person=member_caller.user_id)
    assert done.review_id is not None
    with tenancy.unit():
        last = Change.objects.order_by("-id").values_list("id", flat=True)[0]

    undo_rollback(caller=caller, review_id=done.review_id, now=now + 2 * LATER)

    with tenancy.unit():
        told = Change.objects.filter(id__gt=last).values_list("object_id", "kind")
        assert set(told) == {(old.id, "memory.superseded"), (new, "memory.restored")}


def test_a_token_of_the_scope_admin_does_no_less_than_was_shown(
    caller: Caller, member_caller: Caller, store: str, now: datetime, roll: Roll
) -> None:
    rule = stored(caller, now, REDIS, project=store, type="identity")
    writer = replace(caller, user_id=uuid4())
    vouch_for(rule, now)
    say(writer, rule, CARTS, now)
    admin = replace(as_agent(caller), user_id=uuid4(), scopes=frozenset(TokenScope))

    done = roll(admin, person=writer.user_id)
    row = row_of(rule)
    assert done.review_id is not None
    undo_rollback(caller=admin, review_id=done.review_id, now=now + 2 * LATER)
    again = row_of(rule)

    assert (done.rewritten, done.left) == (1, 0)
    assert (row.content, row.governance, row.user_verified) == (REDIS, again.governance, True)
    assert (again.content, again.verification, again.verified_at) == (CARTS, "verified", now)


def test_what_was_rolled_back_is_nothing_that_the_inbox_decided(
    caller: Caller, member_caller: Caller, store: str, now: datetime, roll: Roll
) -> None:
    for text in (REDIS, CARTS):
        stored(member_caller, now, text, project=store)
    roll(person=member_caller.user_id)

    week = inbox.count_decided(caller=caller, project=store, now=now + 2 * LATER)

    assert (week.total, dict(week.by_verdict)) == (0, {})
