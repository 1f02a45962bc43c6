"""Sessions and what was given out stay with whom they belong to."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.errors import NotFound
from accounts.models import Organization
from accounts.queries import job_list
from memory.intake.actions.remember import remember
from memory.search.actions import search
from memory.search.request import SearchRequest
from memory.sessions import queries as sessions
from memory.sessions.actions.append_turns import NewTurn, append_turns
from memory.sessions.actions.lifecycle import NewSession, end_session, open_session
from memory.sessions.queries import SessionView
from teams.actions import create_project
from teams.models import Project, ProjectMember
from tests.support import memories, people

pytestmark = pytest.mark.usefixtures("in_organization")

KNOWN = "Webhooks are retried 11 times with growing pauses, then parked for a person."


@pytest.fixture
def agent(member_caller: Caller) -> Caller:
    """An agent with the member's token."""
    return memories.as_agent(member_caller)


@pytest.fixture
def store(caller: Caller, in_organization: tenancy.Tenant, now: datetime) -> str:
    """A closed project that the member belongs to."""
    return create_project(
        caller=caller, slug="store", name="Store", open_to_all=False, now=now
    ).slug


@pytest.fixture
def other_member(organization: Organization, member_caller: Caller) -> Caller:
    """Another member of the organization."""
    person = people.make_person(
        organization=organization, email="other@acme.test", role=Role.MEMBER
    )
    return replace(member_caller, user_id=person.id)


@pytest.fixture
def inside(store: str, member_caller: Caller) -> None:
    """The member belongs to the project."""
    with tenancy.unit():
        row = Project.objects.get(slug=store)
        ProjectMember.objects.get_or_create(project=row, user_id=_person(member_caller))


def _person(caller: Caller) -> UUID:
    assert caller.user_id is not None
    return caller.user_id


def opened(caller: Caller, now: datetime, **given: object) -> SessionView:
    """Open a session with a turn."""
    new = NewSession(**given)  # type: ignore[arg-type]
    session = open_session(caller=caller, new=new, now=now).session
    turn = NewTurn(role="user", text=KNOWN)
    append_turns(caller=caller, session_id=session.id, turns=(turn,), now=now)
    return session


def listed(caller: Caller, **given: object) -> list[object]:
    """Return the ids that a caller is told."""
    wanted = {"project": None, "state": None, "after": None, "limit": 50, **given}
    return [one.id for one in sessions.sessions(caller=caller, **wanted).items]  # type: ignore[arg-type]


@pytest.mark.usefixtures("inside")
def test_a_personal_session_is_not_listed_to_an_owner(
    agent: Caller, caller: Caller, store: str, now: datetime
) -> None:
    session = opened(agent, now, project=store, thread="secret-thread")

    assert listed(agent) == [session.id]
    assert listed(caller) == []
    assert listed(caller, project=store) == []


@pytest.mark.usefixtures("inside")
def test_a_token_bound_elsewhere_sees_none_of_its_persons_sessions_here(
    agent: Caller, store: str, now: datetime
) -> None:
    session = opened(agent, now, project=store)
    bound = replace(agent, bound_projects=(uuid4(),))

    assert listed(bound) == []
    with pytest.raises(NotFound):
        sessions.session(caller=bound, session_id=session.id)


@pytest.mark.usefixtures("inside")
def test_who_left_a_project_does_not_see_what_is_shared_there(
    agent: Caller, caller: Caller, store: str, now: datetime
) -> None:
    session = opened(caller, now, project=store, shared=True)
    assert listed(agent) == [session.id]

    with tenancy.unit():
        ProjectMember.objects.filter(user_id=_person(agent)).delete()

    assert listed(agent) == []
    with pytest.raises(NotFound, match="There is no such session"):
        sessions.session(caller=agent, session_id=session.id)


@pytest.mark.usefixtures("inside")
def test_the_job_behind_a_session_is_told_to_who_opened_it(
    agent: Caller, store: str, now: datetime, other_member: Caller
) -> None:
    job_id = end_session(
        caller=agent, session_id=opened(agent, now, project=store).id, now=now
    ).job_id

    assert job_id is not None
    assert job_list.find_job(caller=agent, job_id=job_id).name == "memory.consolidate"
    with pytest.raises(NotFound):
        job_list.find_job(caller=other_member, job_id=job_id)


@pytest.mark.usefixtures("inside")
def test_what_may_not_be_seen_any_more_is_not_compared(
    agent: Caller, caller: Caller, store: str, now: datetime
) -> None:
    memories.stored(caller, now, KNOWN, project=store)
    request = SearchRequest(query="webhooks retried parked", threshold=0.0)
    assert search(caller=agent, request=request, now=now).hits
    with tenancy.unit():
        ProjectMember.objects.filter(user_id=_person(agent)).delete()

    outcome = remember(caller=agent, new=memories.new(KNOWN, source="agent_explicit"), now=now)

    assert outcome.outcome == "added"
