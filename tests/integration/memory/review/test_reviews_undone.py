"""A verdict of the review inbox is undone by whoever gave it, and every field is as it was."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Conflict, NotFound
from accounts.models import Token
from memory.intake.actions.revise import revise
from memory.records.actions import VerbDetails, confirm
from memory.records.models import MemoryLink, MemoryVersion
from memory.records.queries import memories
from memory.records.queries.pending import Group
from memory.records.queries.views import MemoryView
from memory.review.actions.bulk import WaitingGroup, decide_bulk
from memory.review.actions.verdict_undo import undo, undo_call
from memory.review.actions.verdicts import MemoryEdge, keep, merge, reject, snooze, unlink
from memory.review.queries import inbox
from memory.taxonomy import LinkKind
from teams.actions.projects import create_project
from tests.support.memories import CARTS, REDIS, as_agent, stored
from tests.support.waiting import fields_of, waiting

pytestmark = pytest.mark.usefixtures("in_organization")
AGAIN = "Token refresh silently fails when Redis is unreachable for a while; catch ECONNREFUSED."


@pytest.fixture
def shop(caller: Caller, now: datetime) -> str:
    """The slug of a project."""
    return create_project(caller=caller, slug="shop", name="Shop", now=now).slug


@pytest.fixture
def due(caller: Caller, now: datetime, shop: str) -> MemoryView:
    """What an agent of the caller proposed."""
    return waiting(caller, now, project=shop, tags=("auth",))


def listed(caller: Caller, now: datetime, group: Group | None = None) -> list[str]:
    page = inbox.list_waiting(
        caller=caller, project="shop", group=group, after=None, limit=50, now=now
    )
    return [one.memory.content for one in page.items]


def decided(caller: Caller, memory: MemoryView, into: UUID, verdict: str, now: datetime) -> UUID:
    """Give a verdict about a memory; return its id."""
    given: dict[str, Any] = {"caller": caller, "memory_id": memory.id, "now": now}
    if verdict == "merge":
        return merge(**given, into=into).review_id
    if verdict == "snooze":
        return snooze(**given, until=now + timedelta(days=1)).review_id
    return (keep(**given) if verdict == "keep" else reject(**given, reason="x")).review_id


@pytest.mark.parametrize("verdict", ["keep", "reject", "merge", "snooze"])
def test_undoing_restores_every_field(
    caller: Caller, now: datetime, shop: str, verdict: str
) -> None:
    given = {"taint_reason": "web", "stale_at": now, "updated_at": now - timedelta(days=3)}
    memory = waiting(caller, now, project=shop, tags=("auth",), set=given)
    old = stored(caller, now, CARTS, project=shop, tags=("carts",))
    before = [fields_of(one) for one in (memory, old)]
    review_id = decided(caller, memory, old.id, verdict, now + timedelta(minutes=1))

    undo(caller=caller, review_id=review_id, now=now + timedelta(minutes=2))

    assert [fields_of(one) for one in (memory, old)] == before
    assert listed(caller, now) == [memory.content]
    with tenancy.unit():
        assert (MemoryLink.objects.count(), MemoryVersion.objects.count()) == (0, 0)


def test_nobody_undoes_the_verdict_of_another(
    caller: Caller, member_caller: Caller, now: datetime, due: MemoryView
) -> None:
    decided = keep(caller=caller, memory_id=due.id, now=now)

    with pytest.raises(NotFound):
        undo(caller=member_caller, review_id=decided.review_id, now=now)


def test_undoing_twice_is_refused(caller: Caller, now: datetime, due: MemoryView) -> None:
    decided = keep(caller=caller, memory_id=due.id, now=now)
    undo(caller=caller, review_id=decided.review_id, now=now)

    with pytest.raises(Conflict, match="undone already"):
        undo(caller=caller, review_id=decided.review_id, now=now)


def test_undoing_after_somebody_changed_it_is_refused_and_changes_nothing(
    caller: Caller, now: datetime, due: MemoryView
) -> None:
    decided = keep(caller=caller, memory_id=due.id, now=now)
    confirm(caller=caller, memory_id=due.id, now=now)
    before = fields_of(due)

    with pytest.raises(Conflict, match="changed since"):
        undo(caller=caller, review_id=decided.review_id, now=now)

    assert fields_of(due) == before


def test_undoing_is_refused_when_the_other_one_of_a_merge_changed(
    caller: Caller, now: datetime, due: MemoryView, shop: str
) -> None:
    old = stored(caller, now, CARTS, project=shop)
    decided = merge(caller=caller, memory_id=due.id, into=old.id, now=now)
    changes = {"tags": ["new"]}
    revise(caller=caller, memory_id=old.id, changes=changes, if_version=None, now=now)

    with pytest.raises(Conflict, match="changed since"):
        undo(caller=caller, review_id=decided.review_id, now=now)

    assert memories.get(caller=caller, memory_id=due.id, now=now).status == "superseded"


def test_what_was_decided_together_is_undone_together(
    caller: Caller, now: datetime, shop: str
) -> None:
    due = [waiting(caller, now, text, project=shop) for text in (REDIS, CARTS)]
    before = [fields_of(one) for one in due]
    whole = WaitingGroup(project="shop", group=None, count=2)
    done = decide_bulk(caller=caller, verb="keep", chosen=whole, details=VerbDetails(), now=now)

    undo_call(caller=caller, review_id=done[0].review_id, now=now + timedelta(seconds=3))

    assert [fields_of(one) for one in due] == before


def test_a_token_takes_back_no_verdict_that_its_person_gave_in_person(
    caller: Caller, now: datetime, due: MemoryView
) -> None:
    decided = reject(caller=caller, memory_id=due.id, reason="Wrong.", now=now)

    for agent in (as_agent(caller), replace(as_agent(caller), token_id=None)):
        with pytest.raises(NotFound):
            undo(caller=agent, review_id=decided.review_id, now=now)
        with pytest.raises(NotFound):
            undo_call(caller=agent, review_id=decided.review_id, now=now)

    undo(caller=caller, review_id=decided.review_id, now=now)
    assert memories.get(caller=caller, memory_id=due.id, now=now).status == "active"


def own_token(agent: Caller, until: datetime) -> None:
    """Write down the token of an agent as its person's."""
    assert agent.user_id is not None
    assert agent.token_id is not None
    with tenancy.walled(organization_id=agent.organization_id):
        Token.objects.create(
            id=agent.token_id,
            organization_id=agent.organization_id,
            user_id=agent.user_id,
            name="agent",
            kind="agent",
            lookup="x",
            digest="x",
            last_four="xxxx",
            scopes=["read", "write"],
            expires_at=until,
        )


