"""What only its author sees any more contradicts nothing that others see, as far as they know."""

from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.intake.actions.revise import revise
from memory.records import writes
from memory.records.models import Conflict, Memory
from memory.records.queries.views import MemoryView
from memory.review.actions.settlements import Settlement, reopen, settle
from memory.review.conflict_rules import ConflictVerdict
from memory.review.queries import conflicts
from memory.review.queries.conflicts import ConflictView
from teams import queries as places
from teams.models import AuditEntry, Project
from tests.support.memories import as_agent, sent

OLD = "The checkout worker in `shop/checkout.py` retries a payment 3 times before it gives up."
NEW = "The checkout worker in `shop/checkout.py` retries a payment 5 times before it gives up."
MINE = "Nobody here understands why `shop/checkout.py` retries a payment so often at all."
LATER = timedelta(hours=1)

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def found(caller: Caller, member_caller: Caller, store: str, now: datetime) -> ConflictView:
    """A conflict of two memories that all see: the owner's, and later the member's."""
    sent(as_agent(caller), now, OLD, project=store, source="agent_explicit")
    newer = sent(as_agent(member_caller), now, NEW, project=store, source="agent_explicit")
    assert newer.conflict_id is not None
    return conflicts.get_conflict(caller=caller, conflict_id=newer.conflict_id, now=now)


def moved(caller: Caller, side: MemoryView, now: datetime, scope: str, content: str) -> None:
    changes = {"scope": scope, "content": content}
    revise(caller=caller, memory_id=side.id, changes=changes, if_version=None, now=now)


def told_of_conflicts(caller: Caller) -> list[tuple[UUID, str]]:
    with tenancy.unit():
        seen = places.changes_since(caller=caller, after=0, limit=200)
    return [
        (one.object_id, one.summary["citation"]) for one in seen if one.kind in writes.FEED_KINDS
    ]


def settled_and_reopened(caller: Caller, conflict_id: UUID, now: datetime) -> None:
    why = Settlement(verdict=ConflictVerdict.BOTH, reason="Both hold.")
    settle(caller=caller, conflict_id=conflict_id, settlement=why, now=now)
    reopen(caller=caller, conflict_id=conflict_id, if_version=None, now=now)


@pytest.mark.parametrize("side", ["older", "newer"])
def test_a_side_that_became_personal_is_settled_out_of_sight(
    caller: Caller, member_caller: Caller, found: ConflictView, now: datetime, side: str
) -> None:
    author, other = (caller, member_caller) if side == "older" else (member_caller, caller)
    theirs: MemoryView = getattr(found, side)
    assert told_of_conflicts(other)

    moved(author, theirs, now + LATER, "personal", MINE)
    settled_and_reopened(author, found.id, now + LATER)

    assert told_of_conflicts(other) == []
    mine = [citation for id, citation in told_of_conflicts(author) if id == theirs.id]
    assert {MINE.startswith(citation[:20]) for citation in mine[-2:]} == {True}
    with tenancy.unit():
        logged = AuditEntry.objects.filter(act__in=writes.FEED_KINDS).order_by("number")
        entries = [(one.object_id, one.details) for one in logged]
    assert entries == [(str(theirs.id), {"verdict": "both"}), (str(theirs.id), {})]


def test_who_is_told_follows_both_sides(
    member_caller: Caller, found: ConflictView, now: datetime
) -> None:
    with tenancy.unit():
        first = Conflict.objects.get().audience
    moved(member_caller, found.newer, now + LATER, "personal", MINE)
    with tenancy.unit():
        assert Conflict.objects.get().audience == member_caller.user_id

    moved(member_caller, found.newer, now + LATER, "project", NEW)

    with tenancy.unit():
        assert Conflict.objects.get().audience == first
    settled = Settlement(verdict=ConflictVerdict.KEEP_OLDER, reason="It was so.")
    settle(caller=member_caller, conflict_id=found.id, settlement=settled, now=now + LATER)
    assert told_of_conflicts(member_caller)[-1][0] == found.newer.id


@pytest.mark.parametrize(
    ("older", "newer", "told"),
    [
        ("personal", "open", "older"),
        ("organization", "closed", "newer"),
        ("organization", "open", "newer"),
        ("open", "team", "newer"),
        ("team", "closed", None),
        ("closed", "team", None),
        ("team", "team", None),
        ("personal", "personal", None),
    ],
)
def test_those_are_told_who_see_both(older: str, newer: str, told: str | None) -> None:
    rows = {"older": _row(older), "newer": _row(newer)}
    actor = uuid4()

    side, audience = writes.find_narrower_side(**rows, otherwise=actor)

    expected = rows["newer"] if told is None else rows[told]
    assert (side, audience) == (expected, actor if told is None else expected.audience)


def _row(place: str) -> Memory:
    project = Project(slug=place, name=place, open_to_all=place == "open")
    scope = "project" if place in {"open", "closed"} else place
    return Memory(scope=scope, audience=uuid4(), project=project)
