"""Turns that come late, or with the largest sequence there is: read, or refused; never lost."""

from datetime import datetime

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput
from memory.observer.actions.consolidate import consolidate
from memory.records.models import Memory
from memory.sessions.actions.append_turns import LARGEST_SEQUENCE, NewTurn, append_turns
from memory.sessions.actions.end_session import end_session
from memory.sessions.actions.open_session import NewSession, open_session
from memory.sessions.models import Turn
from memory.sessions.queries.sessions import SessionView

pytestmark = pytest.mark.usefixtures("in_organization")

DECISION = "We decided to move from Redis 6 to Valkey because of the license."
TRAP = "The importer fails with LockTimeout when two workers start together."


@pytest.fixture
def session(agent: Caller, store: str, now: datetime) -> SessionView:
    """An open session of the agent."""
    return open_session(caller=agent, new=NewSession(project=store), now=now).session


def said(number: int | None, text: str = "Thanks, that looks good.") -> NewTurn:
    """Return a turn of a person."""
    return NewTurn(role="user", text=text, sequence=number)


def test_turns_that_come_late_are_read_by_the_next_end(
    agent: Caller, session: SessionView, now: datetime
) -> None:
    after = (said(6, DECISION), *(said(number) for number in range(7, 11)))
    before = (said(1), said(2), said(3, TRAP), said(4), said(5))

    seen = []
    for turns in (after, before):
        append_turns(caller=agent, session_id=session.id, turns=turns, now=now)
        end_session(caller=agent, session_id=session.id, now=now)
        seen.append(consolidate(session_id=session.id, now=now, tell=lambda done, total: None))

    with tenancy.unit():
        assert set(Memory.objects.values_list("content", flat=True)) == {DECISION, TRAP}
    assert [one["added"] for one in seen] == [1, 1]
    again = consolidate(session_id=session.id, now=now, tell=lambda done, total: None)
    assert again["why"] == "There was no new turn to look at."


def test_turns_that_come_while_a_session_is_read_are_read_too(
    agent: Caller, session: SessionView, now: datetime
) -> None:
    append_turns(caller=agent, session_id=session.id, turns=(said(6, DECISION),), now=now)
    end_session(caller=agent, session_id=session.id, now=now)
    late = [said(3, TRAP)]

    def tell(done: int, total: int) -> None:
        if late:
            append_turns(caller=agent, session_id=session.id, turns=(late.pop(),), now=now)

    consolidate(session_id=session.id, now=now, tell=tell)

    with tenancy.unit():
        assert set(Memory.objects.values_list("content", flat=True)) == {DECISION, TRAP}


def test_nothing_comes_after_the_largest_sequence(
    agent: Caller, session: SessionView, now: datetime
) -> None:
    turns = (said(LARGEST_SEQUENCE), said(None))

    with pytest.raises(InvalidInput) as refused:
        append_turns(caller=agent, session_id=session.id, turns=turns, now=now)

    assert [one.pointer for one in refused.value.errors] == ["/turns/1/sequence"]
    with tenancy.unit():
        assert not Turn.objects.exists()
