"""What a job of a rollback does: within its bound, told after every part, and undone."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role
from memory.actions import roll_back, rolling_back
from memory.actions.undo_rollback import undo_rollback
from memory.models import Memory
from memory.queries.rollback_choices import Choice
from tests.integration.memory.test_roll_back import LATER, MILL, put_right, say, stand_for
from tests.support.memories import CARTS, PARSER, REDIS, stored
from tests.support.taking_in import active

pytestmark = pytest.mark.usefixtures("in_organization")


def run(caller: Caller, store: str, now: datetime, **chosen: Any) -> list[Mapping[str, Any]]:
    """Do a rollback as its job does; return what was told after each part."""
    told: list[Mapping[str, Any]] = []
    roll_back.run(
        caller=caller,
        choice=Choice(project=store, **chosen),
        asked_at=now + LATER,
        tell=lambda done, total, so_far: told.append({**so_far, "done": done, "total": total}),
    )
    return told


def test_what_goes_along_does_not_use_the_bound_up(
    caller: Caller,
    member_caller: Caller,
    store: str,
    now: datetime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(roll_back, "MOST", 2)
    monkeypatch.setattr(rolling_back, "AT_ONCE", 1)
    old = stored(caller, now, REDIS, project=store)
    first = put_right(member_caller, old.id, CARTS, now)
    put_right(member_caller, first, MILL, now)
    for text in (PARSER, f"{PARSER} Twice, since the parser is slow."):
        stored(member_caller, now, text, project=store)

    told = run(caller, store, now, person=member_caller.user_id)

    last = told[-1]
    assert (last["archived"], last["reinstated"], last["left"]) == (3, 1, 1)
    assert (last["done"], last["total"]) == (2, 3)
    assert last["review_id"] is not None


def test_what_is_gone_by_the_time_is_left_and_the_rest_is_told(
    caller: Caller,
    member_caller: Caller,
    store: str,
    now: datetime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rolling_back, "AT_ONCE", 1)
    steward = replace(caller, user_id=uuid4(), role=Role.STEWARD)
    gone, other = (stored(caller, now, text, project=store) for text in (REDIS, CARTS))
    kept = stored(member_caller, now, PARSER, project=store)
    stand_for(steward, kept, now)
    say(member_caller, gone, MILL, now)
    say(member_caller, other, f"{CARTS} Twice.", now)
    take = rolling_back.lock

    def lost(*, ids: Iterable[UUID]) -> dict[UUID, Memory]:
        if gone.id in set(ids):  # just before it is locked
            Memory.objects.filter(pk=gone.id).delete()
        return take(ids=ids)

    monkeypatch.setattr(rolling_back, "lock", lost)
    told = run(caller, store, now, person=member_caller.user_id)

    assert [(one["rewritten"], one["left"]) for one in told][-1] == (1, 1)
    assert active() == sorted([CARTS, PARSER])


@pytest.mark.parametrize("meanwhile", ["personal", "kept", "rewritten"])
def test_what_somebody_keeps_while_it_is_locked_stays(
    caller: Caller,
    member_caller: Caller,
    store: str,
    now: datetime,
    monkeypatch: pytest.MonkeyPatch,
    meanwhile: str,
) -> None:
    steward = replace(caller, user_id=uuid4(), role=Role.STEWARD)
    one, other = (stored(member_caller, now, text, project=store) for text in (REDIS, CARTS))
    deeds = {
        "personal": lambda: say(member_caller, one, REDIS, now, scope="personal"),
        "kept": lambda: stand_for(steward, one, now),
        "rewritten": lambda: say(steward, one, MILL, now),
    }
    take = rolling_back.lock

    def waited(*, ids: Iterable[UUID]) -> dict[UUID, Memory]:
        deeds.pop(meanwhile, lambda: None)()
        return take(ids=ids)

    monkeypatch.setattr(rolling_back, "lock", waited)
    choice = Choice(project=store, person=member_caller.user_id)
    done = roll_back.roll_back(caller=caller, choice=choice, now=now + LATER)

    assert (done.archived, len(active())) == (1, 1)
    with tenancy.unit():
        assert Memory.objects.get(pk=one.id).status == "active"
        assert Memory.objects.get(pk=other.id).status == "archived"


class Died(Exception):
    """A worker that goes away after its first part."""


def test_what_a_job_that_failed_has_done_is_undone_and_done_again(
    caller: Caller,
    member_caller: Caller,
    store: str,
    now: datetime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rolling_back, "AT_ONCE", 1)
    for text in (REDIS, CARTS):
        stored(member_caller, now, text, project=store)
    told: list[Mapping[str, Any]] = []

    def die(done: int, total: int, so_far: Mapping[str, Any]) -> None:
        told.append({**so_far, "done": done, "total": total})
        raise Died

    with pytest.raises(Died):
        roll_back.run(
            caller=caller,
            choice=Choice(project=store, person=member_caller.user_id),
            asked_at=now + LATER,
            tell=die,
        )
    undone = undo_rollback(caller=caller, review_id=UUID(told[0]["review_id"]), now=now + 2 * LATER)
    assert (undone, active()) == (1, sorted([REDIS, CARTS]))

    again = run(caller, store, now, person=member_caller.user_id)

    assert (again[-1]["archived"], active()) == (2, [])
    assert again[-1]["review_id"] != told[0]["review_id"]
