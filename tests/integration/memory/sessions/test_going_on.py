"""A session that goes on before or while it is read: what nobody has looked at is not trusted."""

from datetime import datetime, timedelta
from typing import Any, Final

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.observer.actions.consolidate import consolidate
from memory.observer.actions.finalize import finalize
from memory.records.models import Memory
from memory.sessions.actions import end_session as session_upkeep
from memory.sessions.actions.append_events import append_events
from memory.sessions.actions.append_turns import NewTurn, append_turns
from memory.sessions.actions.end_session import end_session
from memory.sessions.actions.open_session import NewSession, open_session
from memory.sessions.models import Session
from memory.sessions.queries.sessions import SessionView
from teams.trust import TrustLevel
from tests.integration.memory.sessions.test_trust import FETCHED
from tests.support import memories
from tests.support.trusting import stand

pytestmark = pytest.mark.usefixtures("in_organization")

DECISION: Final = "We decided to move from Redis 6 to Valkey because of the license."
TRAP: Final = "The importer fails with LockTimeout when two workers start together."


@pytest.fixture
def session(caller: Caller, store: str, now: datetime) -> SessionView:
    """An ended session of somebody who is not asked, with a turn worth keeping."""
    stand(caller, store, TrustLevel.CONFIDENT, now)
    new = NewSession(project=store)
    found = open_session(caller=memories.as_agent(caller), new=new, now=now).session
    says(caller, found, DECISION, now)
    ends(caller, found, now)
    return found


def says(caller: Caller, session: SessionView, text: str, now: datetime) -> None:
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
    session: SessionView, now: datetime
) -> None:
    read(session, now)

    assert taken() == {DECISION: (False, "")}


def test_a_session_that_goes_on_before_it_is_read_is_left_to_its_next_end(
    caller: Caller, session: SessionView, now: datetime
) -> None:
    fetches(caller, session, now)

    first = read(session, now)
    before = taken()
    ends(caller, session, now)
    finalize(session_id=session.id, now=now)
    read(session, now)

    assert (first, before) == ({"gone": 1}, {})
    ((waits, reason),) = taken().values()
    assert waits
    assert reason


def test_a_session_that_goes_on_once_it_is_decided_about_is_read_once_and_waits(
    caller: Caller, session: SessionView, now: datetime
) -> None:
    later = now + timedelta(hours=session_upkeep.LONGEST_HOURS, minutes=1)
    finalize(session_id=session.id, now=later)
    fetches(caller, session, later)

    due = session_upkeep.end_idle(now=later)
    more = ({"sequence": 200, "kind": "prompt", "text": "Go on."},)
    append_events(caller=memories.as_agent(caller), session_id=session.id, events=more, now=later)
    counts = consolidate(
        session_id=session.id, now=later, tell=lambda done, total: None, is_decided=True
    )
    again = session_upkeep.end_idle(now=later)

    assert (due, counts["turns"], again) == (1, 1, 0)
    assert taken() == {DECISION: (True, "")}
    with tenancy.unit():
        row = Session.objects.get(pk=session.id)
    assert (row.state, row.consolidated_at) == ("open", later)


def test_what_nobody_has_looked_at_makes_all_of_it_wait(
    caller: Caller, session: SessionView, now: datetime
) -> None:
    finalize(session_id=session.id, now=now)
    fetches(caller, session, now)
    ends(caller, session, now)

    read(session, now)

    assert taken() == {DECISION: (True, "")}


def test_what_comes_while_it_is_read_makes_the_rest_wait(
    caller: Caller, session: SessionView, now: datetime
) -> None:
    late = [TRAP]

    def tell(done: int, total: int) -> None:
        if late:
            fetches(caller, session, now)
            says(caller, session, late.pop(), now)

    read(session, now, tell)

    assert taken() == {DECISION: (False, ""), TRAP: (True, "")}
    with tenancy.unit():
        assert Session.objects.get(pk=session.id).state == "open"


def test_what_was_taken_from_a_tainted_session_is_tainted_like_what_was_promoted(
    caller: Caller, session: SessionView, now: datetime
) -> None:
    fetches(caller, session, now)
    says(caller, session, TRAP, now)
    ends(caller, session, now)
    finalize(session_id=session.id, now=now)

    read(session, now)

    with tenancy.unit():
        observed = Session.objects.get(pk=session.id).observed or {}
    assert observed["tainted_by"]
    assert taken() == dict.fromkeys((DECISION, TRAP), (True, observed["tainted_by"]))
