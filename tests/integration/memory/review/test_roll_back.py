"""What a writer, a session, a time or an ancestor produced is taken back, and can be undone."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from uuid import uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role, TokenScope
from accounts.errors import Conflict, InvalidInput, NotFound, RoleNotSufficient
from memory.records.actions import confirm
from memory.records.models import Memory, MemoryLink
from memory.records.queries.views import MemoryView
from memory.review.actions.verdict_undo import undo, undo_call
from memory.review.queries import inbox
from memory.review.rollback.execute import roll_back
from memory.review.rollback.plan import LeftReason, RollbackFate
from memory.review.rollback.selection import RollbackChoice
from memory.review.rollback.undo import undo_rollback
from teams.models import Change
from tests.support.memories import CARTS, PARSER, REDIS, as_agent, as_role, stored
from tests.support.rollbacks import (
    LATER,
    MILL,
    Look,
    Roll,
    derived,
    put_right,
    row_of,
    say,
    session_of,
    stand_for,
)
from tests.support.taking_in import active

pytestmark = pytest.mark.usefixtures("in_organization")


def test_session_is_taken_back_and_nothing_else(
    member_caller: Caller, store: str, now: datetime, roll: Roll, look: Look
) -> None:
    agent = as_agent(member_caller)
    session = session_of(agent, store, now)
    stored(agent, now, REDIS, project=store, session_id=session)
    stored(agent, now, CARTS, project=store)

    seen = look(member_caller, session=session)
    done = roll(member_caller, session=session)

    assert (seen.counts.archived, [one.fate for one in seen.items]) == (1, [RollbackFate.ARCHIVED])
    assert (done.archived, done.left, done.job_id) == (1, 0, None)
    assert active() == [CARTS]


def test_nothing_is_undone_where_something_has_changed_since(
    member_caller: Caller, caller: Caller, store: str, now: datetime, roll: Roll
) -> None:
    old = stored(caller, now, REDIS, project=store)
    put_right(member_caller, old.id, CARTS, now)
    done = roll(person=member_caller.user_id)
    assert done.review_id is not None
    confirm(caller=caller, memory_id=old.id, now=now + LATER)

    with pytest.raises(Conflict):
        undo_rollback(caller=caller, review_id=done.review_id, now=now + 2 * LATER)

    assert active() == [REDIS]


def test_what_was_replaced_stands_again(
    caller: Caller, member_caller: Caller, store: str, now: datetime, roll: Roll, look: Look
) -> None:
    old = stored(caller, now, REDIS, project=store, external_id="redis")
    first = put_right(member_caller, old.id, CARTS, now)
    put_right(member_caller, first, MILL, now)  # which replaced the first

    seen = look(person=member_caller.user_id)
    done = roll(person=member_caller.user_id)

    assert (seen.counts.archived, done.archived, done.reinstated) == (2, 2, 1)
    assert active() == [REDIS]
    row = row_of(old)
    assert (row.confidence, row.superseded_by_id, row.valid_until) == (0.8, None, None)
    with tenancy.unit():
        assert not MemoryLink.objects.filter(target=row).exists()


def test_changed_memory_says_again_what_it_said(
    caller: Caller, member_caller: Caller, store: str, now: datetime, roll: Roll, look: Look
) -> None:
    memory = stored(caller, now, REDIS, project=store, tags=("cache",))
    for text in (CARTS, MILL):
        say(member_caller, memory, text, now, tags=["x"])

    seen = look(person=member_caller.user_id)
    done = roll(person=member_caller.user_id)

    assert [(one.fate, one.why) for one in seen.items] == [(RollbackFate.REWRITTEN, None)]
    assert (done.rewritten, done.archived) == (1, 0)
    row = row_of(memory)
    assert (row.content, row.tags) == (REDIS, ["cache"])
    assert roll(person=member_caller.user_id).rewritten == 0


def test_what_somebody_else_has_changed_or_kept_since_is_left(
    caller: Caller, member_caller: Caller, steward: Caller, store: str, now: datetime,
    roll: Roll, look: Look,
) -> None:  # fmt: skip
    rewritten, kept = (stored(member_caller, now, one, project=store) for one in (REDIS, CARTS))
    theirs = stored(caller, now, PARSER, project=store)
    say(steward, rewritten, MILL, now)
    say(member_caller, theirs, f"{PARSER} Twice.", now)
    say(steward, theirs, f"{PARSER} Thrice.", now)
    stand_for(steward, kept, now)

    seen = look(person=member_caller.user_id)
    done = roll(person=member_caller.user_id)

    whys = {one.memory_id: one.why for one in seen.items}
    assert whys == {
        rewritten.id: LeftReason.CHANGED,
        kept.id: LeftReason.KEPT,
        theirs.id: LeftReason.CHANGED,
    }
    assert (seen.counts.left, seen.counts.archived) == (3, 0)
    assert (done.archived, done.rewritten, done.left) == (0, 0, 3)


def test_what_another_memory_says_by_now_stays_replaced(
    caller: Caller, member_caller: Caller, store: str, now: datetime, roll: Roll
) -> None:
    old = stored(caller, now, REDIS, project=store)
    put_right(member_caller, old.id, CARTS, now)
    stored(caller, now, REDIS, project=store)

    done = roll(person=member_caller.user_id)

    assert (done.archived, done.reinstated, done.left) == (1, 0, 1)
    assert row_of(old).status == "superseded"


def test_what_derives_from_a_memory_goes_and_it_stays(
    caller: Caller, store: str, now: datetime, roll: Roll, look: Look
) -> None:
    root, child, grandchild, other = (
        stored(caller, now, text, project=store) for text in (REDIS, CARTS, PARSER, MILL)
    )
    with tenancy.unit():
        for source, target, kind in (
            (child, root, "derive"), (grandchild, child, "derive"), (root, grandchild, "derive"),
            (other, root, "extend"),
        ):  # fmt: skip
            MemoryLink.objects.create(source_id=source.id, target_id=target.id, kind=kind)

    seen = look(ancestor=root.id)
    done = roll(ancestor=root.id)

    assert {one.memory_id for one in seen.items} == {child.id, grandchild.id}
    assert done.archived == 2
    assert active() == sorted([REDIS, MILL])


def test_a_time_takes_back_what_anybody_wrote_then(
    caller: Caller, member_caller: Caller, store: str, now: datetime, roll: Roll
) -> None:
    early = stored(caller, now, REDIS, project=store)
    then = now + LATER / 2
    stored(member_caller, then, CARTS, project=store)
    stored(caller, then, PARSER, project=store)
    say(member_caller, early, MILL, then)

    done = roll(since=then, until=then + LATER / 4)

    assert (done.archived, done.rewritten) == (2, 1)
    assert active() == [REDIS]


def test_a_token_takes_back_what_was_written_with_it(
    caller: Caller, member_caller: Caller, store: str, now: datetime, roll: Roll
) -> None:
    agent, another = as_agent(member_caller), as_agent(member_caller)
    stored(agent, now, REDIS, project=store)
    stored(another, now, CARTS, project=store)
    opened = session_of(agent, store, now)
    stored(caller, now, PARSER, project=store, session_id=opened)

    done = roll(token=agent.token_id)

    assert done.archived == 2
    assert active() == [CARTS]


def test_members_take_back_their_own_and_nobody_elses(
    caller: Caller, member_caller: Caller, store: str, now: datetime, roll: Roll, look: Look
) -> None:
    mine = session_of(member_caller, store, now, shared=True)
    theirs = session_of(caller, store, now, shared=True)
    stored(member_caller, now, REDIS, project=store, session_id=mine)
    stored(caller, now, CARTS, project=store, session_id=mine)

    for chosen in ({"person": caller.user_id}, {"session": theirs}, {"since": now}):
        with pytest.raises(RoleNotSufficient):
            roll(member_caller, **chosen)
        with pytest.raises(RoleNotSufficient):
            look(member_caller, **chosen)
    done = roll(member_caller, session=mine)

    assert done.archived == 1
    assert active() == [CARTS]


def test_agents_take_nothing_back(
    caller: Caller, store: str, now: datetime, roll: Roll, look: Look
) -> None:
    stored(caller, now, REDIS, project=store)
    agent = as_agent(replace(caller, scopes=frozenset({TokenScope.READ, TokenScope.WRITE})))

    for who in (agent, as_role(caller, Role.VIEWER)):
        with pytest.raises(RoleNotSufficient):
            roll(who, person=caller.user_id)
    with pytest.raises(RoleNotSufficient):
        look(agent, person=caller.user_id)

    assert active() == [REDIS]


def test_what_is_personal_of_others_is_neither_counted_nor_touched(
    caller: Caller, member_caller: Caller, store: str, now: datetime, roll: Roll, look: Look
) -> None:
    session = session_of(member_caller, store, now)
    shared = stored(member_caller, now, CARTS, project=store)
    child = stored(member_caller, now, MILL, project=store, scope="personal")
    derived(child, shared, now)

    seen = look(person=member_caller.user_id)
    done = roll(person=member_caller.user_id)

    assert [one.memory_id for one in seen.items] == [shared.id]
    assert (seen.counts.archived, seen.counts.links, seen.counts.conflicts) == (1, 0, 0)
    assert done.archived == 1
    assert look(ancestor=shared.id).items == ()
    assert row_of(child).status == "active"
    for chosen in ({"session": session}, {"ancestor": child.id}):
        with pytest.raises(NotFound):
            roll(**chosen)


def test_choice_of_nothing_of_a_time_turned_round_or_of_another_place_is_refused(
    caller: Caller, other_caller: Caller, store: str, now: datetime, roll: Roll
) -> None:
    elsewhere = stored(caller, now, REDIS)

    for chosen in ({}, {"since": now, "until": now}):
        with pytest.raises(InvalidInput):
            roll(**chosen)
    for hidden in ({"ancestor": elsewhere.id}, {"session": uuid4()}):
        with pytest.raises(NotFound):
            roll(**hidden)
    with pytest.raises(NotFound):
        roll_back(caller=caller, choice=RollbackChoice(project="nowhere", since=now), now=now)

    assert active() == [REDIS]


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
    with tenancy.unit():
        links = MemoryLink.objects.filter(source=before.superseded_by_id, target=row)
        assert [one.kind for one in links] == ["supersedes"]
    again = roll(person=member_caller.user_id)
    assert (again.archived, again.reinstated, again.rewritten) == (1, 1, 1)


@pytest.mark.parametrize("take_back", [undo, undo_call])
def test_a_part_of_a_rollback_is_not_undone_by_itself(
    caller: Caller,
    member_caller: Caller,
    store: str,
    now: datetime,
    roll: Roll,
    take_back: Callable[..., object],
) -> None:
    before = [stored(member_caller, now, text, project=store) for text in (REDIS, CARTS)]
    done = roll(person=member_caller.user_id)
    assert done.review_id is not None

    with pytest.raises(Conflict, match="part of a rollback"):
        take_back(caller=caller, review_id=done.review_id, now=now + 2 * LATER)

    assert active() == []
    assert undo_rollback(caller=caller, review_id=done.review_id, now=now + 2 * LATER) == 2
    assert active() == sorted([REDIS, CARTS])
    for memory in before:
        row = row_of(memory)
        assert (row.archived_reason, row.valid_until) == ("", None)


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
