"""Confirm, pin, archive, restore: what each changes, and what it refuses."""

from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.errors import Conflict, InvalidInput, NotFound, PreconditionFailed, RoleNotSufficient
from memory.errors import NotActive, ProtectedMemory, SelfApproval
from memory.index.models import MemoryKeyword, MemoryVector
from memory.records.actions import archive, change_in_bulk, confirm, pin, restore
from memory.records.models import Memory, ReviewVerdict
from memory.records.queries import memories as queries
from memory.records.queries.views import MemoryView
from tests.support import memories
from tests.support.memories import CARTS, stored

VERBS = {
    "confirm": lambda caller, memory_id, now: confirm(caller=caller, memory_id=memory_id, now=now),
    "pin": lambda caller, memory_id, now: pin(
        caller=caller, memory_id=memory_id, pinned=True, now=now
    ),
    "archive": lambda caller, memory_id, now: archive(
        caller=caller, memory_id=memory_id, reason="", if_version=None, now=now
    ),
    "restore": lambda caller, memory_id, now: restore(caller=caller, memory_id=memory_id, now=now),
}

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def memory(caller: Caller, store: str, now: datetime) -> MemoryView:
    return stored(caller, now, project=store)


def archived(caller: Caller, memory: MemoryView, now: datetime, **given: object) -> MemoryView:
    wanted = {"reason": "old", "if_version": None, **given}
    return archive(caller=caller, memory_id=memory.id, now=now, **wanted)


def test_a_person_who_confirms_verifies(caller: Caller, memory: MemoryView, now: datetime) -> None:
    after = confirm(caller=caller, memory_id=memory.id, now=now + timedelta(days=1))

    assert (after.confirmations, after.verification, after.user_verified) == (1, "verified", True)
    assert after.last_confirmed_at == now + timedelta(days=1)
    assert after.importance == pytest.approx(memory.importance + 0.02)


def test_agents_verify_nothing(agent: Caller, memory: MemoryView, now: datetime) -> None:
    after = confirm(caller=agent, memory_id=memory.id, now=now)

    assert (after.confirmations, after.verification) == (1, "unverified")
    assert not after.user_verified


def test_importance_never_exceeds_one(caller: Caller, memory: MemoryView, now: datetime) -> None:
    for _ in range(30):
        after = confirm(caller=caller, memory_id=memory.id, now=now)

    assert after.importance == 1.0


def test_a_pin_lifts_and_lets_go(caller: Caller, memory: MemoryView, now: datetime) -> None:
    pinned = pin(caller=caller, memory_id=memory.id, pinned=True, now=now)
    let_go = pin(caller=caller, memory_id=memory.id, pinned=False, now=now)

    assert (pinned.pinned, pinned.governance) == (True, 2)
    assert (let_go.pinned, let_go.governance) == (False, 3)


def test_archived_ones_leave_searches(caller: Caller, memory: MemoryView, now: datetime) -> None:
    after = archived(caller, memory, now)

    assert (after.status, after.archived_reason, after.valid_until) == ("archived", "old", now)
    with tenancy.unit():
        assert not MemoryKeyword.objects.filter(live=True).exists()
        assert not MemoryVector.objects.filter(live=True).exists()


def test_a_restored_memory_is_as_before(caller: Caller, memory: MemoryView, now: datetime) -> None:
    archived(caller, memory, now)

    after = restore(caller=caller, memory_id=memory.id, now=now)

    assert (after.status, after.archived_reason, after.valid_until) == ("active", "", None)
    with tenancy.unit():
        assert MemoryKeyword.objects.filter(live=True, memory_id=memory.id).exists()
        assert MemoryVector.objects.filter(live=True, memory_id=memory.id).exists()


def test_no_twin_is_restored(caller: Caller, memory: MemoryView, store: str, now: datetime) -> None:
    archived(caller, memory, now)
    stored(caller, now, project=store)

    with pytest.raises(Conflict):
        restore(caller=caller, memory_id=memory.id, now=now)

    assert queries.get(caller=caller, memory_id=memory.id, now=now).status == "archived"


@pytest.mark.parametrize("verb", ["confirm", "pin", "archive"])
def test_archived_ones_rest(caller: Caller, memory: MemoryView, now: datetime, verb: str) -> None:
    archived(caller, memory, now)

    with pytest.raises(NotActive):
        VERBS[verb](caller, memory.id, now)


