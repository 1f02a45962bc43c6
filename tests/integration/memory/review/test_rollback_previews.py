"""A preview says in numbers what the run then does, whatever happened before."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.errors import CairnError
from memory.intake.actions.revise import revise
from memory.records.actions import confirm
from memory.records.models import Memory
from memory.review.actions.corrections import correct
from memory.review.actions.settlements import Settlement, settle
from memory.review.conflict_rules import ConflictVerdict
from memory.review.rollback import plan
from memory.review.rollback.execute import COUNTS, roll_back
from memory.review.rollback.plan import LeftReason, RollbackFate
from memory.review.rollback.selection import RollbackChoice
from tests.support.memories import CARTS, PARSER, REDIS, as_agent, stored
from tests.support.rollbacks import conflict_of
from tests.support.taking_in import active

pytestmark = pytest.mark.usefixtures("in_organization")

MINUTE = timedelta(minutes=1)
LATER = timedelta(days=1)
TEXTS = (
    REDIS,
    CARTS,
    PARSER,
    "The mill is fed by the northern weir, so its gate stays shut while it rains.",
    "Invoices are numbered by the ledger alone, never by the shop.",
    "The night train to the harbor is driven without a conductor.",
    "Maps are printed in two colors since the third press was sold.",
    "Bees are counted by weight, twice a year, in the old greenhouse.",
)


class World:
    """People who write, change, judge and settle in a project, as a number says."""

    def __init__(self, *, caller: Caller, they: Caller, store: str, now: datetime) -> None:
        """Begin with an empty project."""
        other = replace(caller, user_id=uuid4(), role=Role.MEMBER)
        self.steward = replace(caller, user_id=uuid4(), role=Role.STEWARD)
        self.writers = (they, as_agent(they), other, as_agent(other), caller)
        self.store, self.now = store, now

    def live(self, *, chance: Random, deeds: int) -> None:
        """Let so many things happen, of which some are refused."""
        for number in range(deeds):
            deed = chance.choice((self.store_one, self.change, self.replace, self.judge))
            with suppress(CairnError):
                deed(chance, self.now + number * MINUTE)

    def store_one(self, chance: Random, at: datetime) -> None:
        given = {"type": chance.choice(("fact", "fact", "episode")), "project": self.store}
        stored(chance.choice(self.writers), at, chance.choice(TEXTS), **given)

    def change(self, chance: Random, at: datetime) -> None:
        changes: dict[str, Any] = {"content": chance.choice(TEXTS)}
        if chance.random() < 0.3:
            changes = {"external_id": chance.choice(("one", "two", ""))}
        who, one = chance.choice(self.writers), self.any_of(chance)
        revise(caller=who, memory_id=one, changes=changes, if_version=None, now=at)

    def replace(self, chance: Random, at: datetime) -> None:
        correct(
            caller=chance.choice(self.writers), memory_id=self.any_of(chance),
            content=chance.choice(TEXTS), kind="wrong", reason="", now=at,
        )  # fmt: skip

    def judge(self, chance: Random, at: datetime) -> None:
        if chance.random() < 0.5:
            confirm(caller=self.steward, memory_id=self.any_of(chance), now=at)
            return
        one, two = (self.view_of(self.any_of(chance)) for _ in range(2))
        decision = Settlement(
            verdict=chance.choice(tuple(ConflictVerdict)),
            reason="Looked up.",
            content=chance.choice(TEXTS),
        )
        with tenancy.unit():
            if Memory.objects.filter(pk__in=(one.id, two.id), status="active").count() < 2:
                return
        between = conflict_of(one, two, at)
        settle(caller=self.steward, conflict_id=between, settlement=decision, now=at)

    def any_of(self, chance: Random) -> UUID:
        with tenancy.unit():
            return chance.choice(tuple(Memory.objects.order_by("created_at", "content", "id"))).id

    def view_of(self, memory_id: UUID) -> Any:
        with tenancy.unit():
            return Memory.objects.get(pk=memory_id)


@pytest.fixture
def world(caller: Caller, member_caller: Caller, store: str, now: datetime) -> World:
    """An empty project and its people."""
    return World(caller=caller, they=member_caller, store=store, now=now)


def figures(told: Any) -> Mapping[str, int]:
    return {name: getattr(told, name) for name in COUNTS}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("by", ["person", "time"])
def test_the_numbers_of_a_preview_are_those_of_the_receipt(
    caller: Caller, member_caller: Caller, world: World, store: str, now: datetime, seed: int,
    by: str,
) -> None:  # fmt: skip
    chance = Random(seed)
    stored(caller, now, TEXTS[0], project=store)
    world.live(chance=chance, deeds=24)
    chosen = {"person": member_caller.user_id} if by == "person" else {"since": now + 8 * MINUTE}
    choice, then = RollbackChoice(project=store, **chosen), now + LATER

    seen = plan.preview(caller=caller, choice=choice, after=None, limit=200, now=then)
    done = roll_back(caller=caller, choice=choice, now=then)

    assert figures(done) == figures(seen.counts)
    fates = [one.fate for one in seen.items]
    again = [id for one in seen.items for id in one.stands_again]
    assert len(again) == done.reinstated
    assert fates.count(RollbackFate.ARCHIVED) <= done.archived


def test_what_another_memory_says_by_now_is_left_and_the_preview_says_so(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    memory = stored(caller, now, REDIS, project=store)
    revise(
        caller=member_caller, memory_id=memory.id, changes={"content": CARTS}, if_version=None,
        now=now,
    )  # fmt: skip
    stored(caller, now, REDIS, project=store)
    choice, then = RollbackChoice(project=store, person=member_caller.user_id), now + LATER

    seen = plan.preview(caller=caller, choice=choice, after=None, limit=200, now=then)
    done = roll_back(caller=caller, choice=choice, now=then)

    assert [(one.fate, one.why) for one in seen.items] == [(RollbackFate.LEFT, LeftReason.TWIN)]
    assert figures(seen.counts) == figures(done)
    assert (done.rewritten, done.left, active()) == (0, 1, sorted([CARTS, REDIS]))
