"""What a job of a rollback does: within its bounds, told when it is done, and undone."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from uuid import UUID

import pytest

from memory.records.models import Memory
from memory.review.actions import rollback
from tests.support.memories import CARTS, PARSER, REDIS
from tests.support.reviewed import HOUR, MILL, World, row_of
from tests.support.taking_in import active

Before = Callable[[Callable[[], object]], None]


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


def test_what_goes_along_does_not_use_the_bound_up(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rollback, "MOST", 2)
    first = world.put_right(world.stored(REDIS).id, CARTS)
    world.put_right(first, MILL)
    for text in (PARSER, f"{PARSER} Twice, since the parser is slow."):
        world.theirs(text)

    last = run(world)

    assert (last["archived"], last["reinstated"], last["left"]) == (3, 1, 1)
    assert (last["done"], last["total"]) == (3, 4)
    assert last["review_id"] is not None


def test_no_more_is_rewritten_in_a_call_than_is_undone_in_a_request(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rollback, "MOST_REWRITTEN", 1)
    for text in (REDIS, CARTS):
        world.say(world.stored(text), f"{text} Twice.")
    world.theirs(PARSER)

    last = run(world)

    assert (last["archived"], last["rewritten"], last["left"]) == (1, 1, 1)


def test_what_is_gone_by_the_time_is_left_and_the_rest_is_told(
    world: World, just_before: Before
) -> None:
    gone, other, kept = world.stored(REDIS), world.stored(CARTS), world.theirs(PARSER)
    world.stand_for(kept)
    world.say(gone, MILL)
    world.say(other, f"{CARTS} Twice.")
    just_before(lambda: Memory.objects.filter(pk=gone.id).delete())

    last = run(world)

    assert (last["rewritten"], last["left"]) == (1, 1)
    assert active() == sorted([CARTS, PARSER])


@pytest.mark.parametrize("meanwhile", ["personal", "kept", "rewritten"])
def test_what_somebody_keeps_while_it_is_locked_stays(
    world: World, meanwhile: str, just_before: Before
) -> None:
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
