"""What was changed goes back to what was said before it, whatever was rolled back already."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.records.actions import confirm
from memory.review.actions import rollback
from memory.review.queries import rollback_plan
from memory.review.queries.rollback_plan import LeftReason, RollbackFate
from tests.support.memories import CARTS, PARSER, REDIS, as_agent
from tests.support.reviewed import HOUR, World, row_of


def test_two_rolled_back_one_after_the_other_leave_the_first_text(world: World) -> None:
    memory, second = world.stored(REDIS, tags=("cache",)), world.another()
    world.say(memory, CARTS, tags=["x"])
    world.say(memory, PARSER, second)

    later = world.roll(person=second.user_id)
    between = row_of(memory).content
    seen = world.look(after=2 * HOUR)
    first = world.roll(after=2 * HOUR)

    assert (later.rewritten, between) == (1, CARTS)
    assert [(one.fate, one.why) for one in seen.items] == [(RollbackFate.REWRITTEN, None)]
    row = row_of(memory)
    assert (first.rewritten, first.archived, row.content, row.tags) == (1, 0, REDIS, ["cache"])
    assert world.look(after=3 * HOUR).items == ()


def test_a_longer_time_takes_back_what_a_shorter_one_has_left(world: World) -> None:
    memory = world.stored(REDIS)
    world.say(memory, CARTS, after=HOUR)
    world.say(memory, PARSER, after=2 * HOUR)

    world.roll(after=3 * HOUR, since=world.now + 2 * HOUR)
    between = row_of(memory).content
    world.roll(after=4 * HOUR, since=world.now + HOUR)

    assert (between, row_of(memory).content) == (CARTS, REDIS)


def test_what_was_changed_again_after_a_rollback_goes_back_again_whatever_reason_it_gives(
    world: World,
) -> None:
    memory = world.stored(REDIS)
    world.say(memory, CARTS)
    world.roll()
    world.say(memory, PARSER, as_agent(world.member), 2 * HOUR, reason=rollback.REASON)

    again = world.roll(after=3 * HOUR)

    assert (again.rewritten, row_of(memory).content) == (1, REDIS)


def test_pin_external_id_and_what_was_verified_are_taken_back(world: World) -> None:
    memory = world.stored(REDIS, external_id="redis")
    confirm(caller=world.owner, memory_id=memory.id, now=world.now)
    before = row_of(memory)
    world.say(memory, CARTS, as_agent(world.member), pinned=True, external_id="carts")
    between = row_of(memory)

    done = world.roll()

    after = row_of(memory)
    names = ("content", "pinned", "external_id", "user_verified", "verification", "verified_at")
    assert not [name for name in names if getattr(before, name) == getattr(between, name)]
    assert done.rewritten == 1
    assert [getattr(after, name) for name in names] == [getattr(before, name) for name in names]


def test_a_confirmation_of_words_that_stay_is_not_taken_back(world: World) -> None:
    memory = world.stored(REDIS)
    world.say(memory, pinned=True)
    confirm(caller=world.owner, memory_id=memory.id, now=world.now)

    world.roll()

    row = row_of(memory)
    assert (row.pinned, row.user_verified) == (False, True)


def test_what_is_as_before_already_is_left_and_says_so(world: World) -> None:
    memory = world.stored(REDIS)
    for pinned in (True, False):
        world.say(memory, pinned=pinned)

    seen = world.look()
    done = world.roll()

    assert [(one.fate, one.why) for one in seen.items] == [(RollbackFate.LEFT, LeftReason.SAME)]
    assert (seen.counts.left, done.rewritten, done.left) == (1, 0, 1)


def test_a_preview_of_many_changes_asks_no_more_than_one_of_few(world: World) -> None:
    def change_one(number: int) -> None:
        told = f"Engine {number * 7919} of the mill was oiled by crew {number * 104729}."
        world.say(world.stored(told, type="episode"), f"{told} Then it was painted.")

    change_one(1)
    with CaptureQueriesContext(connection) as few:
        first = world.look()
    for number in (2, 3):
        change_one(number)
    with CaptureQueriesContext(connection) as many:
        then = world.look()

    assert (first.counts.rewritten, then.counts.rewritten) == (1, 3)
    assert len(many) == len(few)


def test_a_preview_counts_no_further_than_one_more_than_a_call_takes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rollback_plan, "COUNTED", 2)
    for text in (REDIS, CARTS, PARSER):
        world.theirs(text)

    seen = world.look()

    assert (seen.counts.archived, len(seen.items)) == (2, 3)
