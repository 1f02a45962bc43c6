"""A memory that gets another audience: who may give it, and what stays with whom."""

from datetime import datetime

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.errors import Forbidden, InvalidInput
from memory.intake.actions.revise import revise
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from teams import queries as places
from teams.actions.projects import create_project
from teams.models import ProjectMember, Team, TeamMember
from tests.support.memories import as_agent, as_role, stored

OURS = "The night shift of the northern warehouse starts at ten."
MINE = "I think that the night shift of the northern warehouse is badly led."


@pytest.fixture
def both(team: str, member_caller: Caller) -> str:
    """The slug of a team that the member belongs to as well."""
    with tenancy.unit():
        TeamMember.objects.create(team=Team.objects.get(slug=team), user_id=member_caller.user_id)
    return team


def moved(caller: Caller, memory: MemoryView, now: datetime, **changes: str) -> MemoryView:
    return revise(caller=caller, memory_id=memory.id, changes=changes, if_version=None, now=now)


def citations(caller: Caller) -> str:
    return repr(places.changes_since(caller=caller, after=0, limit=200))


def test_a_memory_moves_between_teams(store: str, both: str, caller: Caller, now: datetime) -> None:
    with tenancy.unit():
        other = Team.objects.create(slug="night", name="Night")
        TeamMember.objects.create(team=other, user_id=caller.user_id)
    memory = stored(caller, now, OURS, project=store)

    first = moved(caller, memory, now, scope="team", team=both)
    second = moved(caller, memory, now, team="night")

    assert (first.scope, second.scope) == ("team", "team")
    assert first.team_id != second.team_id == other.id


def test_a_team_needs_its_scope(store: str, both: str, caller: Caller, now: datetime) -> None:
    memory = stored(caller, now, OURS, project=store)

    with pytest.raises(InvalidInput, match="scope team"):
        moved(caller, memory, now, team=both)


def test_what_a_note_said_before_it_was_shared_stays_its_authors(
    store: str, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    memory = stored(caller, now, MINE, project=store, scope="personal")
    moved(caller, memory, now, content=OURS)
    moved(caller, memory, now, scope="project", reason="for all")

    shown = memories.history(caller=member_caller, memory_id=memory.id)

    assert [view.content for view in shown] == [OURS]
    assert len(memories.history(caller=caller, memory_id=memory.id)) == 3
    assert "badly led" not in repr(shown)


def test_versions_do_not_tell_ids_of_audiences(store: str, caller: Caller, now: datetime) -> None:
    memory = stored(caller, now, OURS, project=store)
    moved(caller, memory, now, content=f"{OURS} It ends at six.")

    shown = memories.history(caller=caller, memory_id=memory.id)

    assert "audience" not in shown[1].fields


def test_the_feed_forgets_a_memory_for_those_it_is_taken_from(
    store: str, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    memory = stored(caller, now, OURS, project=store)
    assert str(memory.id) in citations(member_caller)

    moved(caller, memory, now, scope="personal")

    assert str(memory.id) not in citations(member_caller)
    assert str(memory.id) in citations(caller)


def test_agents_share_nothing_of_teams(
    store: str, both: str, caller: Caller, now: datetime
) -> None:
    memory = stored(caller, now, OURS, project=store, scope="team", team=both)

    with pytest.raises(Forbidden, match="Only a person"):
        moved(as_agent(caller), memory, now, scope="project")


def test_only_its_author_or_a_steward_takes_a_memory_from_others(
    store: str, both: str, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    memory = stored(caller, now, OURS, project=store)

    with pytest.raises(Forbidden, match="author or a steward"):
        moved(member_caller, memory, now, scope="team", team=both)

    steward = as_role(member_caller, Role.STEWARD)
    assert moved(steward, memory, now, scope="team", team=both).scope == "team"


@pytest.mark.parametrize("scope", ["team", "organization"])
def test_closed_projects_keep_theirs(both: str, caller: Caller, now: datetime, scope: str) -> None:
    closed = create_project(caller=caller, slug="closed", name="C", open_to_all=False, now=now)
    given = {"team": both} if scope == "team" else {}

    with pytest.raises(InvalidInput, match="closed project"):
        stored(caller, now, OURS, project=closed.slug, scope=scope, **given)

    with tenancy.unit():
        assert ProjectMember.objects.filter(project_id=closed.id).count() == 1
    assert stored(caller, now, OURS, project=closed.slug, scope="personal").scope == "personal"
