"""How a memory was learned and dead ends entered again, on pages; for who may see it."""

from datetime import timedelta
from typing import Any

import pytest

from accounts import tenancy
from accounts.authentication import entered
from memory.index import queries as index_queries
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from tests.edges.pages.session_pages import PageRun, Pages
from tests.support import memories
from tests.support.agent_runs import in_order

BRANCH = "fix-the-token-refresh"
REST = {"sequence": 13, "step": 5, "file": "middleware/auth.ts", "line": 118}
HIDDEN = "One that is gone, or that you may not see"


def change(pages: Pages, memory: MemoryView, **fields: Any) -> None:
    """Set columns of a memory."""
    with entered(pages.caller), tenancy.unit():
        Memory.objects.filter(pk=memory.id).update(**fields)
        index_queries.sync_filters(memory_ids=(memory.id,))


def learned(pages: Pages, memory: MemoryView, *, shared: bool, sign: str) -> PageRun:
    """Let a memory be learned in a session of the owner's, by a signal or in a turn."""
    run = pages.opened(branch=BRANCH, shared=shared)
    kept = {"key": "error_retry:x", "memory_id": str(memory.id), "sessions": 3, "evidence": [REST]}
    with entered(pages.caller):
        run.update(observed={"promoted": [kept]})
    source = f"session:{run.id}#{sign}"
    change(pages, memory, session_id=run.id, source_uri=source, source_line=2)
    return run


def page_of(pages: Pages, memory: MemoryView, client: Any = None) -> str:
    """Return the page of a memory."""
    return pages.text(f"{pages.shop}memories/{memory.id}", client)


def test_a_signal_is_told_with_its_session_events_and_lines(
    pages: Pages, memory: MemoryView
) -> None:
    run = learned(pages, memory, shared=True, sign="error_retry-1234")

    page = page_of(pages, memory, pages.viewer)

    assert f'href="{run.address}">claude-code</a>' in page
    assert BRANCH in page
    assert "An error and its fix" in page
    assert "3 sessions show it" in page
    assert f'href="{run.address}?event=13#steps">event 13</a>' in page
    assert "<code>middleware/auth.ts:118</code>" in page


def test_the_inbox_tells_the_same_and_nothing_of_a_hidden_session(
    pages: Pages, memory: MemoryView
) -> None:
    change(pages, memory, needs_review=True)
    run = learned(pages, memory, shared=False, sign="error_retry-1234")
    address = f"{pages.shop}inbox?peek={memory.id}"

    own, others = pages.text(address), pages.text(address, pages.viewer)

    assert f'href="{run.address}?event=13#steps">event 13</a>' in own
    assert "An error and its fix" in own
    assert HIDDEN in others
    assert str(run.id) not in others


def test_a_turn_is_told_with_its_line(pages: Pages, memory: MemoryView) -> None:
    run = learned(pages, memory, shared=False, sign="turn-4")

    page = page_of(pages, memory)

    assert f"{run.address}?after=3#turn-4" in page
    assert "line 2" in page
    assert "An error and its fix" not in page


def test_a_source_of_somebody_s_own_words_is_shown_as_it_is(
    pages: Pages, memory: MemoryView
) -> None:
    for source in ("session:notes from monday", "session:", "session:12#turn-4"):
        change(pages, memory, source_uri=source)

        assert f"<dt>Source</dt><dd><code>{source}</code></dd>" in page_of(pages, memory)


@pytest.mark.parametrize("sign", ["error_retry-1234", "turn-4"])
def test_nothing_is_told_of_a_session_that_one_may_not_see(
    pages: Pages, memory: MemoryView, sign: str
) -> None:
    run = learned(pages, memory, shared=False, sign=sign)

    page = page_of(pages, memory, pages.viewer)

    assert HIDDEN in page
    told = (str(run.id), BRANCH, "An error and its fix", "event 13", "turn 4", ":118")
    assert [one for one in told if one in page] == []


def test_an_origin_that_only_names_a_session_proves_nothing(
    pages: Pages, memory: MemoryView
) -> None:
    learned(pages, memory, shared=True, sign="error_retry-1234")
    change(pages, memory, session_id=None)

    page = page_of(pages, memory)

    assert BRANCH not in page
    assert HIDDEN in page


def test_a_dead_end_that_was_entered_again_is_named_by_the_session_and_counted_by_the_memory(
    pages: Pages,
) -> None:
    command = "npm audit fix --force"
    with entered(pages.caller):
        memory = memories.stored(
            pages.caller, pages.now - timedelta(days=1), f"Running `{command}` broke the lock.",
            project="shop", type="dead_end",
            attributes={"approach": f"running `{command}`", "why_it_failed": "The lock file."},
        )  # fmt: skip
    run = pages.opened(cwd="/home/ana/shop", shared=True)
    ran = {"kind": "tool_call", "name": "Bash", "args": {"command": command}}
    with entered(pages.caller):
        run.does(*in_order(ran, {"kind": "session_complete", "outcome": "success"}))
        run.finalized()

    page, counted = pages.text(run.address), page_of(pages, memory)

    assert "Known dead ends that were entered again" in page
    assert str(memory.id) in page
    assert "had not been told" in page
    assert "Entered again" in counted
    assert "by 1 session, 0 of them told before" in counted
