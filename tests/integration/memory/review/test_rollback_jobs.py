"""What a job of a rollback does: within its bounds, told when it is done, and undone."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from accounts.caller import Caller
from memory.records.models import Memory
from memory.review.rollback import execute
from memory.review.rollback.selection import RollbackChoice
from memory.review.rollback.undo import undo_rollback
from tests.support.memories import CARTS, PARSER, REDIS, stored
from tests.support.rollbacks import LATER, MILL, put_right, row_of, say, stand_for
from tests.support.taking_in import active

pytestmark = pytest.mark.usefixtures("in_organization")

Told = list[Mapping[str, Any]]
Run = Callable[..., Told]
Before = Callable[[Callable[[], object]], None]


class Died(Exception):
    """A worker that goes away before its job is noted as done."""


@pytest.fixture
def run(
    caller: Caller,
    member_caller: Caller,
    store: str,
    now: datetime,
) -> Run:
    """Take back what the member did as a job does; return what was told."""
    choice = RollbackChoice(project=store, person=member_caller.user_id)

    def done(told: Told, *, dies: bool = False) -> Told:
        def tell(done: int, total: int, so_far: Mapping[str, Any]) -> None:
            told.append({**so_far, "done": done, "total": total})
            if dies:
                raise Died

        execute.run(caller=caller, choice=choice, asked_at=now + LATER, tell=tell)
        return told

    return done


@pytest.fixture
def just_before(monkeypatch: pytest.MonkeyPatch) -> Before:
    """Let something happen once, just before memories are locked."""
    take = execute.lock_memories

    def happens(deed: Callable[[], object]) -> None:
        waiting = [deed]

        def lock(*, ids: Iterable[UUID]) -> dict[UUID, Memory]:
            while waiting:
                waiting.pop()()
            return take(ids=ids)

        monkeypatch.setattr(execute, "lock_memories", lock)

    return happens


def test_what_goes_along_does_not_use_the_bound_up(
    caller: Caller, member_caller: Caller, store: str, now: datetime, run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(execute, "MOST", 2)
    old = stored(caller, now, REDIS, project=store)
    first = put_right(member_caller, old.id, CARTS, now)
    put_right(member_caller, first, MILL, now)
    for text in (PARSER, f"{PARSER} Twice, since the parser is slow."):
        stored(member_caller, now, text, project=store)

    last = run([])[-1]

    assert (last["archived"], last["reinstated"], last["left"]) == (3, 1, 1)
    assert (last["done"], last["total"]) == (3, 4)
    assert last["review_id"] is not None


def test_no_more_is_rewritten_in_a_call_than_is_undone_in_a_request(
    caller: Caller, member_caller: Caller, store: str, now: datetime, run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(execute, "MOST_REWRITTEN", 1)
    for text in (REDIS, CARTS):
        memory = stored(caller, now, text, project=store)
        say(member_caller, memory, f"{text} Twice.", now)
    stored(member_caller, now, PARSER, project=store)

    last = run([])[-1]

    assert (last["archived"], last["rewritten"], last["left"]) == (1, 1, 1)


def test_what_is_gone_by_the_time_is_left_and_the_rest_is_told(
    caller: Caller, member_caller: Caller, steward: Caller, store: str, now: datetime, run: Run,
    just_before: Before,
) -> None:  # fmt: skip
    gone, other = (stored(caller, now, text, project=store) for text in (REDIS, CARTS))
    kept = stored(member_caller, now, PARSER, project=store)
    stand_for(steward, kept, now)
    say(member_caller, gone, MILL, now)
    say(member_caller, other, f"{CARTS} Twice.", now)
    just_before(lambda: Memory.objects.filter(pk=gone.id).delete())

    last = run([])[-1]

    assert (last["rewritten"], last["left"]) == (1, 1)
    assert active() == sorted([CARTS, PARSER])


@pytest.mark.parametrize("meanwhile", ["personal", "kept", "rewritten"])
def test_what_somebody_keeps_while_it_is_locked_stays(
    member_caller: Caller, steward: Caller, store: str, now: datetime, meanwhile: str,
    just_before: Before, roll: Callable[..., execute.RolledBack],
) -> None:  # fmt: skip
    one, other = (stored(member_caller, now, text, project=store) for text in (REDIS, CARTS))
    deeds: dict[str, Callable[[], object]] = {
        "personal": lambda: say(member_caller, one, REDIS, now, scope="personal"),
        "kept": lambda: stand_for(steward, one, now),
        "rewritten": lambda: say(steward, one, MILL, now),
    }
    just_before(deeds[meanwhile])

    done = roll(person=member_caller.user_id)

    assert done.archived == 1
    assert [row_of(memory).status for memory in (one, other)] == ["active", "archived"]


def test_what_a_job_that_failed_has_done_is_undone_and_done_again(
    caller: Caller, member_caller: Caller, store: str, now: datetime, run: Run
) -> None:
    for text in (REDIS, CARTS):
        stored(member_caller, now, text, project=store)
    told: Told = []
    with pytest.raises(Died):
        run(told, dies=True)

    first = UUID(told[0]["review_id"])
    undone = undo_rollback(caller=caller, review_id=first, now=now + 2 * LATER)
    assert (undone, active()) == (2, sorted([REDIS, CARTS]))
    last = run([])[-1]

    assert (last["archived"], active()) == (2, [])
    assert last["review_id"] != str(first)
