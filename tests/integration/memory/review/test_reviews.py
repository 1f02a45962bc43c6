"""The inbox: what waits for whom, what verdicts and corrections do, and undoing."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.errors import Conflict, Forbidden, InvalidInput, NotFound, RoleNotSufficient
from accounts.models import Token
from memory.errors import NotActive, ProtectedMemory, RefusedByGate, SelfApproval
from memory.intake.actions.remember import Outcome
from memory.records import actions
from memory.records.actions import MOST_SESSIONS, DecidedMemory, VerbDetails
from memory.records.models import Memory, MemoryLink, MemoryVersion
from memory.records.queries import memories, pending
from memory.records.queries import memories as queries
from memory.records.queries.pending import Group, Why
from memory.records.queries.views import MemoryView
from memory.review.actions import verdicts
from memory.review.actions.bulk import WaitingGroup, decide_bulk
from memory.review.actions.corrections import Correction, edit
from memory.review.queries import inbox
from memory.search.actions import search
from memory.search.request import SearchRequest
from memory.taxonomy import LinkKind, Verdict
from tests.support.memories import CARTS, PARSER, REDIS, as_agent, as_role
from tests.support.reviewed import World, row_of
from tests.support.waiting import fields_of, many_waiting

AGAIN = "Token refresh silently fails when Redis is unreachable for a while; catch ECONNREFUSED."
DAY = timedelta(days=1)


@pytest.fixture
def due(world: World) -> MemoryView:
    """What an agent of the owner proposed."""
    return world.waiting(REDIS, tags=("auth",))


def decide(
    world: World, verb: str, memory: MemoryView, by: Caller | None = None, **given: Any
) -> DecidedMemory:
    """Give a verdict about a memory."""
    usual = {"snooze": {"until": world.now + DAY}, "reject": {"reason": "only there"}}
    given = {"caller": by or world.owner, "now": world.now, **usual.get(verb, {}), **given}
    return getattr(verdicts, verb)(memory_id=memory.id, **given)  # type: ignore[no-any-return]


def undo(world: World, made: DecidedMemory, by: Caller | None = None) -> DecidedMemory:
    who, then = by or world.owner, world.now + timedelta(minutes=2)
    return verdicts.undo(caller=who, review_id=made.review_id, now=then)


def whole(
    world: World, verb: str, count: int, group: Group | None = None
) -> tuple[DecidedMemory, ...]:
    """Decide about all that waits, of which somebody counted so many."""
    chosen = WaitingGroup(project=world.store, group=group, count=count)
    details = VerbDetails(until=world.now + DAY)
    return decide_bulk(caller=world.owner, verb=verb, chosen=chosen, details=details, now=world.now)


def listed(
    world: World, by: Caller | None = None, after: timedelta = timedelta(0), **given: Any
) -> list[str]:
    """Return what waits for somebody."""
    given = {"caller": by or world.owner, "group": None, "after": None, "limit": 50, **given}
    page = inbox.list_waiting(project=world.store, now=world.now + after, **given)
    return [one.memory.content for one in page.items]


def test_each_waits_in_its_most_pressing_group(world: World, due: MemoryView) -> None:
    world.waiting(CARTS, set={"taint_reason": "web", "stale_at": world.now})
    world.waiting(PARSER, set={"needs_review": False, "stale_at": world.now})

    counts = inbox.count_waiting(caller=world.owner, project=world.store, now=world.now)

    assert counts.by_group == {
        Group.TAINTED: 1, Group.CONFLICTS: 0, Group.STALE: 1, Group.IMPORTS: 0, Group.NEW: 1
    }  # fmt: skip
    assert (counts.total, counts.minutes_left) == (3, 1)
    assert listed(world, group=Group.TAINTED) == [CARTS]


def test_pages_follow_each_other_by_how_long_they_wait(world: World, due: MemoryView) -> None:
    old = "The checkout worker in `shop/checkout.py` retries a payment 3 times and gives up."
    world.stored(old)
    clash = world.sent(old.replace("3", "5")).conflict_id
    world.waiting(CARTS)

    found, after = [], None
    for _ in range(3):
        page = inbox.list_waiting(
            caller=world.owner, project=world.store, group=None, after=after, limit=1, now=world.now
        )
        found += [one.conflict.id if one.conflict else one.group for one in page.items]
        after = page.next_place

    assert sorted(map(str, found)) == sorted(map(str, (Group.NEW, clash, Group.NEW)))
    assert after is None


def test_keeping_in_person_verifies_and_by_anothers_token_only_ends_the_wait(world: World) -> None:
    doubts = {"taint_reason": "web", "stale_at": world.now}
    first, second = world.waiting(REDIS, set=doubts), world.waiting(CARTS)

    kept = decide(world, "keep", first).memory
    with pytest.raises(SelfApproval):  # of what its person proposed
        decide(world, "keep", second, as_agent(world.owner, agent="cursor"))
    with pytest.raises(RoleNotSufficient):
        decide(world, "keep", second, as_role(world.owner, Role.VIEWER))
    ended = decide(world, "keep", second, as_agent(world.member)).memory

    assert (kept.verification, kept.needs_review, kept.confirmations) == ("verified", False, 1)
    assert (kept.taint_reason, kept.stale_at) == ("", None)
    assert (ended.needs_review, ended.verification, ended.user_verified) == (
        False, "unverified", False,
    )  # fmt: skip
    assert listed(world) == []


def test_rejecting_archives_once_with_the_reason(world: World, due: MemoryView) -> None:
    gone = decide(world, "reject", due).memory

    assert (gone.status, gone.archived_reason) == ("archived", "only there")
    with pytest.raises(Conflict, match="not waiting"):
        decide(world, "reject", due, world.member)


def test_a_snooze_rests_for_one_person(world: World, due: MemoryView) -> None:
    for days in (0, 366):
        with pytest.raises(InvalidInput):
            decide(world, "snooze", due, until=world.now + timedelta(days=days))
    decide(world, "snooze", due)

    assert listed(world) == []
    assert listed(world, world.member) == [REDIS]
    assert listed(world, after=DAY + timedelta(seconds=1)) == [REDIS]


def test_merging_unites_what_both_know(world: World) -> None:
    due = world.waiting(REDIS, tags=("auth",), set={"taint_reason": "web"})
    old = world.stored(CARTS, tags=("carts",))
    ids = [uuid4() for _ in range(MOST_SESSIONS + 2)]
    with tenancy.unit():
        Memory.objects.filter(pk=old.id).update(provenance_sessions=ids[:MOST_SESSIONS])
        Memory.objects.filter(pk=due.id).update(provenance_sessions=ids[MOST_SESSIONS:])

    into = decide(world, "merge", due, into=old.id).memory

    gone = row_of(due)
    links = memories.links(caller=world.owner, memory_id=old.id)
    versions = memories.history(caller=world.owner, memory_id=old.id)
    assert (into.content, into.tags, into.confirmations) == (CARTS, ("carts", "auth"), 1)
    assert (into.taint_reason, row_of(old).provenance_sessions) == ("web", ids[2:])
    assert (gone.status, gone.superseded_by_id) == ("superseded", old.id)
    assert [(one.kind, one.other_id) for one in links] == [("supersedes", due.id)]
    assert [one.reason for one in versions] == ["merged in review", ""]


def test_merging_is_of_one_place_by_a_steward_and_retires_nothing_protected(world: World) -> None:
    shared, due = world.stored(CARTS), world.waiting(REDIS)
    own = world.waiting(REDIS, scope="personal")
    pinned = world.waiting(AGAIN, pinned=True, tags=("exact_value",))

    with pytest.raises(InvalidInput, match="same project and scope"):
        decide(world, "merge", own, into=shared.id)
    with pytest.raises(RoleNotSufficient):
        decide(world, "merge", due, world.member, into=shared.id)
    agent = as_agent(as_role(world.member, Role.STEWARD))
    with pytest.raises(ProtectedMemory):
        decide(world, "merge", pinned, agent, into=shared.id)


def test_an_item_shows_what_is_like_it_and_suggests_to_merge(world: World) -> None:
    old, near = world.stored(REDIS, type="gotcha"), world.waiting(AGAIN, type="gotcha")

    item = inbox.waiting_memory(caller=world.owner, memory_id=near.id, now=world.now)

    assert [(one["memory"].id, one["mergeable"]) for one in item["alike"]] == [(old.id, True)]
    assert item["alike"][0]["similarity"] > pending.SAME_COSINE
    assert (item["waits"], item["may_keep"], item["suggestion"].why) == (True, True, Why.ALIKE)


def test_all_of_a_selection_is_decided_or_none(world: World, due: MemoryView) -> None:
    chosen, details = (due.id, world.stored(PARSER).id), VerbDetails()
    world.waiting(CARTS)

    with pytest.raises(Conflict):
        decide_bulk(caller=world.owner, verb="keep", chosen=chosen, details=details, now=world.now)
    with pytest.raises(Conflict, match="2 wait here now, not 7"):
        whole(world, "reject", 7)

    assert listed(world) == [REDIS, CARTS]
    assert len(whole(world, "reject", 2, Group.NEW)) == 2
    assert listed(world) == []


def test_the_longest_waiting_are_decided(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "MOST_IN_BULK", 3)
    many_waiting(world.owner, world.now, 5, project=world.store)
    given = {"caller": world.owner, "project": world.store, "now": world.now}
    first = inbox.waiting_ids(**given, group=None, most=3)

    with pytest.raises(Conflict):
        whole(world, "snooze", 5)
    done = whole(world, "snooze", 3)

    assert {one.memory.id for one in done} == set(first)
    assert inbox.count_waiting(**given).total == 2


def test_the_week_counts_what_was_decided_and_not_undone(world: World, due: MemoryView) -> None:
    decide(world, "keep", due)
    undo(world, decide(world, "reject", world.waiting(CARTS)))

    decided = inbox.count_decided(caller=world.owner, project=world.store, now=world.now)

    assert decided["by_verdict"] == {Verdict.KEEP: 1}


@pytest.mark.parametrize("verdict", ["keep", "reject", "merge", "snooze"])
def test_undoing_restores_every_field(world: World, verdict: str) -> None:
    given = {
        "taint_reason": "web", "stale_at": world.now, "updated_at": world.now - timedelta(days=3),
    }  # fmt: skip
    memory, old = world.waiting(REDIS, tags=("auth",), set=given), world.stored(CARTS, tags=("c",))
    before = [fields_of(one) for one in (memory, old)]
    more = {"into": old.id} if verdict == "merge" else {}
    made = decide(world, verdict, memory, now=world.now + timedelta(minutes=1), **more)

    undo(world, made)

    assert [fields_of(one) for one in (memory, old)] == before
    assert listed(world) == [memory.content]
    with tenancy.unit():
        assert (MemoryLink.objects.count(), MemoryVersion.objects.count()) == (0, 0)
    with pytest.raises(Conflict, match="undone already"):
        undo(world, made)


@pytest.mark.parametrize("is_merged", [False, True])
def test_undoing_what_changed_is_refused(world: World, due: MemoryView, is_merged: bool) -> None:
    old = world.stored(CARTS)
    if is_merged:
        made = decide(world, "merge", due, into=old.id)
        world.say(old, by=world.owner, tags=["new"])
    else:
        made = decide(world, "keep", due)
        world.say(due, by=world.owner, tags=["new"])
    before = [fields_of(one) for one in (due, old)]

    with pytest.raises(Conflict, match="changed since"):
        undo(world, made)

    assert [fields_of(one) for one in (due, old)] == before


def test_what_was_decided_together_is_undone_together(world: World, due: MemoryView) -> None:
    both = (due, world.waiting(CARTS))
    before = [fields_of(one) for one in both]
    done = whole(world, "keep", 2)

    then = world.now + timedelta(seconds=3)
    verdicts.undo_call(caller=world.owner, review_id=done[0].review_id, now=then)

    assert [fields_of(one) for one in both] == before


def test_nobody_else_takes_back_a_verdict(world: World, due: MemoryView) -> None:
    made = decide(world, "reject", due)

    agent = as_agent(world.owner)
    for other in (world.member, agent, replace(agent, token_id=None)):
        for take_back in (verdicts.undo, verdicts.undo_call):
            with pytest.raises(NotFound):
                take_back(caller=other, review_id=made.review_id, now=world.now)

    undo(world, made)
    assert row_of(due).status == "active"


def own_token(world: World, agent: Caller) -> None:
    """Write down the token of an agent as its person's."""
    assert agent.user_id is not None
    assert agent.token_id is not None
    with tenancy.walled(organization_id=agent.organization_id):
        Token.objects.create(
            id=agent.token_id, organization_id=agent.organization_id, user_id=agent.user_id,
            name="agent", kind="agent", lookup="x", digest="x", last_four="xxxx",
            scopes=["read", "write"], expires_at=world.now + DAY,
        )  # fmt: skip


