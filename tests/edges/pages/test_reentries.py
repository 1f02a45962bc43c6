"""Dead ends that were entered again, on the page of the session and of the memory."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from memory.observer.actions.finalize import finalize
from memory.records.queries.views import MemoryView
from memory.sessions.actions.append_events import append_events
from memory.sessions.actions.end_session import end_session
from memory.sessions.actions.open_session import NewSession, open_session
from tests.support import memories

COMMAND = "npm audit fix --force"
EVENTS = (
    {"sequence": 1, "kind": "tool_call", "name": "Bash", "args": {"command": COMMAND}},
    {"sequence": 2, "kind": "session_complete", "outcome": "success"},
)


@pytest.fixture
def again(caller: Caller, shop: str, now: datetime) -> tuple[MemoryView, Any]:
    """A dead end, and a session of its owner that entered it."""
    with entered(caller):
        memory = memories.stored(
            caller, now - timedelta(days=1), f"Running `{COMMAND}` broke the lock file.",
            project="shop", type="dead_end",
            attributes={"approach": f"running `{COMMAND}`", "why_it_failed": "The lock file."},
        )  # fmt: skip
        new = NewSession(project="shop", cwd="/home/ana/shop", shared=True)
        session = open_session(caller=caller, new=new, now=now).session
        append_events(caller=caller, session_id=session.id, events=EVENTS, now=now)
        end_session(caller=caller, session_id=session.id, now=now)
        finalize(session_id=session.id, now=now)
    return memory, session


def test_the_page_of_the_session_names_the_dead_end(
    owner_pages: Client, shop: str, again: tuple[MemoryView, Any]
) -> None:
    memory, session = again

    page = owner_pages.get(f"{shop}sessions/{session.id}").content.decode()

    assert "Known dead ends that were entered again" in page
    assert str(memory.id) in page
    assert "had not been told" in page


def test_the_page_of_the_memory_counts_the_sessions(
    owner_pages: Client, shop: str, again: tuple[MemoryView, Any]
) -> None:
    page = owner_pages.get(f"{shop}memories/{again[0].id}").content.decode()

    assert "Entered again" in page
    assert "by 1 session, 0 of them told before" in page


def test_another_dead_end_counts_nothing(
    owner_pages: Client, shop: str, caller: Caller, again: tuple[MemoryView, Any], now: datetime
) -> None:
    with entered(caller):
        other = memories.stored(
            caller, now, "We tried sharding by city; it was slow.", project="shop", type="dead_end"
        )

    page = owner_pages.get(f"{shop}memories/{other.id}").content.decode()

    assert "Entered again" not in page
