"""The review inbox: what waits for whom, what each verdict does, and that undoing restores all."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.errors import Conflict, InvalidInput, NotFound
from accounts.models import Token
from memory.errors import ProtectedMemory, SelfApproval
from memory.intake.actions.revise import revise
from memory.records.actions import MOST_IN_BULK, MOST_SESSIONS, VerbDetails, confirm
from memory.records.models import Memory, MemoryLink, MemoryVersion
from memory.records.queries import memories, pending
from memory.records.queries.pending import Group, Why
from memory.records.queries.views import MemoryView
from memory.review.actions.bulk import WaitingGroup, decide_bulk
from memory.review.actions.verdict_undo import undo, undo_call
from memory.review.actions.verdicts import MemoryEdge, keep, merge, reject, snooze, unlink
from memory.review.queries import inbox
from memory.taxonomy import LinkKind, Verdict
from teams.actions import create_project
from teams.errors import RoleNotSufficient
from tests.support.memories import CARTS, PARSER, REDIS, as_agent, as_role, sent, stored
from tests.support.waiting import fields_of, many_waiting, waiting

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


def test_each_waits_in_its_most_pressing_group(caller: Caller, now: datetime, shop: str) -> None:
    waiting(caller, now, REDIS, project=shop)
    waiting(caller, now, CARTS, project=shop, set={"taint_reason": "web", "stale_at": now})
    waiting(caller, now, PARSER, project=shop, set={"needs_review": False, "stale_at": now})

    counts = inbox.count_waiting(caller=caller, project="shop", now=now)

    assert counts.by_group == {
        Group.TAINTED: 1, Group.CONFLICTS: 0, Group.STALE: 1, Group.IMPORTS: 0, Group.NEW: 1
    }  # fmt: skip
    assert (counts.total, counts.minutes_left) == (3, 1)
    assert listed(caller, now, Group.TAINTED) == [CARTS]


def test_pages_of_memories_and_conflicts_follow_each_other_by_how_long_they_wait(
    caller: Caller, now: datetime, shop: str
) -> None:
    old = "The checkout worker in `shop/checkout.py` retries a payment 3 times and gives up."
    waiting(caller, now, REDIS, project=shop)
    stored(caller, now, old, project=shop)
    clash = sent(caller, now, old.replace("3", "5"), project=shop).conflict_id
    waiting(caller, now, CARTS, project=shop)

    found, after = [], None
    for _ in range(3):
        page = inbox.list_waiting(
            caller=caller, project=shop, group=None, after=after, limit=1, now=now
        )
        found += [one.conflict.id if one.conflict else one.group for one in page.items]
        after = page.next_place

    assert sorted(map(str, found)) == sorted(map(str, (Group.NEW, clash, Group.NEW)))
    assert after is None


def test_keeping_in_person_verifies_and_ends_the_wait(
    caller: Caller, now: datetime, due: MemoryView
) -> None:
    decided = keep(caller=caller, memory_id=due.id, now=now)

    kept = decided.memory
    assert (kept.verification, kept.needs_review, kept.confirmations) == ("verified", False, 1)
    assert listed(caller, now) == []


def test_keeping_lifts_a_taint_and_ends_staleness(caller: Caller, now: datetime, shop: str) -> None:
    memory = waiting(caller, now, project=shop, set={"taint_reason": "web", "stale_at": now})

    kept = keep(caller=caller, memory_id=memory.id, now=now).memory

    assert (kept.taint_reason, kept.stale_at) == ("", None)


def test_an_agent_cannot_approve_what_it_or_its_person_proposed(
    caller: Caller, now: datetime, due: MemoryView
) -> None:
    with pytest.raises(SelfApproval):
        keep(caller=as_agent(caller, agent="cursor"), memory_id=due.id, now=now)


def test_a_token_of_somebody_else_ends_the_wait_and_verifies_nothing(
    member_caller: Caller, now: datetime, due: MemoryView
) -> None:
    kept = keep(caller=as_agent(member_caller), memory_id=due.id, now=now).memory

    assert (kept.needs_review, kept.verification, kept.user_verified) == (
        False, "unverified", False
    )  # fmt: skip


def test_what_somebody_decided_is_not_decided_again(
    caller: Caller, member_caller: Caller, now: datetime, due: MemoryView
) -> None:
    keep(caller=caller, memory_id=due.id, now=now)

    with pytest.raises(Conflict, match="not waiting"):
        reject(caller=member_caller, memory_id=due.id, reason="", now=now)


def test_rejecting_archives_with_the_reason(caller: Caller, now: datetime, due: MemoryView) -> None:
    gone = reject(caller=caller, memory_id=due.id, reason="only there", now=now).memory

    assert (gone.status, gone.archived_reason) == ("archived", "only there")


def test_a_snooze_rests_for_one_person_until_its_moment(
    caller: Caller, member_caller: Caller, now: datetime, due: MemoryView
) -> None:
    snooze(caller=caller, memory_id=due.id, until=now + timedelta(days=1), now=now)

    assert listed(caller, now) == []
    assert listed(member_caller, now) == [REDIS]
    assert listed(caller, now + timedelta(days=1, seconds=1)) == [REDIS]


@pytest.mark.parametrize("days", [0, -1, 366])
def test_a_snooze_ends_ahead_and_in_a_year(
    caller: Caller, now: datetime, due: MemoryView, days: int
) -> None:
    with pytest.raises(InvalidInput):
        snooze(caller=caller, memory_id=due.id, until=now + timedelta(days=days), now=now)


def test_merging_unites_what_both_know(
    caller: Caller, now: datetime, due: MemoryView, shop: str
) -> None:
    old = stored(caller, now, CARTS, project=shop, tags=("carts",))

    into = merge(caller=caller, memory_id=due.id, into=old.id, now=now).memory

    gone = memories.get(caller=caller, memory_id=due.id, now=now)
    links = memories.links(caller=caller, memory_id=old.id)
    versions = memories.history(caller=caller, memory_id=old.id)
    assert (into.content, into.tags, into.confirmations) == (CARTS, ("carts", "auth"), 1)
    assert (gone.status, gone.superseded_by) == ("superseded", old.id)
    assert [(one.kind, one.other_id) for one in links] == [("supersedes", due.id)]
    assert [one.reason for one in versions] == ["merged in review", ""]


def test_merging_tells_no_more_sessions_than_a_confirmation_does(
    caller: Caller, now: datetime, due: MemoryView, shop: str
) -> None:
    old = stored(caller, now, CARTS, project=shop)
    ids = [uuid4() for _ in range(MOST_SESSIONS + 2)]
    with tenancy.unit():
        Memory.objects.filter(pk=old.id).update(provenance_sessions=ids[:MOST_SESSIONS])
        Memory.objects.filter(pk=due.id).update(provenance_sessions=ids[MOST_SESSIONS:])

    merge(caller=caller, memory_id=due.id, into=old.id, now=now)

    with tenancy.unit():
        assert Memory.objects.get(pk=old.id).provenance_sessions == ids[2:]


def test_merging_carries_a_taint_along(caller: Caller, now: datetime, shop: str) -> None:
    tainted = waiting(caller, now, project=shop, set={"taint_reason": "web"})
    old = stored(caller, now, CARTS, project=shop)

    into = merge(caller=caller, memory_id=tainted.id, into=old.id, now=now).memory

    assert into.taint_reason == "web"


def test_a_personal_memory_is_not_merged_into_a_shared_one(
    caller: Caller, now: datetime, shop: str
) -> None:
    own = waiting(caller, now, project=shop, scope="personal")
    shared = stored(caller, now, CARTS, project=shop)

    with pytest.raises(InvalidInput, match="same project and scope"):
        merge(caller=caller, memory_id=own.id, into=shared.id, now=now)


def test_members_do_not_merge_what_others_see(
    caller: Caller, member_caller: Caller, now: datetime, due: MemoryView, shop: str
) -> None:
    old = stored(caller, now, CARTS, project=shop)

    with pytest.raises(RoleNotSufficient):
        merge(caller=member_caller, memory_id=due.id, into=old.id, now=now)


def test_an_item_shows_what_is_like_it_and_suggests_to_merge(
    caller: Caller, now: datetime, shop: str
) -> None:
    old = stored(caller, now, REDIS, project=shop, type="gotcha")
    near = waiting(caller, now, AGAIN, project=shop, type="gotcha")

    item = inbox.waiting_memory(caller=caller, memory_id=near.id, now=now)

    assert [(one.memory.id, one.mergeable) for one in item.alike] == [(old.id, True)]
    assert item.alike[0].similarity > pending.SAME_COSINE
    assert (item.waits, item.may_keep, item.suggestion.why) == (True, True, Why.ALIKE)


def test_all_of_a_selection_or_none(caller: Caller, now: datetime, shop: str) -> None:
    first = waiting(caller, now, REDIS, project=shop)
    second = stored(caller, now, CARTS, project=shop)

    with pytest.raises(Conflict):
        decide_bulk(
            caller=caller,
            verb="keep",
            chosen=(first.id, second.id),
            details=VerbDetails(),
            now=now,
        )

    assert listed(caller, now) == [REDIS]


def test_a_whole_group_is_decided_when_its_count_is_right(
    caller: Caller, now: datetime, shop: str
) -> None:
    for text in (REDIS, CARTS):
        waiting(caller, now, text, project=shop)
    whole = WaitingGroup(project="shop", group=Group.NEW, count=2)

    done = decide_bulk(caller=caller, verb="reject", chosen=whole, details=VerbDetails(), now=now)

    assert len(done) == 2
    assert listed(caller, now) == []


def test_a_wrong_count_decides_nothing(caller: Caller, now: datetime, due: MemoryView) -> None:
    whole = WaitingGroup(project="shop", group=None, count=7)

    with pytest.raises(Conflict, match="1 wait here now, not 7"):
        decide_bulk(caller=caller, verb="keep", chosen=whole, details=VerbDetails(), now=now)


def test_of_more_than_can_be_decided_at_once_the_longest_waiting_are(
    caller: Caller, now: datetime, shop: str
) -> None:
    many_waiting(caller, now, MOST_IN_BULK + 3, project=shop)
    first = inbox.waiting_ids(caller=caller, project=shop, group=None, most=MOST_IN_BULK, now=now)
    words = VerbDetails(until=now + timedelta(days=1))

    def snoozed(count: int) -> set[UUID]:
        whole = WaitingGroup(project=shop, group=None, count=count)
        done = decide_bulk(caller=caller, verb="snooze", chosen=whole, details=words, now=now)
        return {one.memory.id for one in done}

    with pytest.raises(Conflict):
        snoozed(MOST_IN_BULK + 3)
    assert snoozed(MOST_IN_BULK) == set(first)
    assert inbox.count_waiting(caller=caller, project=shop, now=now).total == 3


def test_the_week_counts_what_was_decided_and_not_undone(
    caller: Caller, now: datetime, shop: str
) -> None:
    kept = waiting(caller, now, REDIS, project=shop)
    undone = waiting(caller, now, CARTS, project=shop)
    keep(caller=caller, memory_id=kept.id, now=now)
    made = reject(caller=caller, memory_id=undone.id, reason="", now=now)
    undo(caller=caller, review_id=made.review_id, now=now)

    decided = inbox.count_decided(caller=caller, project="shop", now=now)

    assert decided.by_verdict == {Verdict.KEEP: 1}


def test_viewers_decide_nothing(caller: Caller, now: datetime, due: MemoryView) -> None:
    with pytest.raises(RoleNotSufficient):
        keep(caller=as_role(caller, Role.VIEWER), memory_id=due.id, now=now)


def test_no_agent_retires_a_protected_memory_by_merging_it(
    caller: Caller, member_caller: Caller, now: datetime, shop: str
) -> None:
    into = stored(caller, now, REDIS, project=shop, type="fact")
    row = waiting(caller, now, AGAIN, project=shop, pinned=True, tags=("exact_value",))
    agent = as_agent(as_role(member_caller, Role.STEWARD))

    with pytest.raises(ProtectedMemory):
        merge(caller=agent, memory_id=row.id, into=into.id, now=now)


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
