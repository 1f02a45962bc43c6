"""What a writer, a session, a time or an ancestor produced is taken back, and can be undone."""

from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

import pytest

from accounts import tenancy
from accounts.caller import Role, TokenScope
from accounts.errors import Conflict, InvalidInput, NotFound, RoleNotSufficient
from memory.records.actions import confirm
from memory.records.models import Memory, MemoryLink
from memory.review.actions.rollback import roll_back
from memory.review.actions.verdict_undo import undo, undo_call
from memory.review.queries import inbox
from memory.review.queries.rollback_plan import LeftReason, RollbackChoice, RollbackFate
from teams.models import Change
from tests.support.memories import CARTS, PARSER, REDIS, as_agent, as_role, stored
from tests.support.reviewed import HOUR, MILL, World, fates, row_of
from tests.support.taking_in import active


def test_session_is_taken_back_and_nothing_else(world: World) -> None:
    agent = as_agent(world.member)
    session = world.session_of(agent)
    world.stored(REDIS, agent, session_id=session)
    world.stored(CARTS, agent)

    seen = world.look(world.member, session=session)
    done = world.roll(world.member, session=session)

    assert (seen.counts.archived, [one.fate for one in seen.items]) == (1, [RollbackFate.ARCHIVED])
    assert (done.archived, done.left, done.job_id) == (1, 0, None)
    assert active() == [CARTS]


def test_nothing_is_undone_where_something_has_changed_since(world: World) -> None:
    old = world.stored(REDIS)
    world.put_right(old.id, CARTS)
    done = world.roll()
    confirm(caller=world.owner, memory_id=old.id, now=world.now + HOUR)

    with pytest.raises(Conflict):
        world.undo(done)

    assert active() == [REDIS]


def test_what_was_replaced_stands_again(world: World) -> None:
    old = world.stored(REDIS, external_id="redis")
    first = world.put_right(old.id, CARTS)
    world.put_right(first, MILL)  # which replaced the first

    seen = world.look()
    done = world.roll()

    assert (seen.counts.archived, done.archived, done.reinstated) == (2, 2, 1)
    assert active() == [REDIS]
    row = row_of(old)
    assert (row.confidence, row.superseded_by_id, row.valid_until) == (0.8, None, None)
    with tenancy.unit():
        assert not MemoryLink.objects.filter(target=row).exists()


def test_what_somebody_else_has_changed_or_kept_since_is_left(world: World) -> None:
    rewritten, kept = (world.theirs(one) for one in (REDIS, CARTS))
    ours = world.stored(PARSER)
    world.say(rewritten, MILL, world.steward)
    world.say(ours, f"{PARSER} Twice.")
    world.say(ours, f"{PARSER} Thrice.", world.steward)
    world.stand_for(kept)

    seen = world.look()
    done = world.roll()

    left = RollbackFate.LEFT
    assert fates(seen) == {
        rewritten.id: (left, LeftReason.CHANGED),
        kept.id: (left, LeftReason.KEPT),
        ours.id: (left, LeftReason.CHANGED),
    }
    assert (seen.counts.left, seen.counts.archived) == (3, 0)
    assert (done.archived, done.rewritten, done.left) == (0, 0, 3)


def test_what_another_memory_says_by_now_stays_replaced(world: World) -> None:
    old = world.stored(REDIS)
    world.put_right(old.id, CARTS)
    world.stored(REDIS)

    done = world.roll()

    assert (done.archived, done.reinstated, done.left) == (1, 0, 1)
    assert row_of(old).status == "superseded"


def test_what_derives_from_a_memory_goes_and_it_stays(world: World) -> None:
    root, child, grandchild, other = (world.stored(one) for one in (REDIS, CARTS, PARSER, MILL))
    with tenancy.unit():
        for source, target, kind in (
            (child, root, "derive"), (grandchild, child, "derive"), (root, grandchild, "derive"),
            (other, root, "extend"),
        ):  # fmt: skip
            MemoryLink.objects.create(source_id=source.id, target_id=target.id, kind=kind)

    seen = world.look(ancestor=root.id)
    done = world.roll(ancestor=root.id)

    assert {one.memory_id for one in seen.items} == {child.id, grandchild.id}
    assert done.archived == 2
    assert active() == sorted([REDIS, MILL])


def test_a_time_takes_back_what_anybody_wrote_then(world: World) -> None:
    early, then = world.stored(REDIS), world.now + HOUR / 2
    world.theirs(CARTS, at=then)
    world.stored(PARSER, at=then)
    world.say(early, MILL, after=HOUR / 2)

    done = world.roll(since=then, until=then + HOUR / 4)

    assert (done.archived, done.rewritten) == (2, 1)
    assert active() == [REDIS]


def test_a_token_takes_back_what_was_written_with_it(world: World) -> None:
    agent, another = as_agent(world.member), as_agent(world.member)
    world.stored(REDIS, agent)
    world.stored(CARTS, another)
    world.stored(PARSER, session_id=world.session_of(agent))

    done = world.roll(token=agent.token_id)

    assert done.archived == 2
    assert active() == [CARTS]


def test_members_take_back_their_own_and_nobody_elses(world: World) -> None:
    mine = world.session_of(world.member, shared=True)
    others = world.session_of(world.owner, shared=True)
    world.theirs(REDIS, session_id=mine)
    world.stored(CARTS, session_id=mine)

    for chosen in ({"person": world.owner.user_id}, {"session": others}, {"since": world.now}):
        for refused in (world.roll, world.look):
            with pytest.raises(RoleNotSufficient):
                refused(world.member, **chosen)
    done = world.roll(world.member, session=mine)

    assert done.archived == 1
    assert active() == [CARTS]


