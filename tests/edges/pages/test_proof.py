"""How a memory was learned and dead ends entered again, on pages; for who may see it."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from memory.index import queries as index_queries
from memory.observer.actions.finalize import finalize
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from memory.sessions.actions.append_events import append_events
from memory.sessions.actions.lifecycle import NewSession, end_session, open_session
from memory.sessions.models import Session
from tests.support import memories

BRANCH = "fix-the-token-refresh"
REST = {"sequence": 13, "step": 5, "file": "middleware/auth.ts", "line": 118}


def learned(caller: Caller, memory: MemoryView, now: datetime, *, shared: bool, sign: str) -> UUID:
    """Let a memory be learned in a session of the caller's, by a signal or in a turn."""
    with entered(caller):
        new = NewSession(project="shop", branch=BRANCH, shared=shared)
        session = open_session(caller=caller, new=new, now=now).session
        kept = {"key": "error_retry:x", "memory_id": str(memory.id), "sessions": 3}
        with tenancy.unit():
            Session.objects.filter(pk=session.id).update(
                agent="claude-code", observed={"promoted": [{**kept, "evidence": [REST]}]}
            )
            Memory.objects.filter(pk=memory.id).update(
                session_id=session.id, source_uri=f"session:{session.id}#{sign}", source_line=2
            )
    return session.id


def page_of(client: Client, memory: MemoryView) -> str:
    """Return the page of a memory."""
    return client.get(f"/o/acme/p/shop/memories/{memory.id}").content.decode()


def test_a_signal_is_told_with_its_session_events_and_lines(
    viewer_pages: Client, caller: Caller, memory: MemoryView, now: datetime
) -> None:
    session_id = learned(caller, memory, now, shared=True, sign="error_retry-1234")

    page = page_of(viewer_pages, memory)
    with entered(caller), tenancy.unit():
        Memory.objects.filter(pk=memory.id).update(session_id=None)
    only_named = page_of(viewer_pages, memory)

    at = f"/o/acme/p/shop/sessions/{session_id}"
    for text in (
        f'href="{at}">claude-code</a>', BRANCH, "An error and its fix", "3 sessions show it",
        f'href="{at}?event=13#steps">event 13</a>', "<code>middleware/auth.ts:118</code>",
    ):  # fmt: skip
        assert text in page
    assert BRANCH not in only_named
    assert "One that is gone, or that you may not see" in only_named


def test_the_inbox_tells_the_same_and_nothing_of_a_hidden_session(
    owner_pages: Client, viewer_pages: Client, caller: Caller, memory: MemoryView, now: datetime
) -> None:
    with entered(caller), tenancy.unit():
        Memory.objects.filter(pk=memory.id).update(needs_review=True)
        index_queries.sync_filters(memory_ids=(memory.id,))
    session_id = learned(caller, memory, now, shared=False, sign="error_retry-1234")
    address = f"/o/acme/p/shop/inbox?peek={memory.id}"

    own = owner_pages.get(address).content.decode()
    others = viewer_pages.get(address).content.decode()

    at = f"/o/acme/p/shop/sessions/{session_id}"
    assert f'href="{at}?event=13#steps">event 13</a>' in own
    assert "An error and its fix" in own
    assert "One that is gone, or that you may not see" in others
    assert str(session_id) not in others


def test_a_turn_is_told_with_its_line(
    owner_pages: Client, caller: Caller, memory: MemoryView, now: datetime
) -> None:
    session_id = learned(caller, memory, now, shared=False, sign="turn-4")

    page = page_of(owner_pages, memory)

    assert f"/sessions/{session_id}?after=3#turn-4" in page
    assert "line 2" in page
    assert "An error and its fix" not in page


@pytest.mark.parametrize("source", ["session:notes from monday", "session:", "session:12#turn-4"])
def test_a_source_of_somebody_s_own_words_is_shown_as_it_is(
    owner_pages: Client, caller: Caller, memory: MemoryView, source: str
) -> None:
    with entered(caller), tenancy.unit():
        Memory.objects.filter(pk=memory.id).update(source_uri=source)

    page = page_of(owner_pages, memory)

    assert f"<dt>Source</dt><dd><code>{source}</code></dd>" in page


@pytest.mark.parametrize("sign", ["error_retry-1234", "turn-4"])
def test_nothing_is_told_of_a_session_that_one_may_not_see(
    viewer_pages: Client, caller: Caller, memory: MemoryView, now: datetime, sign: str
) -> None:
    session_id = learned(caller, memory, now, shared=False, sign=sign)

    page = page_of(viewer_pages, memory)

    assert "One that is gone, or that you may not see" in page
    told = (str(session_id), BRANCH, "An error and its fix", "event 13", "turn 4", ":118")
    assert [one for one in told if one in page] == []


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


def test_a_dead_end_entered_again_is_named_on_both_pages(
    owner_pages: Client, shop: str, again: tuple[MemoryView, Any]
) -> None:
    memory, session = again

    page = owner_pages.get(f"{shop}sessions/{session.id}").content.decode()
    own = owner_pages.get(f"{shop}memories/{memory.id}").content.decode()

    for text in ("Known dead ends that were entered again", str(memory.id), "had not been told"):
        assert text in page
    for text in ("Entered again", "by 1 session, 0 of them told before"):
        assert text in own