def test_only_archived_ones_return(caller: Caller, memory: MemoryView, now: datetime) -> None:
    with pytest.raises(NotActive):
        restore(caller=caller, memory_id=memory.id, now=now)


def test_archiving_names_a_version(caller: Caller, memory: MemoryView, now: datetime) -> None:
    confirm(caller=caller, memory_id=memory.id, now=now)

    with pytest.raises(PreconditionFailed):
        archived(caller, memory, now, if_version=1)

    assert archived(caller, memory, now, if_version=2).status == "archived"


def test_a_reason_holds_no_secret(caller: Caller, memory: MemoryView, now: datetime) -> None:
    with pytest.raises(InvalidInput):
        archived(caller, memory, now, reason="password = hunter2Xq9!zLm4")


def test_an_agent_forgets_facts_and_no_decisions(
    caller: Caller, agent: Caller, memory: MemoryView, store: str, now: datetime
) -> None:
    decision = stored(caller, now, CARTS, project=store, type="decision")

    assert archived(agent, memory, now).status == "archived"
    with pytest.raises(ProtectedMemory):
        archived(agent, decision, now)


def test_only_stewards_restore_what_others_wrote(
    caller: Caller, member_caller: Caller, memory: MemoryView, store: str, now: datetime
) -> None:
    own = stored(member_caller, now, CARTS, project=store)
    archived(caller, memory, now)
    archived(caller, own, now)

    with pytest.raises(RoleNotSufficient):
        restore(caller=member_caller, memory_id=memory.id, now=now)

    assert restore(caller=member_caller, memory_id=own.id, now=now).status == "active"
    steward = memories.as_role(member_caller, Role.STEWARD)
    assert restore(caller=steward, memory_id=memory.id, now=now).status == "active"


@pytest.mark.parametrize("verb", VERBS)
def test_viewers_do_none(caller: Caller, memory: MemoryView, now: datetime, verb: str) -> None:
    with pytest.raises(RoleNotSufficient):
        VERBS[verb](memories.as_role(caller, Role.VIEWER), memory.id, now)


@pytest.mark.parametrize("verb", VERBS)
def test_what_cannot_be_seen_is_as_if_it_did_not_exist(
    caller: Caller, member_caller: Caller, now: datetime, verb: str
) -> None:
    theirs = stored(member_caller, now, scope="personal")

    told = []
    for memory_id in (theirs.id, uuid4()):
        with pytest.raises(NotFound) as refused:
            VERBS[verb](caller, memory_id, now)
        told.append((refused.value.detail, refused.value.hint))

    assert told[0] == told[1]


def test_confirming_ends_a_wait(caller: Caller, memory: MemoryView, now: datetime) -> None:
    with tenancy.unit():
        Memory.objects.filter(pk=memory.id).update(stale_at=now, author_agent="claude-code")

    after = confirm(caller=caller, memory_id=memory.id, now=now)

    with tenancy.unit():
        (verdict,) = ReviewVerdict.objects.filter(memory_id=memory.id)
    assert (after.stale_at, after.verification, verdict.verdict) == (None, "verified", "keep")


@pytest.mark.parametrize("is_stale", [False, True])
def test_teachers_cannot_confirm_waits(
    caller: Caller, memory: MemoryView, now: datetime, is_stale: bool
) -> None:
    fields = {"needs_review": True, "source": "user_taught", "stale_at": now if is_stale else None}
    with tenancy.unit():
        Memory.objects.filter(pk=memory.id).update(**fields)

    with pytest.raises(SelfApproval):
        confirm(caller=caller, memory_id=memory.id, now=now)


def test_teachers_say_it_still_holds(caller: Caller, memory: MemoryView, now: datetime) -> None:
    with tenancy.unit():
        Memory.objects.filter(pk=memory.id).update(
            stale_at=now, verification="stale", source="user_taught"
        )

    done = change_in_bulk(caller=caller, verb="confirm", memory_ids=(memory.id,), now=now)

    with tenancy.unit():
        row = Memory.objects.get(pk=memory.id)
        assert not ReviewVerdict.objects.filter(memory_id=memory.id).exists()
    assert (done, row.stale_at, row.verification) == (1, None, "verified")


def test_agents_end_no_wait(agent: Caller, memory: MemoryView, now: datetime) -> None:
    with tenancy.unit():
        Memory.objects.filter(pk=memory.id).update(needs_review=True)

    after = confirm(caller=agent, memory_id=memory.id, now=now)

    assert (after.confirmations, after.needs_review) == (1, True)
