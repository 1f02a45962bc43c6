"""Changing a memory keeps what it said, moves it, and refuses what must not happen."""

from dataclasses import replace
from datetime import datetime
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
from teams.models import ProjectMember, Team, TeamMember
from tests.support.memories import CARTS, PARSER, REDIS, as_agent, as_role, stored

TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def memory(caller: Caller, store: str, now: datetime) -> MemoryView:
    return stored(caller, now, project=store)


def changed(
    caller: Caller,
    memory: MemoryView,
    now: datetime,
    *,
    if_version: int | None = None,
    **fields: Any,
) -> MemoryView:
    return revise(
        caller=caller, memory_id=memory.id, changes=fields, if_version=if_version, now=now
    )


def test_a_change_keeps_a_version(caller: Caller, memory: MemoryView, now: datetime) -> None:
    after = changed(caller, memory, now, content=CARTS, tags=["cart"], reason="moved on")

    first, second = queries.history(caller=caller, memory_id=memory.id)
    assert (after.content, after.tags, after.version) == (CARTS, ("cart",), 2)
    assert (first.number, first.content, first.reason) == (2, CARTS, "moved on")
    assert (second.number, second.content, second.reason) == (1, REDIS, "")


def test_a_changed_text_is_found_at_once(caller: Caller, memory: MemoryView, now: datetime) -> None:
    changed(caller, memory, now, content=CARTS)

    request = SearchRequest(query="advisory locks carts", threshold=0.0)
    hits = search(caller=caller, request=request, now=now).hits
    assert [hit.memory.id for hit in hits] == [memory.id]
    assert Job.objects.filter(name="memory.embed", payload__ids=[str(memory.id)]).exists()


def test_only_the_newest_version_changes(caller: Caller, memory: MemoryView, now: datetime) -> None:
    changed(caller, memory, now, if_version=1, content=CARTS)

    with pytest.raises(PreconditionFailed) as refused:
        changed(caller, memory, now, if_version=1, content=PARSER)

    assert "version 2, not 1" in refused.value.detail


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"content": "short"}, RefusedByGate),
        ({"content": f"the token is {TOKEN}, keep it"}, RefusedByGate),
        ({"tags": [TOKEN]}, InvalidInput),
        ({"reason": f"rotated {TOKEN}"}, InvalidInput),
        ({"reason": "x" * 201}, InvalidInput),
        ({"reason": "\x00"}, InvalidInput),
        ({"type": "nonsense"}, InvalidInput),
        ({"author_user": uuid4()}, InvalidInput),
        ({"scope": "galaxy"}, InvalidInput),
    ],
)
def test_a_wrong_change_is_refused_and_leaves_no_version(
    caller: Caller, memory: MemoryView, now: datetime, fields: dict[str, Any], error: type
) -> None:
    with pytest.raises(error):
        changed(caller, memory, now, **fields)

    assert queries.get(caller=caller, memory_id=memory.id, now=now).version == 1
    with tenancy.unit():
        assert not MemoryVersion.objects.exists()


@pytest.mark.parametrize("fields", [{"content": CARTS}, {"external_id": "x"}])
def test_two_memories_never_become_the_same(
    caller: Caller, memory: MemoryView, store: str, now: datetime, fields: dict[str, Any]
) -> None:
    stored(caller, now, CARTS, project=store, external_id="x")

    with pytest.raises(Conflict):
        changed(caller, memory, now, **fields)

    assert queries.get(caller=caller, memory_id=memory.id, now=now) == memory


def test_archived_memories_stay(caller: Caller, memory: MemoryView, now: datetime) -> None:
    archive(caller=caller, memory_id=memory.id, reason="", if_version=None, now=now)

    with pytest.raises(NotActive):
        changed(caller, memory, now, content=CARTS)


def test_each_change_is_for_those_who_may(
    caller: Caller, agent: Caller, member_caller: Caller, memory: MemoryView, now: datetime
) -> None:
    with pytest.raises(GovernanceDenied):
        changed(agent, memory, now, tags=["identity"])
    with pytest.raises(RoleNotSufficient):
        changed(as_role(caller, Role.VIEWER), memory, now, content=CARTS)
    with pytest.raises(Forbidden):
        changed(member_caller, memory, now, scope="personal")


