"""Who settles a conflict, what follows, and that it can be taken back."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role, TokenScope
from accounts.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    NotFound,
    PreconditionFailed,
    RoleNotSufficient,
)
from memory.errors import NotActive, RefusedByGate, SelfApproval
from memory.intake.actions.revise import revise
from memory.records.actions import archive
from memory.records.models import Memory, MemoryLink
from memory.review.actions.settlements import Settlement, reopen, settle
from memory.review.conflict_rules import Bar, ConflictVerdict
from memory.review.queries import conflicts
from memory.review.queries.conflicts import ConflictState, ConflictView
from teams.models import AuditEntry
from tests.support.memories import as_agent, as_role, sent

OLD = "The checkout worker in `shop/checkout.py` retries a payment 3 times before it gives up."
NEW = "The checkout worker in `shop/checkout.py` retries a payment 5 times before it gives up."
RIGHT = "The checkout worker in `shop/checkout.py` retries a payment 4 times before it gives up."
LATER = timedelta(hours=1)
WHY = "It was raised last week."

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def steward(caller: Caller) -> Caller:
    """A steward who wrote neither."""
    return replace(caller, user_id=UUID(int=9), role=Role.STEWARD)


@pytest.fixture
def found(caller: Caller, member_caller: Caller, store: str, now: datetime) -> ConflictView:
    """A conflict of the owner's and the member's memories."""
    return _conflict(caller, member_caller, store, now)


def _conflict(first: Caller, second: Caller, store: str, now: datetime) -> ConflictView:
    sent(as_agent(first), now, OLD, project=store, source="agent_explicit")
    outcome = sent(as_agent(second), now, NEW, project=store, source="agent_explicit")
    assert outcome.conflict_id is not None
    return conflicts.get_conflict(caller=first, conflict_id=outcome.conflict_id, now=now)


def _settled(
    caller: Caller, one: ConflictView, now: datetime, verdict: ConflictVerdict
) -> ConflictView:
    content = RIGHT if verdict is ConflictVerdict.EDIT else ""
    settlement = Settlement(verdict=verdict, reason=WHY, content=content, if_version=one.version)
    return settle(caller=caller, conflict_id=one.id, settlement=settlement, now=now + LATER)


def _states(one: ConflictView) -> tuple[str, str]:
    with tenancy.unit():
        rows = {row.id: row.status for row in Memory.objects.all()}
    return rows[one.older.id], rows[one.newer.id]


def _row(memory_id: UUID) -> Memory:
    with tenancy.unit():
        return Memory.objects.get(pk=memory_id)


@pytest.mark.parametrize(
    ("verdict", "states"),
    [
        (ConflictVerdict.KEEP_OLDER, ("active", "superseded")),
        (ConflictVerdict.KEEP_NEWER, ("superseded", "active")),
        (ConflictVerdict.BOTH, ("active", "active")),
        (ConflictVerdict.EDIT, ("superseded", "superseded")),
    ],
)
def test_a_verdict_is_carried_out_and_can_be_taken_back(
    steward: Caller,
    found: ConflictView,
    now: datetime,
    verdict: ConflictVerdict,
    states: tuple[str, str],
) -> None:
    ended = _settled(steward, found, now, verdict)

    assert (ended.verdict, ended.reason, ended.settled_by) == (verdict, WHY, steward.user_id)
    assert _states(found) == states
    again = reopen(caller=steward, conflict_id=found.id, if_version=ended.version, now=now + LATER)
    assert (again.verdict, again.settled_at) == ("", None)
    assert _states(found) == ("active", "active")
    assert _row(found.older.id).confidence == found.older.confidence
    assert _links(found) == 1


def _links(one: ConflictView) -> int:
    ids = (one.older.id, one.newer.id)
    with tenancy.unit():
        return MemoryLink.objects.filter(source__in=ids, target__in=ids).count()


def test_edges_that_a_settlement_took_come_back_as_they_were(
    steward: Caller, found: ConflictView, now: datetime
) -> None:
    told = {"confidence": 0.4, "automatic": False, "description": "Said by hand.", "cosine": 0.7}
    with tenancy.unit():
        MemoryLink.objects.create(
            source_id=found.older.id, target_id=found.newer.id, kind="contradicts", **told
        )
        MemoryLink.objects.update(created_at=now)
    before = _edges(found)

    ended = _settled(steward, found, now, ConflictVerdict.BOTH)
    assert _edges(found) == []
    reopen(caller=steward, conflict_id=found.id, if_version=ended.version, now=now + LATER)

    assert len(before) == 2
    assert _edges(found) == before


def _edges(one: ConflictView) -> list[dict[str, Any]]:
    ids = (one.older.id, one.newer.id)
    with tenancy.unit():
        rows = MemoryLink.objects.filter(source__in=ids, target__in=ids).order_by("source_id")
        edges = list(rows.values())
    return [{name: value for name, value in edge.items() if name != "id"} for edge in edges]


def test_what_leaves_names_its_successor_and_the_reason(
    steward: Caller, found: ConflictView, now: datetime
) -> None:
    _settled(steward, found, now, ConflictVerdict.KEEP_NEWER)

    gone = _row(found.older.id)
    assert (gone.superseded_by_id, gone.archived_reason) == (found.newer.id, WHY)
    assert gone.confidence == 0.3
    with tenancy.unit():
        told = AuditEntry.objects.get(act="memory.conflict_settled")
    assert told.details["superseded"] == [str(found.older.id)]


def test_a_text_of_ones_own_replaces_both_from_then_on(
    steward: Caller, found: ConflictView, now: datetime
) -> None:
    _settled(steward, found, now, ConflictVerdict.EDIT)

    older, newer = _row(found.older.id), _row(found.newer.id)
    assert older.superseded_by_id == newer.superseded_by_id
    assert older.superseded_by_id is not None
    right = _row(older.superseded_by_id)
    assert right.content == RIGHT
    assert older.valid_until == newer.valid_until == right.valid_from
    assert older.valid_from < right.valid_from


def test_what_is_settled_is_not_found_any_more(
    steward: Caller, found: ConflictView, store: str, now: datetime
) -> None:
    _settled(steward, found, now, ConflictVerdict.BOTH)

    assert conflicts.count_open(caller=steward, project=store) == 0
    page = conflicts.list_conflicts(
        caller=steward, project=store, state=ConflictState.SETTLED, after=None, limit=5, now=now
    )
    assert [one.id for one in page.items] == [found.id]
    assert _links(found) == 0


def test_agents_settle_nothing(steward: Caller, found: ConflictView, now: datetime) -> None:
    scopes = frozenset({TokenScope.READ, TokenScope.WRITE})
    agent = replace(as_agent(steward), scopes=scopes)

    with pytest.raises(RoleNotSufficient):
        _settled(agent, found, now, ConflictVerdict.KEEP_NEWER)
    assert (
        conflicts.get_conflict(caller=agent, conflict_id=found.id, now=now).rights.allowed() == ()
    )


def test_nobody_settles_over_a_text_that_has_changed_since(
    caller: Caller, steward: Caller, found: ConflictView, now: datetime
) -> None:
    changes = {"content": OLD.replace("3 times", "6 times")}
    revise(caller=caller, memory_id=found.older.id, changes=changes, if_version=None, now=now)

    with pytest.raises(PreconditionFailed, match="was changed meanwhile"):
        _settled(steward, found, now, ConflictVerdict.KEEP_OLDER)

    seen = conflicts.get_conflict(caller=steward, conflict_id=found.id, now=now)
    assert seen.version == found.version + 1
    assert _settled(steward, seen, now, ConflictVerdict.KEEP_OLDER).verdict == "keep_older"


@pytest.mark.parametrize(
    ("verdict", "reason", "content", "error"),
    [
        (ConflictVerdict.BOTH, " ", "", InvalidInput),
        (ConflictVerdict.BOTH, "x" * 201, "", InvalidInput),
        (ConflictVerdict.BOTH, "the password = hunter2Xq9!zLm4 was rotated", "", InvalidInput),
        (ConflictVerdict.EDIT, WHY, "", InvalidInput),
        (ConflictVerdict.EDIT, WHY, "No.", RefusedByGate),
    ],
    ids=["no reason", "long", "a secret", "no text", "refused by a gate"],
)
def test_what_cannot_be_meant_is_refused(
    steward: Caller, found: ConflictView, now: datetime, verdict: ConflictVerdict, reason: str,
    content: str, error: type[Exception],
) -> None:  # fmt: skip
    settlement = Settlement(verdict=verdict, reason=reason, content=content)

    with pytest.raises(error):
        settle(caller=steward, conflict_id=found.id, settlement=settlement, now=now)

    assert _states(found) == ("active", "active")


def test_what_is_over_is_not_settled_again_and_what_changed_is_not_taken_back(
    steward: Caller, found: ConflictView, now: datetime
) -> None:
    ended = _settled(steward, found, now, ConflictVerdict.KEEP_NEWER)

    with pytest.raises(PreconditionFailed, match="was settled meanwhile"):
        _settled(steward, found, now, ConflictVerdict.BOTH)
    with pytest.raises(NotActive):
        _settled(steward, ended, now, ConflictVerdict.BOTH)
    with tenancy.unit():
        Memory.objects.filter(pk=found.older.id).update(status="archived")
    with pytest.raises(Conflict):
        reopen(caller=steward, conflict_id=found.id, if_version=None, now=now)


def test_a_side_that_was_archived_ends_the_conflict(
    caller: Caller, steward: Caller, found: ConflictView, now: datetime
) -> None:
    archive(caller=caller, memory_id=found.older.id, reason="wrong", if_version=None, now=now)

    assert conflicts.count_open(caller=steward, project=None) == 0
    with pytest.raises(PreconditionFailed, match="has left meanwhile"):
        _settled(steward, found, now, ConflictVerdict.BOTH)
    with pytest.raises(NotActive):
        _settled(steward, replace(found, version=found.version + 1), now, ConflictVerdict.BOTH)


def test_a_conflict_is_nothing_to_who_sees_one_side_only(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    sent(caller, now, OLD, project=store)
    outcome = sent(caller, now, NEW, project=store, scope="personal")
    assert outcome.conflict_id is not None

    with pytest.raises(NotFound):
        conflicts.get_conflict(caller=member_caller, conflict_id=outcome.conflict_id, now=now)
    with pytest.raises(NotFound):
        settle(
            caller=member_caller,
            conflict_id=outcome.conflict_id,
            settlement=Settlement(verdict=ConflictVerdict.BOTH, reason=WHY),
            now=now,
        )


def test_taking_back_a_text_that_was_there_before_leaves_that_memory(
    caller: Caller, steward: Caller, found: ConflictView, store: str, now: datetime
) -> None:
    with tenancy.unit():  # neither side is near it any more, so that it stands beside them
        Memory.objects.filter(pk__in=(found.older.id, found.newer.id)).update(status="archived")
    right = sent(caller, now, RIGHT, project=store).memory
    with tenancy.unit():
        Memory.objects.filter(pk__in=(found.older.id, found.newer.id)).update(status="active")
    assert right is not None
    ended = _settled(steward, found, now, ConflictVerdict.EDIT)
    assert _row(found.older.id).superseded_by_id == right.id

    reopen(caller=steward, conflict_id=found.id, if_version=ended.version, now=now + LATER)

    assert _row(right.id).status == "active"
    assert _states(found) == ("active", "active")


def test_a_text_that_somebody_changed_since_is_not_archived(
    caller: Caller, steward: Caller, found: ConflictView, now: datetime
) -> None:
    ended = _settled(steward, found, now, ConflictVerdict.EDIT)
    written = _row(found.older.id).superseded_by_id
    assert written is not None
    changes = {"tags": ["payments"]}
    revise(caller=steward, memory_id=written, changes=changes, if_version=None, now=now + LATER)

    reopen(caller=steward, conflict_id=found.id, if_version=ended.version, now=now + LATER)

    assert _row(written).status == "active"


def test_a_text_that_would_replace_a_fourth_memory_is_refused(
    caller: Caller, steward: Caller, found: ConflictView, store: str, now: datetime
) -> None:
    with tenancy.unit():
        Memory.objects.filter(pk__in=(found.older.id, found.newer.id)).update(status="archived")
    fourth = sent(
        as_agent(caller), now, OLD.replace("3 times", "7 times"), project=store,
        source="agent_explicit",
    ).memory  # fmt: skip
    with tenancy.unit():
        Memory.objects.filter(pk__in=(found.older.id, found.newer.id)).update(status="active")
    assert fourth is not None

    with pytest.raises(Conflict):
        _settled(steward, found, now, ConflictVerdict.EDIT)

    assert (_row(fourth.id).status, _states(found)) == ("active", ("active", "active"))


def test_a_settled_text_with_an_external_id_can_be_taken_back(
    caller: Caller, member_caller: Caller, steward: Caller, store: str, now: datetime
) -> None:
    sent(as_agent(caller), now, OLD, project=store, source="agent_explicit")
    outcome = sent(
        as_agent(member_caller), now, NEW, project=store, source="agent_explicit",
        external_id="wiki-1",
    )  # fmt: skip
    assert outcome.conflict_id is not None
    one = conflicts.get_conflict(caller=caller, conflict_id=outcome.conflict_id, now=now)
    ended = _settled(steward, one, now, ConflictVerdict.EDIT)

    reopen(caller=steward, conflict_id=one.id, if_version=ended.version, now=now + LATER)

    assert _states(one) == ("active", "active")
    assert _row(one.newer.id).external_id == "wiki-1"


@pytest.mark.parametrize("role", [Role.MEMBER, Role.STEWARD, Role.VIEWER])
@pytest.mark.parametrize("is_authors", [True, False])
@pytest.mark.parametrize("scope", ["project", "personal"])
def test_what_a_conflict_says_of_rights_is_what_settling_does(
    caller: Caller, member_caller: Caller, store: str, now: datetime, role: Role,
    is_authors: bool, scope: str,
) -> None:  # fmt: skip
    sent(as_agent(member_caller), now, OLD, project=store, source="agent_explicit")
    newer = sent(as_agent(caller), now, NEW, project=store, scope=scope, source="agent_explicit")
    assert newer.conflict_id is not None
    asks = as_role(caller if is_authors or scope == "personal" else member_caller, role)
    one = conflicts.get_conflict(caller=asks, conflict_id=newer.conflict_id, now=now)

    for verdict, bar in one.rights.verdicts:
        if bar is None:
            ended = _settled(asks, one, now, verdict)
            version = ended.version
            one = reopen(caller=asks, conflict_id=one.id, if_version=version, now=now + LATER)
        else:
            with pytest.raises((Forbidden, RoleNotSufficient, SelfApproval)):
                _settled(asks, one, now, verdict)

    assert one.verdict == ""


def test_a_settlement_is_taken_back_by_whoever_made_it_or_a_steward(
    member_caller: Caller, steward: Caller, found: ConflictView, now: datetime
) -> None:
    _settled(member_caller, found, now, ConflictVerdict.KEEP_OLDER)

    stranger = replace(member_caller, user_id=UUID(int=7))
    rights = {
        asks: conflicts.get_conflict(caller=asks, conflict_id=found.id, now=now).rights.reopen
        for asks in (stranger, member_caller, steward)
    }

    assert tuple(rights.values()) == (Bar.STEWARD, None, None)
    with pytest.raises(RoleNotSufficient):
        reopen(caller=stranger, conflict_id=found.id, if_version=None, now=now + LATER)
