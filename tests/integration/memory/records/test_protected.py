"""What layers 1 and 2 and protected tags hold, no agent forgets: not even its person's own one."""

from collections.abc import Callable

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.errors import ProtectedMemory
from memory.records.actions import archive, confirm, pin
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from memory.review.actions.verdicts import merge, reject
from tests.support.memories import CARTS, PARSER, REDIS, as_agent
from tests.support.reviewed import World, row_of

TAUGHT = {"type": "decision", "external_id": "adr-1"}
Forgets = Callable[[World, Caller, MemoryView], object]


def _archive(world: World, by: Caller, memory: MemoryView) -> object:
    return archive(caller=by, memory_id=memory.id, reason="", if_version=None, now=world.now)


def _reject(world: World, by: Caller, memory: MemoryView) -> object:
    with tenancy.unit():
        Memory.objects.filter(pk=memory.id).update(needs_review=True)
    return reject(caller=by, memory_id=memory.id, reason="", now=world.now)


FORGET: dict[str, Forgets] = {
    "archive": _archive,
    "change": lambda world, by, memory: world.say(memory, by=by, tags=["old"]),
    "overwrite": lambda world, by, _: world.stored(PARSER, by, **TAUGHT),
    "unpin": lambda world, by, one: pin(caller=by, memory_id=one.id, pinned=False, now=world.now),
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

    confirm(caller=world.owner, memory_id=vouched.id, now=world.now)

    with pytest.raises(ProtectedMemory):
        _archive(world, agent, vouched)


def test_another_agent_is_another_writer(world: World) -> None:
    decision = world.stored(CARTS, as_agent(world.owner), type="decision")

    with pytest.raises(ProtectedMemory):
        _archive(world, as_agent(world.owner, agent="codex"), decision)


def test_an_agent_corrects_for_its_person_and_cannot_let_go_of_the_correction(
    world: World,
) -> None:
    decision, agent = world.stored(CARTS, type="decision"), as_agent(world.owner)
    text = "Carts are merged at sign-in, and emptied at sign-out."

    with pytest.raises(ProtectedMemory):
        world.put_right(decision.id, text, as_agent(world.member))
    made = world.put_right(decision.id, text, agent)

    with pytest.raises(ProtectedMemory):
        archive(caller=agent, memory_id=made, reason="", if_version=None, now=world.now)


def test_agents_merge_nothing_protected_away(world: World) -> None:
    into, taught = world.stored(REDIS, type="fact"), world.stored(CARTS, type="decision")
    with tenancy.unit():
        Memory.objects.filter(pk=taught.id).update(needs_review=True, author_user=None)

    with pytest.raises(ProtectedMemory):
        merge(caller=as_agent(world.owner), memory_id=taught.id, into=into.id, now=world.now)
