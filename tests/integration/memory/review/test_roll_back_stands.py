"""What others stand for by now is left by a rollback, and stands again where it was replaced."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.actions.tokens import NewToken, create_token
from accounts.caller import Caller, Role, TokenScope
from accounts.errors import Conflict as Changed
from memory.records.actions import change_in_bulk, confirm
from memory.records.models import Conflict
from memory.records.queries.views import MemoryView
from memory.review.actions.corrections import correct
from memory.review.actions.settlements import Settlement, settle
from memory.review.conflict_rules import ConflictVerdict
from memory.review.rollback import plan
from memory.review.rollback.execute import roll_back
from memory.review.rollback.plan import LeftReason, RollbackFate
from memory.review.rollback.selection import RollbackChoice
from memory.review.rollback.undo import undo_rollback
from teams.models import Change
from tests.support.memories import CARTS, PARSER, REDIS, as_agent, stored
from tests.support.rollbacks import LATER, MILL, Look, Roll, conflict_of, fates, say, stand_for
from tests.support.taking_in import active

pytestmark = pytest.mark.usefixtures("in_organization")


Judge = Callable[[Caller, MemoryView, datetime], None]


def rewritten(who: Caller, memory: MemoryView, now: datetime) -> None:
    """Say a memory in other words."""
    say(who, memory, PARSER, now)


@pytest.mark.parametrize(("protect", "says"), [(stand_for, REDIS), (rewritten, PARSER)])
def test_what_others_stand_for_stands_again_where_it_was_replaced(
    member_caller: Caller, steward: Caller, store: str, now: datetime, roll: Roll, look: Look,
    protect: Judge, says: str,
) -> None:  # fmt: skip
    memory = stored(member_caller, now, REDIS, project=store)
    protect(steward, memory, now)
    bad = correct(
        caller=as_agent(member_caller), memory_id=memory.id, content=CARTS, kind="wrong",
        reason="", now=now,
    ).memory  # fmt: skip
    assert bad is not None

    seen = look(person=member_caller.user_id)
    done = roll(person=member_caller.user_id)

    assert [(one.memory_id, one.stands_again) for one in seen.items] == [(bad.id, (memory.id,))]
    assert (seen.counts.archived, seen.counts.reinstated) == (1, 1)
    assert (done.archived, done.reinstated) == (1, 1)
    assert active() == [says]


@pytest.mark.parametrize(
    "how",
    [
        (ConflictVerdict.KEEP_NEWER, True),
        (ConflictVerdict.BOTH, True),
        (ConflictVerdict.KEEP_OLDER, False),
    ],
)
def test_what_others_settled_a_conflict_for_is_left(
    caller: Caller, member_caller: Caller, steward: Caller, store: str, now: datetime,
    roll: Roll, look: Look, how: tuple[ConflictVerdict, bool],
) -> None:  # fmt: skip
    verdict, is_left = how
    older = stored(caller, now, REDIS, project=store)
    newer = stored(member_caller, now, CARTS, project=store)
    between = conflict_of(older, newer, now)
    decision = Settlement(verdict=verdict, reason="It was looked up.")
    settle(caller=steward, conflict_id=between, settlement=decision, now=now)

    seen = look(person=member_caller.user_id)
    done = roll(person=member_caller.user_id)

    assert fates(seen) == ({newer.id: (RollbackFate.LEFT, LeftReason.KEPT)} if is_left else {})
    assert done.archived == 0
    assert (CARTS in active()) == is_left


def test_what_others_confirmed_in_person_is_left(
    member_caller: Caller, steward: Caller, store: str, now: datetime, roll: Roll, look: Look
) -> None:
    one, several, agents, own = (
        stored(member_caller, now, text, project=store) for text in (REDIS, CARTS, PARSER, MILL)
    )
    confirm(caller=steward, memory_id=one.id, now=now)
    change_in_bulk(caller=steward, verb="confirm", memory_ids=(several.id,), now=now)
    confirm(caller=as_agent(steward), memory_id=agents.id, now=now)
    confirm(caller=member_caller, memory_id=own.id, now=now)

    seen = fates(look(person=member_caller.user_id))
    done = roll(person=member_caller.user_id)

    left, gone = (RollbackFate.LEFT, LeftReason.KEPT), (RollbackFate.ARCHIVED, None)
    assert seen == {one.id: left, several.id: left, agents.id: gone, own.id: gone}
    assert (done.archived, done.left) == (2, 2)
    assert active() == sorted([REDIS, CARTS])


def confirmed(who: Caller, memory: MemoryView, now: datetime) -> None:
    """Confirm a memory, as on its page."""
    confirm(caller=who, memory_id=memory.id, now=now)


def confirmed_together(who: Caller, memory: MemoryView, now: datetime) -> None:
    """Confirm a memory, as in a list."""
    change_in_bulk(caller=who, verb="confirm", memory_ids=(memory.id,), now=now)


def settled(who: Caller, memory: MemoryView, now: datetime) -> None:
    """Say that a memory holds beside another."""
    other = stored(replace(who, user_id=uuid4()), now, MILL, project=str(memory.project_id))
    decision = Settlement(verdict=ConflictVerdict.BOTH, reason="It was looked up.")
    settle(caller=who, conflict_id=conflict_of(other, memory, now), settlement=decision, now=now)


EARLY, LATE = timedelta(days=-3650), timedelta(days=3650)  # the audit log has a clock of its own


@pytest.mark.parametrize("judge", [stand_for, confirmed, confirmed_together, settled])
def test_a_changed_memory_that_others_judged_right_since_is_left(
    caller: Caller, member_caller: Caller, steward: Caller, store: str, now: datetime,
    roll: Roll, look: Look, judge: Judge,
) -> None:  # fmt: skip
    judged, other = (stored(caller, now, text, project=store) for text in (REDIS, PARSER))
    for memory, text in ((judged, CARTS), (other, f"{PARSER} Twice.")):
        say(member_caller, memory, text, now + EARLY)
    judge(steward, judged, now)

    seen = look(person=member_caller.user_id)
    done = roll(person=member_caller.user_id)

    assert fates(seen) == {
        judged.id: (RollbackFate.LEFT, LeftReason.KEPT), other.id: (RollbackFate.REWRITTEN, None)
    }  # fmt: skip
    assert (seen.counts.rewritten, seen.counts.left) == (done.rewritten, done.left) == (1, 1)
    assert {CARTS, PARSER} <= set(active())


@pytest.mark.parametrize("who", ["author of the change", "agent of theirs", "who rolls back"])
def test_whose_words_they_are_and_who_asks_judge_nothing(
    caller: Caller, member_caller: Caller, store: str, now: datetime, roll: Roll, who: str
) -> None:
    memory = stored(caller, now, REDIS, project=store)
    say(member_caller, memory, CARTS, now + EARLY)
    named = NewToken(name="Ours", scopes=frozenset({TokenScope.WRITE}))
    own = create_token(caller=member_caller, new=named, now=now).token.id
    by = {
        "author of the change": member_caller,
        "agent of theirs": replace(member_caller, user_id=own),
        "who rolls back": caller,
    }[who]
    stand_for(by, memory, now)

    done = roll(person=member_caller.user_id)

    assert (done.rewritten, active()) == (1, [REDIS])


@pytest.mark.parametrize("judge", [stand_for, confirmed, confirmed_together, settled])
@pytest.mark.parametrize("wrote", ["others", "they"])
def test_what_was_changed_once_more_goes_back_to_what_others_judged_right(
    caller: Caller, member_caller: Caller, steward: Caller, store: str, now: datetime,
    judge: Judge, wrote: str,
) -> None:  # fmt: skip
    author = {"others": caller, "they": member_caller}[wrote]
    memory = stored(author, now, REDIS, project=store)
    say(member_caller, memory, CARTS, now + EARLY)
    judge(steward, memory, now)
    say(as_agent(member_caller), memory, PARSER, now + LATE)
    choice, then = RollbackChoice(project=store, person=member_caller.user_id), now + 2 * LATE

    seen = plan.preview(caller=caller, choice=choice, after=None, limit=200, now=then)
    done = roll_back(caller=caller, choice=choice, now=then)
    again = roll_back(caller=caller, choice=choice, now=then + LATER)

    assert fates(seen)[memory.id] == (RollbackFate.REWRITTEN, None)
    assert (seen.counts.archived, seen.counts.rewritten, seen.counts.left) == (0, 1, 0)
    assert (done.archived, done.rewritten, done.left) == (0, 1, 0)
    assert CARTS in active()
    assert (again.archived, again.rewritten, again.left) == (0, 0, 1)


@pytest.fixture
def sides(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> tuple[MemoryView, MemoryView]:
    """The owner's memory, and the member's that contradicts it."""
    older = stored(caller, now, REDIS, project=store)
    return older, stored(member_caller, now, CARTS, project=store)


@pytest.fixture
def settled_conflict(sides: tuple[MemoryView, MemoryView], steward: Caller, now: datetime) -> UUID:
    """The conflict of the two, which a steward has settled by another text."""
    between = conflict_of(*sides, now)
    decision = Settlement(verdict=ConflictVerdict.EDIT, reason="Both were wrong.", content=PARSER)
    settle(caller=steward, conflict_id=between, settlement=decision, now=now + LATER / 2)
    return between


def conflict_row(conflict_id: UUID) -> Conflict:
    with tenancy.unit():
        return Conflict.objects.get(pk=conflict_id)


@pytest.mark.parametrize("chosen", ["who wrote a side", "the time of the sides", "all times"])
def test_the_text_of_who_settled_stays(
    member_caller: Caller,
    settled_conflict: UUID,
    now: datetime,
    roll: Roll,
    look: Look,
    chosen: str,
) -> None:
    choices: dict[str, dict[str, Any]] = {
        "who wrote a side": {"person": member_caller.user_id},
        "the time of the sides": {"until": now + LATER / 4},
        "all times": {"since": now - LATER},
    }
    given = choices[chosen]

    seen = look(**given)
    done = roll(**given)

    whys = [one.why for one in seen.items]
    assert whys == ([LeftReason.KEPT] if chosen == "all times" else [])
    assert (seen.counts.archived, seen.counts.reinstated, done.archived) == (0, 0, 0)
    assert active() == [PARSER]
    assert conflict_row(settled_conflict).verdict == "edit"


def test_a_text_of_theirs_by_which_somebody_else_settled_is_left(
    member_caller: Caller, sides: tuple[MemoryView, MemoryView], steward: Caller, store: str,
    now: datetime, roll: Roll, look: Look,
) -> None:  # fmt: skip
    known = stored(member_caller, now, PARSER, project=store)
    decision = Settlement(verdict=ConflictVerdict.EDIT, reason="Both were wrong.", content=PARSER)
    between = conflict_of(*sides, now)
    settle(caller=steward, conflict_id=between, settlement=decision, now=now)

    seen = look(person=member_caller.user_id)
    done = roll(person=member_caller.user_id)

    assert fates(seen) == {known.id: (RollbackFate.LEFT, LeftReason.KEPT)}
    assert (done.archived, done.left, active()) == (0, 1, [PARSER])


def test_where_who_settled_is_rolled_back_the_conflict_is_open_again(
    caller: Caller, steward: Caller, settled_conflict: UUID, now: datetime, roll: Roll, look: Look
) -> None:
    seen = look(person=steward.user_id)
    done = roll(person=steward.user_id)

    assert (seen.counts.archived, seen.counts.reinstated) == (1, 2)
    assert (done.archived, done.reinstated) == (1, 2)
    assert active() == sorted([REDIS, CARTS])
    row = conflict_row(settled_conflict)
    assert (row.verdict, row.reason, row.settled_by, row.before) == ("", "", None, {})
    with tenancy.unit():
        assert Change.objects.filter(kind="memory.conflict_reopened").count() == 1


def test_undoing_settles_it_again_as_it_was(
    caller: Caller, steward: Caller, settled_conflict: UUID, now: datetime, roll: Roll
) -> None:
    before = conflict_row(settled_conflict)
    done = roll(person=steward.user_id)
    assert done.review_id is not None

    undo_rollback(caller=caller, review_id=done.review_id, now=now + 2 * LATER)

    names = ("verdict", "reason", "settled_by", "settled_at", "before", "audience")
    after = conflict_row(settled_conflict)
    assert [getattr(after, one) for one in names] == [getattr(before, one) for one in names]
    assert after.version == before.version + 2
    assert active() == [PARSER]


def test_undoing_is_refused_where_somebody_has_settled_it_meanwhile(
    caller: Caller, steward: Caller, settled_conflict: UUID, now: datetime, roll: Roll
) -> None:
    done = roll(person=steward.user_id)
    assert done.review_id is not None
    other = replace(caller, user_id=uuid4(), role=Role.STEWARD)
    both = Settlement(verdict=ConflictVerdict.BOTH, reason="Both hold.")
    settle(
        caller=other, conflict_id=settled_conflict, settlement=both, now=now + timedelta(hours=2)
    )

    with pytest.raises(Changed, match="conflict that opened again"):
        undo_rollback(caller=caller, review_id=done.review_id, now=now + 3 * LATER)

    assert active() == sorted([REDIS, CARTS])
    assert conflict_row(settled_conflict).verdict == "both"
