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
from memory.records.actions.bulk import do_all
from memory.records.actions.confirm import confirm
from memory.records.actions.revise import revise
from memory.records.conflict_models import Conflict
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from memory.records.verdict_models import ReviewVerdict
from memory.review.actions.corrections import correct
from memory.review.actions.settlements import Settlement, settle
from memory.review.conflict_rules import ConflictVerdict
from memory.review.rollback import plan
from memory.review.rollback.execute import RolledBack, roll_back
from memory.review.rollback.plan import LeftReason, RollbackFate, RollbackPreview
from memory.review.rollback.selection import RollbackChoice
from tests.support.memories import CARTS, PARSER, REDIS, as_agent, stored
from tests.support.taking_in import active

pytestmark = pytest.mark.usefixtures("in_organization")

LATER = timedelta(hours=1)
MILL = "The mill is fed by the northern weir, so its gate stays shut while it rains."
Roll = Callable[..., RolledBack]
Look = Callable[..., RollbackPreview]


@pytest.fixture
def steward(caller: Caller) -> Caller:
    """Somebody else who decides: neither who rolls back nor who wrote."""
    return replace(caller, user_id=uuid4(), role=Role.STEWARD)


@pytest.fixture
def roll(caller: Caller, store: str, now: datetime) -> Roll:
    """Roll back in the project as the owner, an hour later."""

    def by(**chosen: Any) -> RolledBack:
        return roll_back(
            caller=caller, choice=RollbackChoice(project=store, **chosen), now=now + LATER
        )

    return by


@pytest.fixture
def look(caller: Caller, store: str, now: datetime) -> Look:
    """Preview a rollback as the owner, an hour later."""

    def by(**chosen: Any) -> RollbackPreview:
        choice, then = RollbackChoice(project=store, **chosen), now + LATER
        return plan.preview(caller=caller, choice=choice, after=None, limit=200, now=then)

    return by


def fates(seen: RollbackPreview) -> dict[UUID, tuple[RollbackFate, LeftReason | None]]:
    return {one.memory_id: (one.fate, one.why) for one in seen.items}


def kept(who: Caller, memory: MemoryView, now: datetime) -> None:
    """Keep a memory, as the review inbox does."""
    assert who.user_id is not None
    with tenancy.unit():
        ReviewVerdict.objects.create(
            memory_id=memory.id, verdict="keep", decided_by=who.user_id, decided_at=now
        )


def rewritten(who: Caller, memory: MemoryView, now: datetime) -> None:
    """Say a memory in other words."""
    changes = {"content": PARSER}
    revise(caller=who, memory_id=memory.id, changes=changes, if_version=None, now=now)


def conflict_of(older: MemoryView, newer: MemoryView, now: datetime) -> UUID:
    """Let two memories contradict each other; return the conflict's id."""
    with tenancy.unit():
        return Conflict.objects.create(
            older_id=older.id, newer_id=newer.id, project_id=newer.project_id,
            audience=Memory.objects.get(pk=newer.id).audience,
            kind="contradict", cause="unsure", found_at=now,
        ).id  # fmt: skip


@pytest.mark.parametrize(("stand_for", "says"), [(kept, REDIS), (rewritten, PARSER)])
def test_what_others_stand_for_stands_again_where_it_was_replaced(
    member_caller: Caller, steward: Caller, store: str, now: datetime, roll: Roll, look: Look,
    stand_for: Callable[[Caller, MemoryView, datetime], None], says: str,
) -> None:  # fmt: skip
    memory = stored(member_caller, now, REDIS, project=store)
    stand_for(steward, memory, now)
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
    do_all(caller=steward, verb="confirm", memory_ids=(several.id,), now=now)
    confirm(caller=as_agent(steward), memory_id=agents.id, now=now)
    confirm(caller=member_caller, memory_id=own.id, now=now)

    seen = fates(look(person=member_caller.user_id))
    done = roll(person=member_caller.user_id)

    left, gone = (RollbackFate.LEFT, LeftReason.KEPT), (RollbackFate.ARCHIVED, None)
    assert seen == {one.id: left, several.id: left, agents.id: gone, own.id: gone}
    assert (done.archived, done.left) == (2, 2)
    assert active() == sorted([REDIS, CARTS])