def test_an_agent_changes_facts_and_no_decisions(
    caller: Caller, agent: Caller, memory: MemoryView, store: str, now: datetime
) -> None:
    decision = stored(caller, now, CARTS, project=store, type="decision")

    assert changed(agent, memory, now, tags=["a"]).tags == ("a",)
    with pytest.raises(ProtectedMemory):
        changed(agent, decision, now, tags=["a"])


def test_unseen_memories_stay(caller: Caller, member_caller: Caller, now: datetime) -> None:
    theirs = stored(member_caller, now, scope="personal")

    for unknown in (theirs, replace(theirs, id=uuid4())):
        with pytest.raises(NotFound) as refused:
            changed(caller, unknown, now, content=CARTS)
        assert refused.value.detail == "There is no such memory."


OURS = "The night shift of the northern warehouse starts at ten."
MINE = "I think that the night shift of the northern warehouse is badly led."


@pytest.fixture
def both(team: str, member_caller: Caller) -> str:
    """The slug of a team that the member belongs to as well."""
    with tenancy.unit():
        TeamMember.objects.create(team=Team.objects.get(slug=team), user_id=member_caller.user_id)
    return team


def citations(caller: Caller) -> str:
    return repr(places.changes_since(caller=caller, after=0, limit=200))


def test_a_memory_moves_between_teams(store: str, both: str, caller: Caller, now: datetime) -> None:
    with tenancy.unit():
        other = Team.objects.create(slug="night", name="Night")
        TeamMember.objects.create(team=other, user_id=caller.user_id)
    memory = stored(caller, now, OURS, project=store)

    first = changed(caller, memory, now, scope="team", team=both)
    second = changed(caller, memory, now, team="night")

    assert (first.scope, second.scope) == ("team", "team")
    assert first.team_id != second.team_id == other.id


def test_a_team_needs_its_scope(store: str, both: str, caller: Caller, now: datetime) -> None:
    memory = stored(caller, now, OURS, project=store)

    with pytest.raises(InvalidInput, match="scope team"):
        changed(caller, memory, now, team=both)


def test_what_a_note_said_before_it_was_shared_stays_its_authors(
    store: str, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    memory = stored(caller, now, MINE, project=store, scope="personal")
    changed(caller, memory, now, content=OURS)
    changed(caller, memory, now, scope="project", reason="for all")

    shown = queries.history(caller=member_caller, memory_id=memory.id)

    assert [view.content for view in shown] == [OURS]
    assert len(queries.history(caller=caller, memory_id=memory.id)) == 3
    assert "badly led" not in repr(shown)


def test_versions_do_not_tell_ids_of_audiences(store: str, caller: Caller, now: datetime) -> None:
    memory = stored(caller, now, OURS, project=store)
    changed(caller, memory, now, content=f"{OURS} It ends at six.")

    shown = queries.history(caller=caller, memory_id=memory.id)

    assert "audience" not in shown[1].fields


def test_the_feed_forgets_a_memory_for_those_it_is_taken_from(
    store: str, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    memory = stored(caller, now, OURS, project=store)
    assert str(memory.id) in citations(member_caller)

    changed(caller, memory, now, scope="personal")

    assert str(memory.id) not in citations(member_caller)
    assert str(memory.id) in citations(caller)


def test_agents_share_no_team_memory(store: str, both: str, caller: Caller, now: datetime) -> None:
    memory = stored(caller, now, OURS, project=store, scope="team", team=both)

    with pytest.raises(Forbidden, match="Only a person"):
        changed(as_agent(caller), memory, now, scope="project")


def test_only_its_author_or_a_steward_takes_a_memory_from_others(
    store: str, both: str, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    memory = stored(caller, now, OURS, project=store)

    with pytest.raises(Forbidden, match="author or a steward"):
        changed(member_caller, memory, now, scope="team", team=both)

    steward = as_role(member_caller, Role.STEWARD)
    assert changed(steward, memory, now, scope="team", team=both).scope == "team"


@pytest.mark.parametrize("scope", ["team", "organization"])
def test_closed_projects_keep_theirs(both: str, caller: Caller, now: datetime, scope: str) -> None:
    closed = create_project(caller=caller, slug="closed", name="C", open_to_all=False, now=now)
    given = {"team": both} if scope == "team" else {}

    with pytest.raises(InvalidInput, match="closed project"):
        stored(caller, now, OURS, project=closed.slug, scope=scope, **given)

    with tenancy.unit():
        assert ProjectMember.objects.filter(project_id=closed.id).count() == 1
    assert stored(caller, now, OURS, project=closed.slug, scope="personal").scope == "personal"
