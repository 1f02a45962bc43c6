"""A plan of files that is obeyed does not keep itself."""

from datetime import datetime, timedelta
from typing import Any, Final

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.injection.actions import delivery_log
from memory.records.models import Memory
from memory.sessions.actions.append_events import append_events
from memory.sessions.counters import Kind
from memory.sessions.models import GivenOut, Session
from memory.sessions.queries.sessions import SessionView
from tests.integration.memory.sessions.test_finalize import counted, ended, opened
from tests.support import memories

READ: Final = "/home/ana/shop/src/shop/prices.py"
EDITED: Final = "/home/ana/shop/src/shop/cart.py"

pytestmark = pytest.mark.usefixtures("in_organization")


def call(sequence: int, tool: str, path: str) -> dict[str, Any]:
    """Return the event of a call."""
    args = {"file_path": path, "old_string": "a", "new_string": str(sequence)}
    return {"sequence": sequence, "kind": "tool_call", "name": tool, "args": args}


def begun(caller: Caller, store: str, now: datetime, *events: dict[str, Any]) -> SessionView:
    """Open a session in which this was done."""
    session = opened(caller, now, project=store)
    if events:
        append_events(caller=caller, session_id=session.id, events=events, now=now)
    return session


def told_of(session: SessionView, *paths: str) -> None:
    """Let its plan name files."""
    with tenancy.unit():
        row = Session.objects.get(pk=session.id)
        delivery_log.record_suggested_files(session=row, paths=paths)


def works(caller: Caller, session: SessionView, now: datetime) -> Session:
    """Read one file and edit another behind whatever was told, and end."""
    events = (call(10, "Read", READ), call(12, "Edit", EDITED))
    append_events(caller=caller, session_id=session.id, events=events, now=now)
    return ended(caller, session, now)


def test_a_read_that_a_plan_named_is_in_no_sum_and_an_edit_is(
    agent: Caller, store: str, now: datetime
) -> None:
    session = begun(agent, store, now)
    told_of(session, "src/shop/prices.py", "src/shop/cart.py")

    row = works(agent, session, now)

    assert set(counted(Kind.FILE)) == {"src/shop/cart.py"}
    assert row.observed is not None
    assert row.observed["tools"] == 2  # what it did is told as it was


def test_what_it_had_read_before_it_was_told_counts(
    agent: Caller, store: str, now: datetime
) -> None:
    session = begun(agent, store, now, call(1, "Read", READ))
    told_of(session, "src/shop/prices.py")

    works(agent, session, now)

    assert set(counted(Kind.FILE)) == {"src/shop/cart.py", "src/shop/prices.py"}


def test_the_files_of_a_memory_that_was_given_are_named_too(
    agent: Caller, store: str, now: datetime
) -> None:
    known = memories.stored(
        agent, now, project=store, scope="personal", related_files=("src/shop/prices.py",)
    )
    session = begun(agent, store, now)
    with tenancy.unit():
        GivenOut.objects.create(
            memory_id=known.id, person=agent.user_id, at=now, session_id=session.id, after_event=0
        )

    works(agent, session, now)

    assert set(counted(Kind.FILE)) == {"src/shop/cart.py"}


def test_a_memory_that_was_given_to_several_agents_counts_from_the_first(
    agent: Caller, store: str, now: datetime
) -> None:
    path = "src/shop/prices.py"
    known = memories.stored(agent, now, project=store, scope="personal", related_files=(path,))
    session = begun(agent, store, now)
    with tenancy.unit():
        for name, after in (("a", 7), ("", 3), ("b", 9), ("c", None)):
            GivenOut.objects.create(
                memory_id=known.id, at=now, session_id=session.id, agent=name, after_event=after
            )

        found = delivery_log.suggested_files(session=Session.objects.get(pk=session.id))

    assert found == {path: 3}


def test_a_session_that_goes_on_still_knows_what_it_was_told(
    agent: Caller, store: str, now: datetime
) -> None:
    session = begun(agent, store, now)
    told_of(session, "src/shop/prices.py")
    works(agent, session, now)
    later = now + timedelta(hours=1)
    append_events(caller=agent, session_id=session.id, events=(call(14, "Read", READ),), now=later)

    ended(agent, session, later)

    assert set(counted(Kind.FILE)) == {"src/shop/cart.py"}
    with tenancy.unit():
        assert not Memory.objects.filter(type="prefetch_pattern").exists()
