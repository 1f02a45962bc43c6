"""What hooks tell has no moment: it happened when it came, and a call took the time before it."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.observer.actions.finalize import finalize
from memory.observer.signals import effort
from memory.sessions.actions import scratchpads
from memory.sessions.actions.append_events import cleaned, store_next
from memory.sessions.actions.end_session import end_session
from memory.sessions.actions.open_session import NewSession, open_session
from memory.sessions.counters import Kind
from memory.sessions.models import Session, Statistic
from memory.sessions.queries.sessions import SessionView
from memory.sessions.scratchpad import Scratchpad

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def session(agent: Caller, store: str, now: datetime) -> SessionView:
    """An open session whose program says no type."""
    new = NewSession(project=store, cwd="/r")
    return open_session(caller=agent, new=new, now=now).session


def heard(session: SessionView, name: str, at: datetime, **given: Any) -> None:
    """Tell a call with its result, as a hook behind the call does."""
    same = {"name": name, "call": f"{name}{at}"}
    call = {"sequence": 1, "kind": "tool_call", **same, "args": given}
    rows = (call, {"sequence": 2, "kind": "tool_result", **same})
    with tenancy.unit():
        row = Session.objects.select_for_update().get(pk=session.id)
        store_next(row=row, clean=cleaned(events=rows), now=at)


def scratchpad(session: SessionView) -> Scratchpad:
    """Fold what was told."""
    with tenancy.unit():
        opened = scratchpads.read(row=Session.objects.get(pk=session.id))
    return scratchpads.settled(opened=opened)


def test_the_time_between_two_files_is_known(
    agent: Caller, session: SessionView, now: datetime
) -> None:
    heard(session, "Edit", now, file_path="/r/a.py")
    heard(session, "Edit", now + timedelta(seconds=40), file_path="/r/b.py")
    end_session(caller=agent, session_id=session.id, now=now + timedelta(seconds=50))

    finalize(session_id=session.id, now=now + timedelta(seconds=60))

    with tenancy.unit():
        edge = Statistic.objects.get(kind=Kind.EDGE.value).counts
    assert (edge["timed"], edge["apart_ms"]) == (1, 40_000)
    assert edge["task:terminal"] == 1


def test_a_call_that_took_far_longer_than_the_others_is_seen(
    session: SessionView, now: datetime
) -> None:
    at = now
    for number, seconds in enumerate((0, 3, 3, 3, 3, 3, 400)):
        at += timedelta(seconds=seconds)
        heard(session, "Bash", at, command=f"make t{number}")

    (found,) = effort.find_time_anomaly(scratchpad=scratchpad(session))

    assert dict(found.details) == {"seconds": "400", "usual": "3"}