def test_agents_take_nothing_back(world: World) -> None:
    world.stored(REDIS)
    agent = as_agent(replace(world.owner, scopes=frozenset({TokenScope.READ, TokenScope.WRITE})))

    for who in (agent, as_role(world.owner, Role.VIEWER)):
        with pytest.raises(RoleNotSufficient):
            world.roll(who, person=world.owner.user_id)
    with pytest.raises(RoleNotSufficient):
        world.look(agent, person=world.owner.user_id)

    assert active() == [REDIS]


def test_what_is_personal_of_others_is_neither_counted_nor_touched(world: World) -> None:
    session = world.session_of(world.member)
    shared = world.theirs(CARTS)
    child = world.theirs(MILL, scope="personal")
    world.conflict_of(shared, child, audience=world.member.user_id)
    with tenancy.unit():
        MemoryLink.objects.create(source_id=child.id, target_id=shared.id, kind="derive")

    seen = world.look()
    done = world.roll()

    assert [one.memory_id for one in seen.items] == [shared.id]
    assert (seen.counts.archived, seen.counts.links, seen.counts.conflicts) == (1, 0, 0)
    assert done.archived == 1
    assert world.look(ancestor=shared.id).items == ()
    assert row_of(child).status == "active"
    for chosen in ({"session": session}, {"ancestor": child.id}):
        with pytest.raises(NotFound):
            world.roll(**chosen)


def test_choice_of_nothing_of_a_time_turned_round_or_of_another_place_is_refused(
    world: World,
) -> None:
    elsewhere, now = stored(world.owner, world.now, REDIS), world.now

    with pytest.raises(InvalidInput):
        roll_back(caller=world.owner, choice=RollbackChoice(project=world.store), now=now)
    with pytest.raises(InvalidInput):
        world.roll(since=now, until=now)
    for hidden in ({"ancestor": elsewhere.id}, {"session": uuid4()}):
        with pytest.raises(NotFound):
            world.roll(**hidden)
    with pytest.raises(NotFound):
        roll_back(caller=world.owner, choice=RollbackChoice(project="nowhere", since=now), now=now)

    assert active() == [REDIS]


def test_what_stands_again_and_says_again_what_it_said_is_undone_too(world: World) -> None:
    old = world.stored(REDIS)
    world.say(old, CARTS)
    new = world.put_right(old.id, PARSER)
    before = row_of(old)
    done = world.roll()
    assert (done.archived, done.reinstated, done.rewritten, active()) == (1, 1, 1, [REDIS])
    with tenancy.unit():
        last = Change.objects.order_by("-id").values_list("id", flat=True)[0]

    assert (world.undo(done), active()) == (2, [PARSER])

    row = row_of(old)
    assert (row.content, row.status, row.superseded_by_id, row.confidence, row.updated_at) == (
        CARTS, "superseded", before.superseded_by_id, before.confidence, before.updated_at,
    )  # fmt: skip
    with tenancy.unit():
        assert [one.content for one in row.versions.all()] == [REDIS]
        links = MemoryLink.objects.filter(source=before.superseded_by_id, target=row)
        assert [one.kind for one in links] == ["supersedes"]
        told = set(Change.objects.filter(id__gt=last).values_list("object_id", "kind"))
    assert told >= {(old.id, "memory.superseded"), (new, "memory.restored")}
    again = world.roll(after=4 * HOUR)
    assert (again.archived, again.reinstated, again.rewritten) == (1, 1, 1)


@pytest.mark.parametrize("take_back", [undo, undo_call])
def test_a_part_of_a_rollback_is_not_undone_by_itself_nor_decided_by_the_inbox(
    world: World, take_back: Callable[..., object]
) -> None:
    before = [world.theirs(text) for text in (REDIS, CARTS)]
    done, then = world.roll(), world.now + 2 * HOUR

    with pytest.raises(Conflict, match="part of a rollback"):
        take_back(caller=world.owner, review_id=done.review_id, now=then)

    week = inbox.count_decided(caller=world.owner, project=world.store, now=then)
    assert (active(), week["total"], week["by_verdict"]) == ([], 0, {})
    assert world.undo(done) == 2
    assert active() == sorted([REDIS, CARTS])
    for memory in before:
        row = row_of(memory)
        assert (row.archived_reason, row.valid_until) == ("", None)


def test_a_token_of_the_scope_admin_does_no_less_than_was_shown(world: World) -> None:
    rule, writer = world.stored(REDIS, type="identity"), world.another(Role.OWNER)
    vouched = {"user_verified": True, "verification": "verified", "verified_at": world.now}
    with tenancy.unit():
        Memory.objects.filter(pk=rule.id).update(**vouched)
    world.say(rule, CARTS, writer)
    admin = replace(as_agent(world.owner), user_id=uuid4(), scopes=frozenset(TokenScope))

    done = world.roll(admin, person=writer.user_id)
    row = row_of(rule)
    world.undo(done, admin)
    again = row_of(rule)

    assert (done.rewritten, done.left) == (1, 0)
    assert (row.content, row.governance, row.user_verified) == (REDIS, again.governance, True)
    assert (again.content, again.verification, again.verified_at) == (CARTS, "verified", world.now)
