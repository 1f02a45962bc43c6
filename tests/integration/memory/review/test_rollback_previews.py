"""A preview says in numbers what the run then does, whatever happened before."""

from contextlib import suppress
from datetime import timedelta
from random import Random
from typing import Any
from uuid import UUID

import pytest

from accounts import tenancy
from accounts.errors import CairnError
from memory.records.actions import confirm
from memory.records.models import Conflict, Memory
from memory.review.actions.rollback import COUNTS
from memory.review.queries.conflicts import ConflictVerdict
from memory.review.queries.rollback_plan import LeftReason, RollbackFate
from tests.support.memories import CARTS, PARSER, REDIS, as_agent
from tests.support.reviewed import MILL, World
from tests.support.taking_in import active

MINUTE = timedelta(minutes=1)
LATER = timedelta(days=1)
TEXTS = (
    REDIS,
    CARTS,
    PARSER,
    MILL,
    "Invoices are numbered by the ledger alone, never by the shop.",
    "The night train to the harbor is driven without a conductor.",
    "Maps are printed in two colors since the third press was sold.",
    "Bees are counted by weight, twice a year, in the old greenhouse.",
)


def live(world: World, chance: Random, deeds: int) -> None:
    """Let so many things happen as a number says, of which some are refused."""
    other = world.another()
    writers = (world.member, as_agent(world.member), other, as_agent(other), world.owner)
    for number in range(deeds):
        deed = chance.choice(("store", "change", "replace", "judge"))
        who, content, at = chance.choice(writers), chance.choice(TEXTS), number * MINUTE
        with suppress(CairnError):
            if deed == "store":
                type = chance.choice(("fact", "fact", "episode"))
                world.stored(content, who, type=type, at=world.now + at)
            elif deed == "change":
                named = {"external_id": chance.choice(("one", "two", ""))}
                changes = named if chance.random() < 0.3 else {"content": content}
                world.say(any_of(chance), by=who, after=at, **changes)
            elif deed == "replace":
                world.put_right(any_of(chance).id, content, who)
            else:
                judge(world, chance, at, content)


def judge(world: World, chance: Random, at: timedelta, content: str) -> None:
    """Let the steward confirm a memory, or settle a conflict of two."""
    one, two = any_of(chance), any_of(chance)
    if chance.random() < 0.5:
        confirm(caller=world.steward, memory_id=one.id, now=world.now + at)
    elif (one.status, two.status) == ("active", "active") and is_free(one, two):
        verdict = chance.choice(tuple(ConflictVerdict))
        world.settle(world.conflict_of(one, two), verdict, after=at, content=content)


def is_free(one: Memory, two: Memory) -> bool:
    with tenancy.unit():
        return one.id != two.id and not Conflict.objects.filter(older=one, newer=two).exists()


def any_of(chance: Random) -> Any:
    with tenancy.unit():
        return chance.choice(tuple(Memory.objects.order_by("created_at", "content", "id")))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("by", ["person", "time"])
def test_the_numbers_of_a_preview_are_those_of_the_receipt(
    world: World, seed: int, by: str
) -> None:
    world.stored(TEXTS[0])
    live(world, Random(seed), deeds=24)
    chosen = {} if by == "person" else {"since": world.now + 8 * MINUTE}

    seen = world.look(after=LATER, **chosen)
    done = world.roll(after=LATER, **chosen)

    assert [getattr(done, one) for one in COUNTS] == [getattr(seen.counts, one) for one in COUNTS]
    fates = [one.fate for one in seen.items]
    again: list[UUID] = [id for one in seen.items for id in one.stands_again]
    assert len(again) == done.reinstated
    assert fates.count(RollbackFate.ARCHIVED) <= done.archived


def test_what_another_memory_says_by_now_is_left_and_the_preview_says_so(world: World) -> None:
    world.say(world.stored(REDIS), CARTS)
    world.stored(REDIS)

    seen = world.look()
    done = world.roll()

    assert [(one.fate, one.why) for one in seen.items] == [(RollbackFate.LEFT, LeftReason.TWIN)]
    assert (seen.counts.rewritten, seen.counts.left) == (done.rewritten, done.left) == (0, 1)
    assert active() == sorted([CARTS, REDIS])
