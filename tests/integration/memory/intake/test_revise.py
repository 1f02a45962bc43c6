"""Changing a memory keeps what it said, moves it, and refuses what must not happen."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    NotFound,
    PreconditionFailed,
    RoleNotSufficient,
)
from accounts.models import Job
from memory.errors import GovernanceDenied, NotActive, ProtectedMemory, RefusedByGate
from memory.intake.actions.revise import revise
from memory.records.actions import archive
from memory.records.models import MemoryVersion
from memory.records.queries import memories as queries
from memory.records.queries.views import MemoryView
from memory.search.actions import search
from memory.search.request import SearchRequest
from teams import queries as places
from teams.actions import create_project
from teams.models import Team, TeamMember
from tests.support.memories import CARTS, PARSER, REDIS, as_agent, as_role
from tests.support.reviewed import World

TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
OURS = "The night shift of the northern warehouse starts at ten."
MINE = "I think that the night shift of the northern warehouse is badly led."


@pytest.fixture
def memory(world: World) -> MemoryView:
    return world.stored(REDIS)


def changed(
    world: World,
    memory: MemoryView,
    by: Caller | None = None,
    if_version: int | None = None,
    **fields: Any,
) -> MemoryView:
    given = {"caller": by or world.owner, "if_version": if_version, "now": world.now}
    return revise(memory_id=memory.id, changes=fields, **given)


def test_a_change_keeps_a_version_and_is_found_at_once(world: World, memory: MemoryView) -> None:
    after = changed(world, memory, content=CARTS, tags=["cart"], reason="moved on")

    first, second = queries.history(caller=world.owner, memory_id=memory.id)
    assert (after.content, after.tags, after.version) == (CARTS, ("cart",), 2)
    assert (first.number, first.content, first.reason) == (2, CARTS, "moved on")
    assert (second.number, second.content, second.reason) == (1, REDIS, "")
    assert "audience" not in second.fields
    request = SearchRequest(query="advisory locks carts", threshold=0.0)
    hits = search(caller=world.owner, request=request, now=world.now).hits
    assert [hit.memory.id for hit in hits] == [memory.id]
    assert Job.objects.filter(name="memory.embed", payload__ids=[str(memory.id)]).exists()


def test_an_agent_says_of_nothing_that_a_person_stated_it_or_that_a_fix_was_seen(
    world: World,
) -> None:
    agent = as_agent(world.owner)
    given = {"type": "requirement", "source": "extracted", "attributes": {"stated_by": "person"}}
    stated = world.stored(REDIS, agent, **given)

    same = changed(world, stated, agent, attributes={"stated_by": "agent", "fix": "x", "n": 1})
    other = changed(world, stated, agent, content=CARTS)
    marked = changed(world, other, agent, attributes={"stated_by": "person"})

    assert same.attributes == {"stated_by": "person", "n": 1}
    assert (other.attributes, marked.attributes) == ({"n": 1}, {})


def test_only_the_newest_version_changes(world: World, memory: MemoryView) -> None:
    changed(world, memory, if_version=1, content=CARTS)

    with pytest.raises(PreconditionFailed, match="version 2, not 1"):
        changed(world, memory, if_version=1, content=PARSER)


def test_a_wrong_change_is_refused_and_leaves_no_version(world: World, memory: MemoryView) -> None:
    world.stored(CARTS, external_id="x")
    refusals: tuple[tuple[dict[str, Any], type[Exception]], ...] = (
        ({"content": "short"}, RefusedByGate),
        ({"content": f"the token is {TOKEN}, keep it"}, RefusedByGate),
        ({"tags": [TOKEN]}, InvalidInput),
        ({"reason": f"rotated {TOKEN}"}, InvalidInput),
        ({"reason": "x" * 201}, InvalidInput),
        ({"reason": "\x00"}, InvalidInput),
        ({"type": "nonsense"}, InvalidInput),
        ({"author_user": uuid4()}, InvalidInput),
        ({"scope": "galaxy"}, InvalidInput),
        ({"content": CARTS}, Conflict),  # two memories would be the same
        ({"external_id": "x"}, Conflict),
    )
    for fields, error in refusals:
        with pytest.raises(error):
            changed(world, memory, **fields)

    assert queries.get(caller=world.owner, memory_id=memory.id, now=world.now) == memory
    with tenancy.unit():
        assert not MemoryVersion.objects.exists()


def test_each_change_is_for_those_who_may(world: World, memory: MemoryView) -> None:
    theirs, agent = world.theirs(REDIS, scope="personal", project=None), as_agent(world.member)
    noted = world.stored(PARSER, agent, source="agent_explicit")

    assert changed(world, noted, agent, tags=["a"]).tags == ("a",)
    with pytest.raises(GovernanceDenied):
        changed(world, noted, agent, tags=["identity"])
    with pytest.raises(ProtectedMemory):
        changed(world, memory, agent, tags=["a"])
    with pytest.raises(RoleNotSufficient):
        changed(world, memory, as_role(world.owner, Role.VIEWER), content=CARTS)
    with pytest.raises(Forbidden):
        changed(world, memory, world.member, scope="personal")
    for unknown in (theirs, replace(theirs, id=uuid4())):
        with pytest.raises(NotFound, match="There is no such memory"):
            changed(world, unknown, content=CARTS)
    given = {"caller": world.owner, "if_version": None, "now": world.now}
    archive(memory_id=memory.id, reason="", **given)
    with pytest.raises(NotActive):
        changed(world, memory, content=CARTS)


@pytest.fixture
def both(team: str, member_caller: Caller) -> str:
    """The slug of a team that the member belongs to as well."""
    with tenancy.unit():
        TeamMember.objects.create(team=Team.objects.get(slug=team), user_id=member_caller.user_id)
    return team


def test_a_memory_moves_between_teams_by_people_who_may(world: World, both: str) -> None:
    with tenancy.unit():
        other = Team.objects.create(slug="night", name="Night")
        TeamMember.objects.create(team=other, user_id=world.owner.user_id)
    memory = world.stored(OURS)

    with pytest.raises(InvalidInput, match="scope team"):
        changed(world, memory, team=both)
    with pytest.raises(Forbidden, match="author or a steward"):
        changed(world, memory, world.member, scope="team", team=both)
    steward = as_role(world.member, Role.STEWARD)
    first = changed(world, memory, steward, scope="team", team=both)
    noted = world.stored(CARTS, as_agent(world.owner), source="agent_explicit")
    changed(world, noted, scope="team", team="night")
    with pytest.raises(Forbidden, match="Only a person"):
        changed(world, noted, as_agent(world.owner), scope="project")
    second = changed(world, memory, team="night")

    assert (first.scope, second.scope) == ("team", "team")
    assert first.team_id != second.team_id == other.id


def test_what_a_note_said_before_it_was_shared_stays_its_authors(world: World) -> None:
    memory = world.stored(MINE, scope="personal")
    changed(world, memory, content=OURS)
    changed(world, memory, scope="project", reason="for all")

    shown = queries.history(caller=world.member, memory_id=memory.id)

    assert [view.content for view in shown] == [OURS]
    assert len(queries.history(caller=world.owner, memory_id=memory.id)) == 3
    assert "badly led" not in repr(shown)


def test_the_feed_forgets_what_is_taken_away(world: World, memory: MemoryView) -> None:
    def told(caller: Caller) -> bool:
        return str(memory.id) in repr(places.changes_since(caller=caller, after=0, limit=200))

    assert told(world.member)

    changed(world, memory, scope="personal")

    assert (told(world.member), told(world.owner)) == (False, True)


def test_closed_projects_keep_theirs(world: World, both: str) -> None:
    given = {"slug": "closed", "name": "C", "open_to_all": False, "now": world.now}
    create_project(caller=world.owner, **given)

    for wide in ({"scope": "team", "team": both}, {"scope": "organization"}):
        with pytest.raises(InvalidInput, match="closed project"):
            world.stored(OURS, project="closed", **wide)

    assert world.stored(OURS, project="closed", scope="personal").scope == "personal"