def test_a_token_snoozes_for_itself_and_it_or_its_person_takes_that_back(
    caller: Caller, now: datetime, due: MemoryView
) -> None:
    agent = as_agent(caller)
    another = replace(agent, token_id=uuid4())
    until = now + timedelta(days=1)
    own_token(agent, until)

    first = snooze(caller=agent, memory_id=due.id, until=until, now=now)

    assert listed(agent, now) == []
    assert len(listed(caller, now)) == len(listed(another, now)) == 1
    with pytest.raises(NotFound):
        undo(caller=another, review_id=first.review_id, now=now)
    undo(caller=agent, review_id=first.review_id, now=now)
    second = snooze(caller=agent, memory_id=due.id, until=until, now=now)
    undo(caller=caller, review_id=second.review_id, now=now)
    assert len(listed(agent, now)) == 1


def test_putting_a_link_back_locks_both_memories_in_one_order(
    caller: Caller, now: datetime, shop: str
) -> None:
    earlier, later = (stored(caller, now, text, project=shop) for text in (CARTS, REDIS))
    ends = {"source_id": later.id, "target_id": earlier.id}
    with tenancy.unit():
        MemoryLink.objects.create(**ends, kind="extend", confidence=1)
    edge = MemoryEdge(other_id=earlier.id, kind=LinkKind.EXTEND, outgoing=True)
    made = unlink(caller=caller, memory_id=later.id, edge=edge, now=now)

    held: list[UUID] = []

    def hear(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        held.extend(one for one in params or () if "FOR UPDATE" in sql and one in ends.values())
        return execute(sql, params, many, context)

    with connection.execute_wrapper(hear):
        undo(caller=caller, review_id=made.review_id, now=now)

    assert held[:2] == [earlier.id, later.id]
