"""Confirm, pin, archive, restore: what each changes and refuses; what no agent forgets.

What layers 1 and 2 and protected tags hold, no agent forgets: not even its person's own one.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.errors import Conflict, InvalidInput, NotFound, PreconditionFailed, RoleNotSufficient
from memory.errors import NotActive, ProtectedMemory, SelfApproval
from memory.index.models import MemoryKeyword, MemoryVector
from memory.records import actions
from memory.records.models import Memory, ReviewVerdict
from memory.records.queries.views import MemoryView
from memory.review.actions.verdicts import reject
from tests.support.memories import CARTS, REDIS, as_agent, as_role
from tests.support.reviewed import World, row_of

USUAL: dict[str, dict[str, Any]] = {
    "confirm": {},
    "pin": {"pinned": True},
    "archive": {"reason": "old", "if_version": None},
    "restore": {},
}


@pytest.fixture
def memory(world: World) -> MemoryView:
    return world.stored(REDIS)


def do(
    world: World, verb: str, memory_id: UUID, by: Caller | None = None, **given: Any
) -> MemoryView:
    """Do a verb to a memory."""
    given = {"caller": by or world.owner, "now": world.now, **USUAL[verb], **given}
    return getattr(actions, verb)(memory_id=memory_id, **given)  # type: ignore[no-any-return]


def change(memory: MemoryView, **fields: Any) -> None:
    """Change fields of a row, whatever the rules."""
    with tenancy.unit():
        Memory.objects.filter(pk=memory.id).update(**fields)


def places(memory: MemoryView) -> tuple[bool, bool]:
    """Say whether searches find a memory, by words and by meaning."""
    with tenancy.unit():
        rows = (one.objects.filter(live=True) for one in (MemoryKeyword, MemoryVector))
        words, vectors = (found.filter(memory_id=memory.id).exists() for found in rows)
    return words, vectors


def test_a_person_who_confirms_verifies(world: World, memory: MemoryView) -> None:
    then = world.now + timedelta(days=1)

    after = do(world, "confirm", memory.id, now=then)

    assert (after.confirmations, after.verification, after.user_verified) == (1, "verified", True)
    assert after.last_confirmed_at == then
    assert after.importance == pytest.approx(memory.importance + 0.02)
    change(memory, importance=0.99)
    assert do(world, "confirm", memory.id, now=then + timedelta(hours=2)).importance == 1.0


def test_agents_end_no_wait_nor_verify(world: World, agent: Caller, memory: MemoryView) -> None:
    change(memory, needs_review=True)

    after = do(world, "confirm", memory.id, agent)

    assert (after.confirmations, after.verification) == (1, "unverified")
    assert (after.user_verified, after.needs_review) == (False, True)
    with pytest.raises(ProtectedMemory):  # a person said it
        do(world, "archive", memory.id, agent)


def test_a_pin_lifts_and_lets_go(world: World, memory: MemoryView) -> None:
    pinned = do(world, "pin", memory.id)
    let_go = do(world, "pin", memory.id, pinned=False)

    assert (pinned.pinned, pinned.governance) == (True, 2)
    assert (let_go.pinned, let_go.governance) == (False, 3)


def test_archived_ones_are_as_before_once_restored(world: World, memory: MemoryView) -> None:
    gone = do(world, "archive", memory.id)
    between = places(memory)
    back = do(world, "restore", memory.id)

    assert (gone.status, gone.archived_reason, gone.valid_until) == ("archived", "old", world.now)
    assert (between, places(memory)) == ((False, False), (True, True))
    assert (back.status, back.archived_reason, back.valid_until) == ("active", "", None)


def test_archived_ones_return_where_no_twin_is(world: World, memory: MemoryView) -> None:
    with pytest.raises(NotActive):
        do(world, "restore", memory.id)
    do(world, "archive", memory.id)

    for verb in ("confirm", "pin", "archive"):
        with pytest.raises(NotActive):
            do(world, verb, memory.id)
    world.stored(REDIS)
    with pytest.raises(Conflict):
        do(world, "restore", memory.id)
    assert row_of(memory).status == "archived"


def test_archiving_names_a_version_and_a_reason(world: World, memory: MemoryView) -> None:
    do(world, "confirm", memory.id)

    with pytest.raises(PreconditionFailed):
        do(world, "archive", memory.id, if_version=1)
    with pytest.raises(InvalidInput):
        do(world, "archive", memory.id, reason="password = hunter2Xq9!zLm4")

    assert do(world, "archive", memory.id, if_version=2).status == "archived"


def test_only_stewards_restore_what_others_wrote(world: World, memory: MemoryView) -> None:
    own = world.theirs(CARTS)
    for one in (memory, own):
        do(world, "archive", one.id)

    with pytest.raises(RoleNotSufficient):
        do(world, "restore", memory.id, world.member)

    assert do(world, "restore", own.id, world.member).status == "active"
    steward = as_role(world.member, Role.STEWARD)
    assert do(world, "restore", memory.id, steward).status == "active"


def test_viewers_and_who_does_not_see_it_do_none(world: World, memory: MemoryView) -> None:
    hidden = world.theirs(REDIS, scope="personal", project=None)

    for verb in USUAL:
        with pytest.raises(RoleNotSufficient):
            do(world, verb, memory.id, as_role(world.owner, Role.VIEWER))
        told = set()
        for memory_id in (hidden.id, uuid4()):
            with pytest.raises(NotFound) as refused:
                do(world, verb, memory_id)
            told.add((refused.value.detail, refused.value.hint))
        assert len(told) == 1


def test_confirming_ends_a_wait(world: World, memory: MemoryView) -> None:
    change(memory, stale_at=world.now, author_agent="claude-code")

    after = do(world, "confirm", memory.id)

    with tenancy.unit():
        (verdict,) = ReviewVerdict.objects.filter(memory_id=memory.id)
    assert (after.stale_at, after.verification, verdict.verdict) == (None, "verified", "keep")


def test_teachers_confirm_no_wait_but_say_it_still_holds(world: World, memory: MemoryView) -> None:
    for stale_at in (None, world.now):
        change(memory, needs_review=True, source="user_taught", stale_at=stale_at)
        with pytest.raises(SelfApproval):
            do(world, "confirm", memory.id)
    change(memory, needs_review=False, verification="stale")

    done = actions.change_in_bulk(
        caller=world.owner, verb="confirm", memory_ids=(memory.id,), now=world.now
    )

    row = row_of(memory)
    with tenancy.unit():
        assert not ReviewVerdict.objects.filter(memory_id=memory.id).exists()
    assert (done, row.stale_at, row.verification) == (1, None, "verified")


TAUGHT = {"type": "decision", "external_id": "adr-1"}
Forgets = Callable[[World, Caller, MemoryView], object]


def _archive(world: World, by: Caller, memory: MemoryView) -> object:
    return do(world, "archive", memory.id, by)


def _reject(world: World, by: Caller, memory: MemoryView) -> object:
    change(memory, needs_review=True)
    return reject(caller=by, memory_id=memory.id, reason="", now=world.now)


FORGET: dict[str, Forgets] = {
    "archive": _archive,
    "change": lambda world, by, memory: world.say(memory, by=by, tags=["old"]),
    "unpin": lambda world, by, one: do(world, "pin", one.id, by, pinned=False),
    "reject": _reject,
}


def test_what_is_taught_stays(world: World) -> None:
    taught = world.stored(CARTS, pinned=True, **TAUGHT)

    for forget in FORGET.values():
        with pytest.raises(ProtectedMemory):
            forget(world, as_agent(world.owner), taught)

    kept = row_of(taught)
    assert (kept.status, kept.content, kept.pinned) == ("active", CARTS, True)


@pytest.mark.parametrize("verb", FORGET)
def test_agents_forget_own_ones_that_nobody_vouched_for(world: World, verb: str) -> None:
    agent = as_agent(world.owner)
    FORGET[verb](world, agent, world.stored(CARTS, agent, **TAUGHT))
    vouched = world.stored(REDIS, agent, type="decision", external_id="adr-2")

    with pytest.raises(ProtectedMemory):  # another agent is another writer
        _archive(world, as_agent(world.owner, agent="codex"), vouched)
    do(world, "confirm", vouched.id)

    with pytest.raises(ProtectedMemory):
        _archive(world, agent, vouched)
