"""The job behind an ended session: one at a time, caps hold, lost rights are told once."""

from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from django.conf import settings
from django.utils import timezone

from accounts import jobs, tenancy
from accounts.caller import Caller, Role
from accounts.errors import Unavailable
from accounts.models import Membership
from memory.observer.actions.consolidate import consolidate
from memory.sessions.actions import end_session as session_upkeep
from memory.sessions.actions.append_turns import NewTurn, append_turns
from memory.sessions.actions.end_session import end_session
from memory.sessions.actions.open_session import NewSession, open_session
from memory.sessions.models import Session, Turn
from memory.sessions.queries.sessions import SessionView
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
    session_upkeep.forget(now=now + timedelta(days=settings.KEEP_TURNS_DAYS - 1))
    with tenancy.unit():
        assert Turn.objects.count() == 1

    session_upkeep.forget(now=now + timedelta(days=settings.KEEP_TURNS_DAYS + 1))

    with tenancy.unit():
        assert Turn.objects.count() == 0


def test_who_may_not_write_any_more_is_told_so_once(
    agent: Caller, session: SessionView, now: datetime
) -> None:
    assert agent.user_id is not None
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


class Killed(Exception):
    """A worker that ends."""


def killed(done: int, total: int) -> None:
    """End the worker after its first part."""
    raise Killed


def test_a_run_that_was_killed_has_spent_what_it_spent(session: SessionView, now: datetime) -> None:
    holder = uuid4()
    with pytest.raises(Killed):
        consolidate(session_id=session.id, now=now, tell=killed, holder=holder)

    with tenancy.unit():
        result = Session.objects.get(pk=session.id).result
    assert (result["added"], result["turns"], result["candidates"]) == (1, 1, 1)

    consolidate(session_id=session.id, now=now, tell=print, holder=holder)

    with tenancy.unit():
        row = Session.objects.get(pk=session.id)
    assert (row.result["added"], row.result["turns"], row.state) == (1, 1, "consolidated")


def test_a_session_is_read_by_one_job_at_a_time(session: SessionView, now: datetime) -> None:
    seen: list[str] = []

    def tell(done: int, total: int) -> None:
        with pytest.raises(Unavailable, match="Another job reads this session"):
            consolidate(session_id=session.id, now=now, tell=killed)
        seen.append("waits")

    consolidate(session_id=session.id, now=now, tell=tell)
    after = consolidate(session_id=session.id, now=now, tell=killed)

    assert seen == ["waits"]
    assert after["why"] == "There was no new turn to look at."


def test_who_is_silent_for_too_long_is_gone_and_does_not_go_on(
    session: SessionView, now: datetime
) -> None:
    def tell(done: int, total: int) -> None:
        with tenancy.unit():
            Session.objects.update(read_until=timezone.now() - timedelta(seconds=1))
        consolidate(session_id=session.id, now=now, tell=print)

    with pytest.raises(Unavailable):
        consolidate(session_id=session.id, now=now, tell=tell)

    with tenancy.unit():
        row = Session.objects.get(pk=session.id)
    assert (row.state, row.result["added"]) == ("consolidated", 1)
