"""What a writer, a session, a time or an ancestor produced is taken back, and can be undone."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import tenancy
from accounts.caller import Role, TokenScope
from accounts.errors import CairnError, Conflict, InvalidInput, NotFound, RoleNotSufficient
from memory.records.actions import confirm
from memory.records.models import Conflict as ConflictRow
from memory.records.models import Memory, MemoryLink
from memory.review.actions import rollback
from memory.review.actions.verdicts import undo, undo_call
from memory.review.queries import inbox, rollback_plan
from memory.review.queries.conflicts import ConflictVerdict
from memory.review.queries.rollback_plan import LeftReason, RollbackFate
from teams.models import Change
from tests.support.memories import CARTS, PARSER, REDIS, as_agent, as_role, stored
from tests.support.reviewed import HOUR, MILL, World, fates, row_of
from tests.support.taking_in import active

MINUTE = timedelta(minutes=1)
TEXTS = (
    REDIS, CARTS, PARSER, MILL, "Invoices are numbered by the ledger alone, never by the shop.",
    "The night train to the harbor is driven without a conductor.",
    "Maps are printed in two colors since the third press was sold.",
    "Bees are counted by weight, twice a year, in the old greenhouse.",
)  # fmt: skip
Before = Callable[[Callable[[], object]], None]


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


@pytest.mark.parametrize("is_replaced", [True, False])
def test_what_another_memory_says_by_now_stays_as_it_is(world: World, is_replaced: bool) -> None:
    old = world.stored(REDIS)
    if is_replaced:
        world.put_right(old.id, CARTS)
    else:
        world.say(old, CARTS)
    world.stored(REDIS)

    seen = world.look()
    done = world.roll()

    twin = (RollbackFate.LEFT, LeftReason.TWIN)
    assert (fates(seen).get(old.id) == twin) is not is_replaced
    assert (done.archived, done.reinstated, done.rewritten) == (int(is_replaced), 0, 0)
    assert seen.counts.left == done.left == 1
    assert row_of(old).status == ("superseded" if is_replaced else "active")


def test_texts_that_went_from_one_memory_to_the_next_go_back(world: World) -> None:
    ours = sorted((world.stored(text) for text in TEXTS[:5]), key=lambda one: one.id)
    free = TEXTS[5]
    for one in reversed(ours):
        world.say(one, free)
        free = one.content

    seen = world.look()
    done = world.roll()

    assert (seen.counts.rewritten, done.rewritten, done.left) == (5, 5, 0)
    assert [row_of(one).content for one in ours] == [one.content for one in ours]


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


def test_a_session_and_a_token_take_back_what_was_written_with_them(world: World) -> None:
    agent, another = as_agent(world.member), as_agent(world.member)
    session = world.session_of(agent)
    world.stored(REDIS, agent, session_id=session)
    world.stored(CARTS, another)
    world.stored(PARSER, agent)
    world.stored(MILL, session_id=session)

    seen = world.look(world.member, session=session)
    first = world.roll(world.member, session=session)
    second = world.roll(token=agent.token_id)

    assert [one.fate for one in seen.items] == [RollbackFate.ARCHIVED]
    assert (first.archived, first.left, first.job_id, second.archived) == (1, 0, None, 2)
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


def test_agents_and_viewers_take_nothing_back(world: World) -> None:
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


def test_choice_of_nothing_or_of_another_place_is_refused(world: World) -> None:
    elsewhere, now = stored(world.owner, world.now, REDIS), world.now

    for nothing in ({"token": None}, {"since": now, "until": now}):
        with pytest.raises(InvalidInput):
            world.roll(**nothing)
    for hidden in ({"ancestor": elsewhere.id}, {"session": uuid4()}):
        with pytest.raises(NotFound):
            world.roll(**hidden)
    with pytest.raises(NotFound):
        replace(world, store="nowhere").roll(since=now)

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


def test_a_part_of_a_rollback_is_not_undone_or_decided_by_itself(world: World) -> None:
    before = [world.theirs(text) for text in (REDIS, CARTS)]
    done, then = world.roll(), world.now + 2 * HOUR
    assert done.review_id is not None

    for take_back in (undo, undo_call):
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


def test_what_was_changed_again_after_a_rollback_goes_back_again(world: World) -> None:
    memory = world.stored(REDIS)
    world.say(memory, CARTS, after=HOUR)
    world.say(memory, PARSER, after=2 * HOUR)
    texts = []
    for hours in (2, 1):  # a longer time takes back what a shorter one has left
        world.roll(after=3 * HOUR, since=world.now + hours * HOUR)
        texts.append(row_of(memory).content)
    world.say(memory, PARSER, world.member, 4 * HOUR, reason=rollback.REASON)

    again = world.roll(after=5 * HOUR)

    assert texts == [CARTS, REDIS]
    assert (again.rewritten, row_of(memory).content) == (1, REDIS)


def test_pin_external_id_and_what_was_verified_are_taken_back(world: World) -> None:
    memory = world.stored(REDIS, external_id="redis")
    confirm(caller=world.owner, memory_id=memory.id, now=world.now)
    before = row_of(memory)
    world.say(memory, CARTS, world.member, pinned=True, external_id="carts")
    with tenancy.unit():  # as an agent could once leave it
        unvouched = {"user_verified": False, "verification": "unverified", "verified_at": None}
        Memory.objects.filter(pk=memory.id).update(**unvouched)
    between = row_of(memory)

    done = world.roll()

    after = row_of(memory)
    names = ("content", "pinned", "external_id", "user_verified", "verification", "verified_at")
    assert not [name for name in names if getattr(before, name) == getattr(between, name)]
    assert done.rewritten == 1
    assert [getattr(after, name) for name in names] == [getattr(before, name) for name in names]


def test_words_that_stay_keep_their_confirmation(world: World) -> None:
    pinned, same = world.stored(REDIS), world.stored(CARTS)
    world.say(pinned, pinned=True)
    confirm(caller=world.owner, memory_id=pinned.id, now=world.now)
    for value in (True, False):
        world.say(same, pinned=value)

    seen = world.look()
    done = world.roll()

    assert fates(seen)[same.id] == (RollbackFate.LEFT, LeftReason.SAME)
    assert (seen.counts.left, done.rewritten, done.left) == (1, 1, 1)
    row = row_of(pinned)
    assert (row.pinned, row.user_verified) == (False, True)


def test_a_preview_of_many_asks_no_more(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
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
    monkeypatch.setattr(rollback_plan, "COUNTED", 2)
    bounded = world.look()

    assert (first.counts.rewritten, then.counts.rewritten) == (1, 3)
    assert len(many) == len(few)
    assert (bounded.counts.rewritten, len(bounded.items)) == (2, 3)


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
        return one.id != two.id and not ConflictRow.objects.filter(older=one, newer=two).exists()


def any_of(chance: Random) -> Any:
    with tenancy.unit():
        return chance.choice(tuple(Memory.objects.order_by("created_at", "content", "id")))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("by", ["person", "time"])
def test_a_preview_has_the_numbers_of_the_receipt(world: World, seed: int, by: str) -> None:
    world.stored(TEXTS[0])
    live(world, Random(seed), deeds=24)
    chosen = {} if by == "person" else {"since": world.now + 8 * MINUTE}

    seen = world.look(after=24 * HOUR, **chosen)
    done = world.roll(after=24 * HOUR, **chosen)

    counts = rollback.COUNTS
    assert [getattr(done, one) for one in counts] == [getattr(seen.counts, one) for one in counts]
    again: list[UUID] = [id for one in seen.items for id in one.stands_again]
    assert len(again) == done.reinstated
    archived = sum(one.fate is RollbackFate.ARCHIVED for one in seen.items)
    assert archived <= done.archived


def run(world: World) -> Mapping[str, Any]:
    """Take back what the member did as a job does; return what was told."""
    told: list[Mapping[str, Any]] = []

    def tell(done: int, total: int, so_far: Mapping[str, Any]) -> None:
        told.append({**so_far, "done": done, "total": total})

    then = world.now + HOUR
    rollback.run(caller=world.owner, choice=world.choice(), asked_at=then, tell=tell)
    return told[-1]


@pytest.fixture
def just_before(monkeypatch: pytest.MonkeyPatch) -> Before:
    """Let something happen once, just before memories are locked."""
    take = rollback.lock_memories

    def happens(deed: Callable[[], object]) -> None:
        waiting = [deed]

        def lock(*, ids: Iterable[UUID]) -> dict[UUID, Memory]:
            while waiting:
                waiting.pop()()
            return take(ids=ids)

        monkeypatch.setattr(rollback, "lock_memories", lock)

    return happens


def test_what_goes_along_uses_up_no_bound(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollback, "MOST", 2)
    first = world.put_right(world.stored(REDIS).id, CARTS)
    world.put_right(first, MILL)
    for text in (PARSER, f"{PARSER} Twice, since the parser is slow."):
        world.theirs(text)

    last = run(world)

    assert (last["archived"], last["reinstated"], last["left"]) == (3, 1, 1)
    assert (last["done"], last["total"]) == (3, 4)
    assert last["review_id"] is not None


def test_no_more_is_rewritten_than_is_undone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollback, "MOST_REWRITTEN", 1)
    for text in (REDIS, CARTS):
        world.say(world.stored(text), f"{text} Twice.")
    world.theirs(PARSER)

    last = run(world)

    assert (last["archived"], last["rewritten"], last["left"]) == (1, 1, 1)


def test_what_is_gone_is_left_and_the_rest_told(world: World, just_before: Before) -> None:
    gone, other, kept = world.stored(REDIS), world.stored(CARTS), world.theirs(PARSER)
    world.stand_for(kept)
    world.say(gone, MILL)
    world.say(other, f"{CARTS} Twice.")
    just_before(lambda: Memory.objects.filter(pk=gone.id).delete())

    last = run(world)

    assert (last["rewritten"], last["left"]) == (1, 1)
    assert active() == sorted([CARTS, PARSER])


@pytest.mark.parametrize("meanwhile", ["personal", "kept", "rewritten"])
def test_what_is_kept_meanwhile_stays(world: World, meanwhile: str, just_before: Before) -> None:
    one, other = world.theirs(REDIS), world.theirs(CARTS)
    deeds: dict[str, Callable[[], object]] = {
        "personal": lambda: world.say(one, scope="personal"),
        "kept": lambda: world.stand_for(one),
        "rewritten": lambda: world.say(one, MILL, world.steward),
    }
    just_before(deeds[meanwhile])

    done = world.roll()

    assert done.archived == 1
    assert [row_of(memory).status for memory in (one, other)] == ["active", "archived"]
