"""The job behind an ended session: who lost their rights is told so once."""

from datetime import datetime, timedelta

import pytest

from accounts import jobs, tenancy
from accounts.caller import Caller, Role
from accounts.models import Membership
from memory.actions import session_upkeep
from memory.actions.append_turns import NewTurn, append_turns
from memory.actions.consolidate import consolidate
from memory.actions.end_session import end_session
from memory.actions.open_session import NewSession, open_session
from memory.models import Turn
from memory.queries.sessions import SessionView
from teams.models import Project

pytestmark = pytest.mark.usefixtures("in_organization")

DECISION = "We decided to move from Redis 6 to Valkey because of the license."


@pytest.fixture
def session(agent: Caller, store: str, now: datetime) -> SessionView:
    """An ended session of the agent with a turn worth keeping."""
    found = open_session(caller=agent, new=NewSession(project=store), now=now).session
    turn = NewTurn(role="user", text=DECISION)
    append_turns(caller=agent, session_id=found.id, turns=(turn,), now=now)
    end_session(caller=agent, session_id=found.id, now=now)
    return found


def test_turns_of_a_session_that_nothing_was_taken_from_are_forgotten_too(
    session: SessionView, now: datetime
) -> None:
    session_upkeep.forget(now=now + timedelta(days=session_upkeep.KEEP_TURNS_DAYS - 1))
    with tenancy.unit():
        assert Turn.objects.count() == 1

    session_upkeep.forget(now=now + timedelta(days=session_upkeep.KEEP_TURNS_DAYS + 1))

    with tenancy.unit():
        assert Turn.objects.count() == 0


def test_who_may_not_write_any_more_is_told_so_once(
    agent: Caller, session: SessionView, now: datetime
) -> None:
    with tenancy.walled(organization_id=agent.organization_id):
        Membership.objects.filter(user_id=agent.user_id).update(role=Role.VIEWER.value)

    with pytest.raises(jobs.PermanentFailure, match="no write scope"):
        consolidate(session_id=session.id, now=now, tell=lambda done, total: None)


def test_who_does_not_see_the_project_any_more_is_told_so_once(
    store: str, session: SessionView, now: datetime
) -> None:
    with tenancy.unit():
        Project.objects.filter(slug=store).update(open_to_all=False)

    with pytest.raises(jobs.PermanentFailure, match="no project"):
        consolidate(session_id=session.id, now=now, tell=lambda done, total: None)