def changed_by_member(who: Caller, memory: MemoryView, text: str, at: datetime) -> None:
    revise(caller=who, memory_id=memory.id, changes={"content": text}, if_version=None, now=at)


def confirmed(who: Caller, memory: MemoryView, now: datetime) -> None:
    """Confirm a memory, as on its page."""
    confirm(caller=who, memory_id=memory.id, now=now)


def confirmed_together(who: Caller, memory: MemoryView, now: datetime) -> None:
    """Confirm a memory, as in a list."""
    do_all(caller=who, verb="confirm", memory_ids=(memory.id,), now=now)


def settled(who: Caller, memory: MemoryView, now: datetime) -> None:
    """Say that a memory holds beside another."""
    other = stored(replace(who, user_id=uuid4()), now, MILL, project=str(memory.project_id))
    decision = Settlement(verdict=ConflictVerdict.BOTH, reason="It was looked up.")
    settle(caller=who, conflict_id=conflict_of(other, memory, now), settlement=decision, now=now)


Judge = Callable[[Caller, MemoryView, datetime], None]
EARLY, LATE = timedelta(days=-3650), timedelta(days=3650)  # the audit log has a clock of its own


@pytest.mark.parametrize("judge", [kept, confirmed, confirmed_together, settled])
def test_a_changed_memory_that_others_judged_right_since_is_left(
    caller: Caller, member_caller: Caller, steward: Caller, store: str, now: datetime,
    roll: Roll, look: Look, judge: Judge,
) -> None:  # fmt: skip
    judged, other = (stored(caller, now, text, project=store) for text in (REDIS, PARSER))
    for memory, text in ((judged, CARTS), (other, f"{PARSER} Twice.")):
        changed_by_member(member_caller, memory, text, now + EARLY)
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
    changed_by_member(member_caller, memory, CARTS, now + EARLY)
    named = NewToken(name="Ours", scopes=frozenset({TokenScope.WRITE}))
    own = create_token(caller=member_caller, new=named, now=now).token.id
    by = {
        "author of the change": member_caller,
        "agent of theirs": replace(member_caller, user_id=own),
        "who rolls back": caller,
    }[who]
    kept(by, memory, now)

    done = roll(person=member_caller.user_id)

    assert (done.rewritten, active()) == (1, [REDIS])


@pytest.mark.parametrize("judge", [kept, confirmed, confirmed_together, settled])
@pytest.mark.parametrize("wrote", ["others", "they"])
def test_what_was_changed_once_more_goes_back_to_what_others_judged_right(
    caller: Caller, member_caller: Caller, steward: Caller, store: str, now: datetime,
    judge: Judge, wrote: str,
) -> None:  # fmt: skip
    author = {"others": caller, "they": member_caller}[wrote]
    memory = stored(author, now, REDIS, project=store)
    changed_by_member(member_caller, memory, CARTS, now + EARLY)
    judge(steward, memory, now)
    changed_by_member(as_agent(member_caller), memory, PARSER, now + LATE)
    choice, then = RollbackChoice(project=store, person=member_caller.user_id), now + 2 * LATE

    seen = plan.preview(caller=caller, choice=choice, after=None, limit=200, now=then)
    done = roll_back(caller=caller, choice=choice, now=then)
    again = roll_back(caller=caller, choice=choice, now=then + LATER)

    assert fates(seen)[memory.id] == (RollbackFate.REWRITTEN, None)
    assert (seen.counts.archived, seen.counts.rewritten, seen.counts.left) == (0, 1, 0)
    assert (done.archived, done.rewritten, done.left) == (0, 1, 0)
    assert CARTS in active()
    assert (again.archived, again.rewritten, again.left) == (0, 0, 1)