def test_a_token_or_its_person_takes_a_snooze_back(world: World, due: MemoryView) -> None:
    agent = as_agent(world.owner)
    another = replace(agent, token_id=uuid4())
    own_token(world, agent)

    first = decide(world, "snooze", due, agent)

    assert (listed(world, agent), listed(world), listed(world, another)) == ([], [REDIS], [REDIS])
    with pytest.raises(NotFound):
        undo(world, first, another)
    undo(world, first, agent)
    undo(world, decide(world, "snooze", due, agent))
    assert listed(world, agent) == [REDIS]


def test_putting_a_link_back_locks_both_memories_in_one_order(world: World) -> None:
    earlier, later = world.stored(CARTS), world.stored(REDIS)
    ends = {"source_id": later.id, "target_id": earlier.id}
    with tenancy.unit():
        MemoryLink.objects.create(**ends, kind="extend", confidence=1)
    edge = verdicts.MemoryEdge(other_id=earlier.id, kind=LinkKind.EXTEND, outgoing=True)
    made = decide(world, "unlink", later, edge=edge)

    locking: list[str] = []
    held: list[UUID] = []

    def hear(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "FOR UPDATE" in sql and "memory_memory" in sql:
            locking.append(sql)
            held.extend(one for one in params or () if one in ends.values())
        return execute(sql, params, many, context)

    with connection.execute_wrapper(hear):
        undo(world, made)

    assert set(held[:2]) == {earlier.id, later.id}
    assert 'ORDER BY "memory_memory"."id" ASC' in locking[0]


FIXED = "Token refresh raises RefreshError when Redis is unreachable since version 4."


@pytest.fixture
def memory(world: World) -> MemoryView:
    return world.stored(REDIS, tags=("auth",))


def corrected(
    world: World, old: MemoryView, content: str = FIXED, by: Caller | None = None, **given: str
) -> Outcome:
    """Put a corrected memory in the place of one."""
    new = Correction(**{"content": content, "kind": "wrong", "reason": "", **given})
    return edit(caller=by or world.owner, memory_id=old.id, correction=new, now=world.now).outcome


def now_of(world: World, memory: MemoryView) -> MemoryView:
    return queries.get(caller=world.owner, memory_id=memory.id, now=world.now)


def test_the_new_one_supersedes_the_old_one(world: World, memory: MemoryView) -> None:
    new = corrected(world, memory, reason="read it").memory

    assert new is not None
    old = now_of(world, memory)
    links = queries.links(caller=world.owner, memory_id=new.id)
    assert (old.status, old.confidence, old.superseded_by) == ("superseded", 0.3, new.id)
    assert (old.content, old.archived_reason) == (REDIS, "wrong: read it")
    assert (new.content, new.tags) == (FIXED, ("auth",))
    assert [(link.kind, link.outgoing, link.other_id) for link in links] == [
        ("supersedes", True, memory.id)
    ]
    with pytest.raises(NotActive):
        corrected(world, memory, CARTS)


def test_a_correction_that_is_known_already_points_there(world: World, memory: MemoryView) -> None:
    known = world.stored(CARTS)

    outcome = corrected(world, memory, CARTS, kind="outdated")

    assert outcome.memory is not None
    assert (outcome.outcome, outcome.memory.id) == ("confirmed", known.id)


def test_a_refused_correction_changes_nothing(world: World, memory: MemoryView) -> None:
    refusals: tuple[tuple[str, dict[str, str], type[Exception]], ...] = (
        ("short", {}, RefusedByGate),
        ("password = hunter2Xq9!zLm4", {}, RefusedByGate),
        (FIXED, {"kind": "boring"}, InvalidInput),
        (FIXED, {"scope": "galaxy"}, InvalidInput),
        (REDIS, {}, InvalidInput),
    )
    for content, given, error in refusals:
        with pytest.raises(error):
            corrected(world, memory, content, **given)

    assert now_of(world, memory) == memory
    with tenancy.unit():
        assert Memory.objects.count() == 1


def test_external_id_and_team_go_over_to_the_correction(world: World, team: str) -> None:
    old = world.stored(REDIS, external_id="t-1", scope="team", team=team)

    new = corrected(world, old).memory

    assert new is not None
    assert (new.external_id, new.scope, new.team_id) == ("t-1", "team", old.team_id)


def test_an_agent_that_corrects_what_waits_ends_no_wait_nor_taint(world: World) -> None:
    tainted = world.waiting(CARTS, set={"taint_reason": "web"})
    new = corrected(world, world.waiting(REDIS), by=as_agent(world.owner)).memory

    assert new is not None
    assert new.needs_review
    with pytest.raises(SelfApproval):
        corrected(world, tainted, by=as_agent(world.owner))


def test_a_correction_is_shared_more_widely_by_who_may(world: World, memory: MemoryView) -> None:
    narrow = {"kind": "not_here", "scope": "personal"}

    with pytest.raises(Forbidden):
        corrected(world, memory, by=world.member, **narrow)

    moved = corrected(world, memory, **narrow).memory
    assert moved is not None
    assert moved.scope == "personal"


def test_an_agent_that_restates_corrects_nothing(world: World, memory: MemoryView) -> None:
    agent = as_agent(world.owner)
    asked = SearchRequest(query=REDIS, project=world.store, threshold=0.0)
    search(caller=agent, request=asked, now=world.now)

    with pytest.raises(InvalidInput, match="says exactly the same"):
        corrected(world, memory, REDIS.rstrip(".") + "!", agent)

    assert now_of(world, memory).status == "active"
