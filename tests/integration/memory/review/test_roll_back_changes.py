"""What was changed goes back to what was said before it, whatever was rolled back already."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.caller import Caller, Role
from memory.intake.actions.revise import revise
from memory.records.actions import confirm
from memory.records.queries.views import MemoryView
from memory.review.rollback import execute, plan
from memory.review.rollback.plan import LeftReason, RollbackFate
from tests.support.memories import CARTS, PARSER, REDIS, as_agent, stored
from tests.support.rollbacks import LATER, Look, Roll, row_of

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def second(caller: Caller) -> Caller:
    """Another person who writes."""
    return replace(caller, user_id=uuid4(), role=Role.MEMBER)


def change(who: Caller, memory: MemoryView, now: datetime, **changes: Any) -> None:
    """Change fields of a memory."""
    revise(caller=who, memory_id=memory.id, changes=changes, if_version=None, now=now)


def test_two_rolled_back_one_after_the_other_leave_the_first_text(
    caller: Caller, member_caller: Caller, second: Caller, store: str, now: datetime,
    roll: Roll, look: Look,
) -> None:  # fmt: skip
    memory = stored(caller, now, REDIS, project=store)
    change(member_caller, memory, now, content=CARTS)
    change(second, memory, now, content=PARSER)

    later = roll(hours=1, person=second.user_id)
    between = row_of(memory).content
    seen = look(hours=2, person=member_caller.user_id)
    first = roll(hours=2, person=member_caller.user_id)

    assert (later.rewritten, between) == (1, CARTS)
    assert [one.fate for one in seen.items] == [RollbackFate.REWRITTEN]
    assert (first.rewritten, row_of(memory).content) == (1, REDIS)
    assert look(hours=3, person=member_caller.user_id).items == ()


def test_a_longer_time_takes_back_what_a_shorter_one_has_left(
    caller: Caller, member_caller: Caller, store: str, now: datetime, roll: Roll
) -> None:
    memory = stored(caller, now, REDIS, project=store)
    change(member_caller, memory, now + LATER, content=CARTS)
    change(member_caller, memory, now + 2 * LATER, content=PARSER)

    roll(hours=3, since=now + 2 * LATER)
    between = row_of(memory).content
    roll(hours=4, since=now + LATER)

    assert between == CARTS
    assert row_of(memory).content == REDIS


def test_what_was_changed_again_after_a_rollback_goes_back_again(
    caller: Caller, member_caller: Caller, store: str, now: datetime, roll: Roll
) -> None:
    memory = stored(caller, now, REDIS, project=store)
    change(member_caller, memory, now, content=CARTS)
    roll(hours=1, person=member_caller.user_id)
    change(member_caller, memory, now + 2 * LATER, content=PARSER)

    again = roll(hours=3, person=member_caller.user_id)

    assert (again.rewritten, row_of(memory).content) == (1, REDIS)


def test_no_reason_keeps_a_change_from_being_taken_back(
    caller: Caller, member_caller: Caller, store: str, now: datetime, roll: Roll
) -> None:
    memory = stored(caller, now, REDIS, project=store)
    change(as_agent(member_caller), memory, now, content=CARTS, reason=execute.REASON)

    done = roll(hours=1, person=member_caller.user_id)

    assert (done.rewritten, row_of(memory).content) == (1, REDIS)


def test_pin_external_id_and_what_was_verified_are_taken_back(
    caller: Caller, member_caller: Caller, store: str, now: datetime, roll: Roll, look: Look
) -> None:
    memory = stored(caller, now, REDIS, project=store, external_id="redis")
    confirm(caller=caller, memory_id=memory.id, now=now)
    before = row_of(memory)
    agent = as_agent(member_caller)
    change(agent, memory, now, content=CARTS, pinned=True, external_id="carts")
    between = row_of(memory)

    seen = look(hours=1, person=member_caller.user_id)
    done = roll(hours=1, person=member_caller.user_id)

    names = ("content", "pinned", "external_id", "user_verified", "verification", "verified_at")
    changed = [getattr(before, name) != getattr(between, name) for name in names]
    assert changed == [True] * len(names)
    assert [one.fate for one in seen.items] == [RollbackFate.REWRITTEN]
    assert done.rewritten == 1
    after = row_of(memory)
    assert [getattr(after, name) for name in names] == [getattr(before, name) for name in names]


def test_a_confirmation_of_words_that_stay_is_not_taken_back(
    caller: Caller, member_caller: Caller, store: str, now: datetime, roll: Roll
) -> None:
    memory = stored(caller, now, REDIS, project=store)
    change(member_caller, memory, now, pinned=True)
    confirm(caller=caller, memory_id=memory.id, now=now)

    roll(hours=1, person=member_caller.user_id)

    row = row_of(memory)
    assert (row.pinned, row.user_verified) == (False, True)


def test_what_is_as_before_already_is_left_and_says_so(
    caller: Caller, member_caller: Caller, store: str, now: datetime, roll: Roll, look: Look
) -> None:
    memory = stored(caller, now, REDIS, project=store)
    for pinned in (True, False):
        change(member_caller, memory, now, pinned=pinned)

    seen = look(hours=1, person=member_caller.user_id)
    done = roll(hours=1, person=member_caller.user_id)

    assert [(one.fate, one.why) for one in seen.items] == [(RollbackFate.LEFT, LeftReason.SAME)]
    assert (seen.counts.left, done.rewritten, done.left) == (1, 0, 1)


def test_a_preview_of_many_changes_asks_no_more_than_one_of_few(
    caller: Caller, member_caller: Caller, store: str, now: datetime, look: Look
) -> None:
    def change_one(number: int) -> None:
        told = f"Engine {number * 7919} of the mill was oiled by crew {number * 104729}."
        memory = stored(caller, now, told, project=store, type="episode")
        change(member_caller, memory, now, content=f"{told} Then it was painted.")

    change_one(1)
    with CaptureQueriesContext(connection) as few:
        first = look(hours=1, person=member_caller.user_id)
    for number in range(2, 6):
        change_one(number)
    with CaptureQueriesContext(connection) as many:
        then = look(hours=1, person=member_caller.user_id)

    assert (first.counts.rewritten, then.counts.rewritten) == (1, 5)
    assert len(many) == len(few)


def test_a_preview_counts_no_further_than_one_more_than_a_call_takes(
    caller: Caller, member_caller: Caller, store: str, now: datetime, look: Look,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(plan, "COUNTED", 2)
    for text in (REDIS, CARTS, PARSER):
        stored(member_caller, now, text, project=store)

    seen = look(hours=1, person=member_caller.user_id)

    assert seen.counts.archived == 2
    assert len(seen.items) == 3
