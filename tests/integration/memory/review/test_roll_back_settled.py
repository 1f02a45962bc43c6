"""A conflict that was settled by another text: what a rollback does to that text, and to it."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.errors import Conflict as Changed
from memory.records.models import Conflict
from memory.records.queries.views import MemoryView
from memory.review.actions.settlements import Settlement, settle
from memory.review.conflict_rules import ConflictVerdict
from memory.review.rollback.plan import LeftReason, RollbackFate
from memory.review.rollback.undo import undo_rollback
from teams.models import Change
from tests.support.memories import CARTS, PARSER, REDIS, stored
from tests.support.rollbacks import LATER, Look, Roll, conflict_of, fates
from tests.support.taking_in import active

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def sides(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> tuple[MemoryView, MemoryView]:
    """The owner's memory, and the member's that contradicts it."""
    older = stored(caller, now, REDIS, project=store)
    return older, stored(member_caller, now, CARTS, project=store)


@pytest.fixture
def settled(sides: tuple[MemoryView, MemoryView], steward: Caller, now: datetime) -> UUID:
    """The conflict of the two, which a steward has settled by another text."""
    between = conflict_of(*sides, now)
    decision = Settlement(verdict=ConflictVerdict.EDIT, reason="Both were wrong.", content=PARSER)
    settle(caller=steward, conflict_id=between, settlement=decision, now=now + LATER / 2)
    return between


def row_of(conflict_id: UUID) -> Conflict:
    with tenancy.unit():
        return Conflict.objects.get(pk=conflict_id)


@pytest.mark.parametrize("chosen", ["who wrote a side", "the time of the sides", "all times"])
def test_the_text_of_who_settled_stays(
    member_caller: Caller, settled: UUID, now: datetime, roll: Roll, look: Look, chosen: str
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
    assert row_of(settled).verdict == "edit"


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
    caller: Caller, steward: Caller, settled: UUID, now: datetime, roll: Roll, look: Look
) -> None:
    seen = look(person=steward.user_id)
    done = roll(person=steward.user_id)

    assert (seen.counts.archived, seen.counts.reinstated) == (1, 2)
    assert (done.archived, done.reinstated) == (1, 2)
    assert active() == sorted([REDIS, CARTS])
    row = row_of(settled)
    assert (row.verdict, row.reason, row.settled_by, row.before) == ("", "", None, {})
    with tenancy.unit():
        assert Change.objects.filter(kind="memory.conflict_reopened").count() == 1


def test_undoing_settles_it_again_as_it_was(
    caller: Caller, steward: Caller, settled: UUID, now: datetime, roll: Roll
) -> None:
    before = row_of(settled)
    done = roll(person=steward.user_id)
    assert done.review_id is not None

    undo_rollback(caller=caller, review_id=done.review_id, now=now + 2 * LATER)

    names = ("verdict", "reason", "settled_by", "settled_at", "before", "audience")
    after = row_of(settled)
    assert [getattr(after, one) for one in names] == [getattr(before, one) for one in names]
    assert after.version == before.version + 2
    assert active() == [PARSER]


def test_undoing_is_refused_where_somebody_has_settled_it_meanwhile(
    caller: Caller, steward: Caller, settled: UUID, now: datetime, roll: Roll
) -> None:
    done = roll(person=steward.user_id)
    assert done.review_id is not None
    other = replace(caller, user_id=uuid4(), role=Role.STEWARD)
    both = Settlement(verdict=ConflictVerdict.BOTH, reason="Both hold.")
    settle(caller=other, conflict_id=settled, settlement=both, now=now + timedelta(hours=2))

    with pytest.raises(Changed, match="conflict that opened again"):
        undo_rollback(caller=caller, review_id=done.review_id, now=now + 3 * LATER)

    assert active() == sorted([REDIS, CARTS])
    assert row_of(settled).verdict == "both"
