"""A correction takes the place of what was wrong, and both stay readable."""

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput
from memory.errors import NotActive, RefusedByGate, SelfApproval
from memory.intake.actions.remember import Outcome
from memory.records.models import Memory
from memory.records.queries import memories as queries
from memory.records.queries.views import MemoryView
from memory.review.actions.corrections import Correction, edit
from memory.search.actions import search
from memory.search.request import SearchRequest
from tests.support.memories import CARTS, REDIS, as_agent
from tests.support.reviewed import World

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


def test_an_agent_that_corrects_what_waits_ends_no_wait_and_corrects_no_taint_away(
    world: World,
) -> None:
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


def test_an_agent_that_only_restates_what_it_was_given_corrects_nothing(
    world: World, memory: MemoryView
) -> None:
    agent = as_agent(world.owner)
    asked = SearchRequest(query=REDIS, project=world.store, threshold=0.0)
    search(caller=agent, request=asked, now=world.now)

    with pytest.raises(InvalidInput, match="says exactly the same"):
        corrected(world, memory, f"“{REDIS}”", agent)

    assert now_of(world, memory).status == "active"
