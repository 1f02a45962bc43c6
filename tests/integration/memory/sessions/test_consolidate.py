"""The job behind an ended session: one at a time, caps hold, lost rights are told once."""

from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from accounts import jobs, tenancy
from accounts.caller import Caller, Role
from accounts.errors import InvalidInput, Unavailable
from accounts.models import Membership
from memory.observer.actions.consolidate import consolidate
from memory.records.models import Memory
from memory.sessions.actions.append_turns import LARGEST_SEQUENCE, NewTurn, append_turns
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


TRAP = "The importer fails with LockTimeout when two workers start together."


@pytest.fixture
def running(agent: Caller, store: str, now: datetime) -> SessionView:
    """An open session of the agent."""
    return open_session(caller=agent, new=NewSession(project=store), now=now).session


def says(number: int | None, text: str = "Thanks, that looks good.") -> NewTurn:
    """Return a turn of a person."""
    return NewTurn(role="user", text=text, sequence=number)


def test_turns_that_come_late_are_read_by_the_next_end(
    agent: Caller, running: SessionView, now: datetime
) -> None:
    after = (says(6, DECISION), *(says(number) for number in range(7, 11)))
    before = (
        says(1),
        says(2),
        says(3, TRAP),
        says(4),
        says(5),
    )

    seen = []
    for turns in (after, before):
        append_turns(caller=agent, session_id=running.id, turns=turns, now=now)
        end_session(caller=agent, session_id=running.id, now=now)
        seen.append(consolidate(session_id=running.id, now=now, tell=lambda done, total: None))

    with tenancy.unit():
        assert set(Memory.objects.values_list("content", flat=True)) == {DECISION, TRAP}
    assert [one["added"] for one in seen] == [1, 1]
    again = consolidate(session_id=running.id, now=now, tell=lambda done, total: None)
    assert again["why"] == "There was no new turn to look at."


def test_turns_that_come_while_a_session_is_read_are_read_too(
    agent: Caller, running: SessionView, now: datetime
) -> None:
    append_turns(
        caller=agent,
        session_id=running.id,
        turns=(says(6, DECISION),),
        now=now,
    )
    end_session(caller=agent, session_id=running.id, now=now)
    late = [says(3, TRAP)]

    def tell(done: int, total: int) -> None:
        if late:
            append_turns(caller=agent, session_id=running.id, turns=(late.pop(),), now=now)

    consolidate(session_id=running.id, now=now, tell=tell)

    with tenancy.unit():
        assert set(Memory.objects.values_list("content", flat=True)) == {DECISION, TRAP}


def test_nothing_comes_after_the_largest_sequence(
    agent: Caller, running: SessionView, now: datetime
) -> None:
    turns = (says(LARGEST_SEQUENCE), says(None))

    with pytest.raises(InvalidInput) as refused:
        append_turns(caller=agent, session_id=running.id, turns=turns, now=now)

    assert [one.pointer for one in refused.value.errors] == ["/turns/1/sequence"]
    with tenancy.unit():
        assert not Turn.objects.exists()
