"""What others stand for by now is left by a rollback, and stands again where it was replaced."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from accounts import tenancy
from accounts.actions.tokens import NewToken, create_token
from accounts.caller import TokenScope
from accounts.errors import Conflict as Changed
from memory.records.actions import change_in_bulk, confirm
from memory.records.models import Conflict
from memory.records.queries.views import MemoryView
from memory.review.queries.conflicts import ConflictVerdict
from memory.review.queries.rollback_plan import LeftReason, RollbackFate
from teams.models import Change
from tests.support.memories import CARTS, PARSER, REDIS, as_agent
from tests.support.reviewed import HOUR, MILL, World, fates
from tests.support.taking_in import active

Judge = Callable[[World, MemoryView], object]
KEPT = (RollbackFate.LEFT, LeftReason.KEPT)
EARLY, LATE = timedelta(days=-3650), timedelta(days=3650)  # the audit log has a clock of its own


def confirmed(world: World, memory: MemoryView) -> None:
    """Confirm a memory, as on its page."""
    confirm(caller=world.steward, memory_id=memory.id, now=world.now)


def confirmed_together(world: World, memory: MemoryView) -> None:
    """Confirm a memory, as in a list."""
    change_in_bulk(caller=world.steward, verb="confirm", memory_ids=(memory.id,), now=world.now)


def settled(world: World, memory: MemoryView) -> None:
    """Say that a memory holds beside another."""
    other = world.stored(MILL, world.another())
    world.settle(world.conflict_of(other, memory), ConflictVerdict.BOTH)


JUDGES = (World.stand_for, confirmed, confirmed_together, settled)


@pytest.mark.parametrize("says", [REDIS, PARSER])
def test_what_others_stand_for_stands_again_where_it_was_replaced(world: World, says: str) -> None:
    memory = world.theirs(REDIS)
    if says == REDIS:
        world.stand_for(memory)
    else:
        world.say(memory, says, world.steward)
    bad = world.put_right(memory.id, CARTS, world.member)

    seen = world.look()
    done = world.roll()

    assert [(one.memory_id, one.stands_again) for one in seen.items] == [(bad, (memory.id,))]
    assert (seen.counts.archived, seen.counts.reinstated) == (1, 1)
    assert (done.archived, done.reinstated) == (1, 1)
    assert active() == [says]


@pytest.mark.parametrize(
    ("verdict", "is_left"),
    [
        (ConflictVerdict.KEEP_NEWER, True),
        (ConflictVerdict.BOTH, True),
        (ConflictVerdict.KEEP_OLDER, False),
    ],
)
def test_what_others_settled_is_left(world: World, verdict: ConflictVerdict, is_left: bool) -> None:
    older, newer = world.stored(REDIS), world.theirs(CARTS)
    world.settle(world.conflict_of(older, newer), verdict)

    seen = world.look()
    done = world.roll()

    assert fates(seen) == ({newer.id: KEPT} if is_left else {})
    assert done.archived == 0
    assert (CARTS in active()) == is_left


def test_what_others_confirmed_in_person_is_left(world: World) -> None:
    one, several, agents, own = (world.theirs(text) for text in (REDIS, CARTS, PARSER, MILL))
    confirmed(world, one)
    confirmed_together(world, several)
    confirm(caller=as_agent(world.steward), memory_id=agents.id, now=world.now)
    confirm(caller=world.member, memory_id=own.id, now=world.now)

    seen = fates(world.look())
    done = world.roll()

    gone = (RollbackFate.ARCHIVED, None)
    assert seen == {one.id: KEPT, several.id: KEPT, agents.id: gone, own.id: gone}
    assert (done.archived, done.left) == (2, 2)
    assert active() == sorted([REDIS, CARTS])


@pytest.mark.parametrize("judge", JUDGES)
def test_a_change_that_others_judged_right_is_left(world: World, judge: Judge) -> None:
    judged, other = world.stored(REDIS), world.stored(PARSER)
    world.say(judged, CARTS, after=EARLY)
    world.say(other, f"{PARSER} Twice.", after=EARLY)
    judge(world, judged)

    seen = world.look()
    done = world.roll()

    assert fates(seen) == {judged.id: KEPT, other.id: (RollbackFate.REWRITTEN, None)}
    assert (seen.counts.rewritten, seen.counts.left) == (done.rewritten, done.left) == (1, 1)
    assert {CARTS, PARSER} <= set(active())


@pytest.mark.parametrize("who", ["author of the change", "agent of theirs", "who rolls back"])
def test_whose_words_they_are_and_who_asks_judge_nothing(world: World, who: str) -> None:
    memory = world.stored(REDIS)
    world.say(memory, CARTS, after=EARLY)
    named = NewToken(name="Ours", scopes=frozenset({TokenScope.WRITE}))
    own = create_token(caller=world.member, new=named, now=world.now).token.id
    by = {
        "author of the change": world.member,
        "agent of theirs": replace(world.member, user_id=own),
        "who rolls back": world.owner,
    }[who]
    world.stand_for(memory, by)

    done = world.roll()

    assert (done.rewritten, active()) == (1, [REDIS])


@pytest.mark.parametrize("wrote", ["others", "they"])
def test_what_changed_goes_back_to_what_others_found_right(world: World, wrote: str) -> None:
    memory = world.stored(REDIS) if wrote == "others" else world.theirs(REDIS)
    world.say(memory, CARTS, after=EARLY)
    world.stand_for(memory)
    world.say(memory, PARSER, world.member, after=LATE)

    seen = world.look(after=2 * LATE)
    done = world.roll(after=2 * LATE)
    again = world.roll(after=2 * LATE + HOUR)

    assert fates(seen)[memory.id] == (RollbackFate.REWRITTEN, None)
    assert (seen.counts.archived, seen.counts.rewritten, seen.counts.left) == (0, 1, 0)
    assert (done.archived, done.rewritten, done.left) == (0, 1, 0)
    assert CARTS in active()
    assert (again.archived, again.rewritten, again.left) == (0, 0, 1)


@pytest.fixture
def between(world: World) -> UUID:
    """The conflict of the owner's memory and the member's."""
    return world.conflict_of(world.stored(REDIS), world.theirs(CARTS))


@pytest.fixture
def ended(world: World, between: UUID) -> Conflict:
    """The conflict of the two, which a steward has settled by another text."""
    world.settle(between, ConflictVerdict.EDIT, content=PARSER, after=HOUR / 2)
    return conflict_row(between)


def conflict_row(conflict_id: UUID) -> Conflict:
    with tenancy.unit():
        return Conflict.objects.get(pk=conflict_id)


@pytest.mark.parametrize("chosen", ["who wrote a side", "the time of the sides", "all times"])
def test_the_text_of_who_settled_stays(world: World, ended: Conflict, chosen: str) -> None:
    choices: dict[str, dict[str, Any]] = {
        "who wrote a side": {},
        "the time of the sides": {"until": world.now + HOUR / 4},
        "all times": {"since": world.now - HOUR},
    }

    seen = world.look(**choices[chosen])
    done = world.roll(**choices[chosen])

    whys = [one.why for one in seen.items]
    assert whys == ([LeftReason.KEPT] if chosen == "all times" else [])
    assert (seen.counts.archived, seen.counts.reinstated, done.archived) == (0, 0, 0)
    assert active() == [PARSER]
    assert conflict_row(ended.id).verdict == "edit"


def test_a_text_by_which_others_settled_is_left(world: World, between: UUID) -> None:
    known = world.theirs(PARSER)
    world.settle(between, ConflictVerdict.EDIT, content=PARSER)

    seen = world.look()
    done = world.roll()

    assert fates(seen) == {known.id: KEPT}
    assert (done.archived, done.left, active()) == (0, 1, [PARSER])


def test_where_who_settled_is_rolled_back_it_is_open_again(world: World, ended: Conflict) -> None:
    seen = world.look(person=world.steward.user_id)
    done = world.roll(person=world.steward.user_id)

    assert (seen.counts.archived, seen.counts.reinstated) == (1, 2)
    assert (done.archived, done.reinstated) == (1, 2)
    assert active() == sorted([REDIS, CARTS])
    row = conflict_row(ended.id)
    assert (row.verdict, row.reason, row.settled_by, row.before) == ("", "", None, {})
    with tenancy.unit():
        assert Change.objects.filter(kind="memory.conflict_reopened").count() == 1

    world.undo(done)

    names = ("verdict", "reason", "settled_by", "settled_at", "before", "audience")
    after = conflict_row(ended.id)
    assert [getattr(after, one) for one in names] == [getattr(ended, one) for one in names]
    assert after.version == ended.version + 2
    assert active() == [PARSER]


def test_undoing_what_was_settled_since_is_refused(world: World, ended: Conflict) -> None:
    done = world.roll(person=world.steward.user_id)
    world.settle(ended.id, ConflictVerdict.BOTH, after=2 * HOUR)

    with pytest.raises(Changed, match="conflict that opened again"):
        world.undo(done)

    assert active() == sorted([REDIS, CARTS])
    assert conflict_row(ended.id).verdict == "both"
