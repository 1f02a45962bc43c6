"""The job behind an ended session: one at a time, within its caps, of what was looked at."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from accounts import jobs, tenancy
from accounts.caller import Caller, Role
from accounts.errors import InvalidInput, Unavailable
from accounts.models import Membership
from memory.observer.actions.consolidate import consolidate
from memory.observer.actions.finalize import finalize
from memory.records.models import Memory
from memory.sessions.actions import lifecycle
from memory.sessions.actions.append_events import append_events
from memory.sessions.actions.append_turns import LARGEST_SEQUENCE, NewTurn, append_turns
from memory.sessions.actions.lifecycle import NewSession, end_session, open_session
from memory.sessions.models import Session, Turn
from memory.sessions.queries import SessionView
from teams.models import Project
from teams.trust import TrustLevel
from tests.integration.memory.sessions.test_trust import FETCHED
from tests.support import memories
from tests.support.trusting import stand

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


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        ("role", "no write scope"),
        ("project", "no project"),
        ("membership", "no longer belongs to the organization"),
    ],
)
def test_who_lost_what_it_takes_is_told_so_once(
    agent: Caller, store: str, session: SessionView, now: datetime, lost: str, words: str
) -> None:
    assert agent.user_id is not None
    if lost == "role":
        with tenancy.walled(organization_id=agent.organization_id):
            Membership.objects.filter(user_id=agent.user_id).update(role=Role.VIEWER.value)
    with tenancy.unit():
        if lost == "project":
            Project.objects.filter(slug=store).update(open_to_all=False)
        elif lost == "membership":
            Session.objects.update(opened_by=agent.token_id)

    with pytest.raises(jobs.PermanentFailure, match=words):
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
    before = (says(1), says(2), says(3, TRAP), says(4), says(5))

    seen = []
    for turns in (after, before):
        append_turns(caller=agent, session_id=running.id, turns=turns, now=now)
        with tenancy.unit():
            assert Session.objects.get(pk=running.id).state == "open"
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
    append_turns(caller=agent, session_id=running.id, turns=(says(6, DECISION),), now=now)
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


@pytest.fixture
def trusted(caller: Caller, store: str, now: datetime) -> SessionView:
    """An ended session of somebody who is not asked, with a turn worth keeping."""
    stand(caller, store, TrustLevel.CONFIDENT, now)
    new = NewSession(project=store)
    found = open_session(caller=memories.as_agent(caller), new=new, now=now).session
    asked = f"Remember that {DECISION[0].lower()}{DECISION[1:]}"
    speaks(caller, found, asked, now)
    ends(caller, found, now)
    return found


def speaks(caller: Caller, session: SessionView, text: str, now: datetime) -> None:
    """Append what the person said."""
    turn = NewTurn(role="user", text=text)
    append_turns(caller=memories.as_agent(caller), session_id=session.id, turns=(turn,), now=now)


def fetches(caller: Caller, session: SessionView, now: datetime) -> None:
    """Let the agent read a page."""
    agent = memories.as_agent(caller)
    append_events(caller=agent, session_id=session.id, events=FETCHED, now=now)


def ends(caller: Caller, session: SessionView, now: datetime) -> None:
    """End a session."""
    end_session(caller=memories.as_agent(caller), session_id=session.id, now=now)


def read(session: SessionView, now: datetime, tell: Any = lambda done, total: None) -> Any:
    """Take what is worth keeping of a session."""
    return consolidate(session_id=session.id, now=now, tell=tell)


def taken() -> dict[str, tuple[bool, str]]:
    """Return what was taken: whether it waits, and what it is tainted by."""
    with tenancy.unit():
        found = Memory.objects.filter(source="extracted")
        rows = list(found.values_list("content", "needs_review", "taint_reason"))
    return {content: (waits, reason) for content, waits, reason in rows}


def test_what_is_read_of_a_session_that_has_ended_needs_nobody_at_the_third_level(
    trusted: SessionView, now: datetime
) -> None:
    read(trusted, now)

    assert taken() == {DECISION: (False, "")}


def test_what_words_alone_have_found_waits_at_every_level(
    caller: Caller, trusted: SessionView, now: datetime
) -> None:
    speaks(caller, trusted, TRAP, now)
    ends(caller, trusted, now)

    read(trusted, now)

    assert taken() == {DECISION: (False, ""), TRAP: (True, "")}


def test_a_session_that_goes_on_before_it_is_read_is_left_to_its_next_end(
    caller: Caller, trusted: SessionView, now: datetime
) -> None:
    fetches(caller, trusted, now)

    first = read(trusted, now)
    before = taken()
    ends(caller, trusted, now)
    finalize(session_id=trusted.id, now=now)
    read(trusted, now)

    assert (first, before) == ({"gone": 1}, {})
    ((waits, reason),) = taken().values()
    assert waits
    assert reason


def test_a_session_that_goes_on_once_it_is_decided_about_is_read_once_and_waits(
    caller: Caller, trusted: SessionView, now: datetime
) -> None:
    later = now + timedelta(hours=lifecycle.LONGEST_HOURS, minutes=1)
    finalize(session_id=trusted.id, now=later)
    fetches(caller, trusted, later)

    due = lifecycle.end_idle(now=later)
    more = ({"sequence": 200, "kind": "prompt", "text": "Go on."},)
    append_events(caller=memories.as_agent(caller), session_id=trusted.id, events=more, now=later)
    counts = consolidate(
        session_id=trusted.id, now=later, tell=lambda done, total: None, is_decided=True
    )
    again = lifecycle.end_idle(now=later)

    assert (due, counts["turns"], again) == (1, 1, 0)
    assert taken() == {DECISION: (True, "")}
    with tenancy.unit():
        row = Session.objects.get(pk=trusted.id)
    assert (row.state, row.consolidated_at) == ("open", later)


def test_what_nobody_has_looked_at_makes_all_of_it_wait(
    caller: Caller, trusted: SessionView, now: datetime
) -> None:
    finalize(session_id=trusted.id, now=now)
    fetches(caller, trusted, now)
    ends(caller, trusted, now)

    read(trusted, now)

    assert taken() == {DECISION: (True, "")}


def test_what_comes_while_it_is_read_makes_the_rest_wait(
    caller: Caller, trusted: SessionView, now: datetime
) -> None:
    late = [TRAP]

    def tell(done: int, total: int) -> None:
        if late:
            fetches(caller, trusted, now)
            speaks(caller, trusted, late.pop(), now)

    read(trusted, now, tell)

    assert taken() == {DECISION: (False, ""), TRAP: (True, "")}
    with tenancy.unit():
        assert Session.objects.get(pk=trusted.id).state == "open"


def test_what_was_taken_from_a_tainted_session_is_tainted_like_what_was_promoted(
    caller: Caller, trusted: SessionView, now: datetime
) -> None:
    fetches(caller, trusted, now)
    speaks(caller, trusted, TRAP, now)
    ends(caller, trusted, now)
    finalize(session_id=trusted.id, now=now)

    read(trusted, now)

    with tenancy.unit():
        observed = Session.objects.get(pk=trusted.id).observed or {}
    assert observed["tainted_by"]
    assert taken() == dict.fromkeys((DECISION, TRAP), (True, observed["tainted_by"]))
