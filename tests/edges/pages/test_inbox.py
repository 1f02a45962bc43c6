"""The review inbox: groups, items, verdicts with their undo, bulk, and who sees what of it."""

import json
from datetime import UTC, datetime

import pytest
from django.http import HttpResponse
from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from tests.edges.pages.conftest import HTMX
from tests.edges.pages.session_pages import Pages
from tests.support.waiting import fields_of, many_waiting, waiting

INBOX = "/o/acme/p/shop/inbox"
STATEMENT = "Token refresh fails silently when Redis is unreachable; catch ECONNREFUSED."
OTHER = "We chose Postgres advisory locks for merging carts instead of optimistic retries."


def proposed(caller: Caller, content: str = STATEMENT, **given: object) -> MemoryView:
    """Let an agent of the caller propose something now."""
    with entered(caller):
        return waiting(caller, datetime.now(UTC), content, project="shop", **given)


def now_of(caller: Caller, memory: MemoryView) -> MemoryView:
    """Return the memory as it is now."""
    with entered(caller):
        return memories.get(caller=caller, memory_id=memory.id, now=datetime.now(UTC))


def undo_address(response: HttpResponse) -> str:
    """Return where the toast's undo posts to."""
    told = json.loads(response["HX-Trigger"])
    return str(told["cairn:toast"]["undo"])


@pytest.fixture
def due(shop: str, caller: Caller) -> MemoryView:
    """A memory that waits."""
    return proposed(caller, tags=("auth",))


def test_the_page_shows_groups_list_and_first_item(pages: Pages, due: MemoryView) -> None:
    page, rows, groups, overview, home = (
        pages.owner.get(address).text
        for address in (INBOX, f"{INBOX}/rows", f"{INBOX}/groups", pages.shop, "/o/acme/")
    )

    for text in (f'data-memory="{due.id}"', "Suggested", "claude-code"):
        assert text in page
    for text in (page, rows):
        assert f'id="row-{due.id}"' in text
    for text in (page, groups):
        assert "≈ 1 minute left" in text
    assert "<html" not in rows + groups
    assert 'Review inbox<span class="n num">1</span>' in overview
    assert '<b class="num">1</b>to review' in home


def test_peek_opens_that_item_and_no_other_project_has_it(pages: Pages, due: MemoryView) -> None:
    second = proposed(pages.caller, OTHER)
    pages.owner.post("/o/acme/projects/new", {"slug": "other", "name": "Other"})

    page = pages.owner.get(INBOX, {"peek": str(second.id)}).text
    elsewhere = pages.owner.get("/o/acme/p/other/inbox", {"peek": str(second.id)})

    assert f'data-memory="{second.id}"' in page
    assert elsewhere.status_code == 404


def test_keeping_shows_the_next_item_and_offers_to_undo(pages: Pages, due: MemoryView) -> None:
    second = proposed(pages.caller, OTHER)
    with entered(pages.caller):
        before = fields_of(due)

    response = pages.owner.post(f"{INBOX}/{due.id}/keep", **HTMX)
    kept = now_of(pages.caller, due)
    back = pages.owner.post(undo_address(response), **HTMX)

    assert f'data-memory="{second.id}"' in response.text
    assert f'id="row-{due.id}"' not in response.text
    assert (kept.verification, kept.needs_review) == ("verified", False)
    assert f'data-memory="{due.id}"' in back.text
    with entered(pages.caller):
        assert fields_of(due) == before


def test_a_verdict_asks_for_words_and_takes_no_secret(pages: Pages, due: MemoryView) -> None:
    for verb in ("reject", "merge", "snooze"):
        fragment = pages.owner.get(f"{INBOX}/{due.id}/{verb}", **HTMX)
        page = pages.owner.get(f"{INBOX}/{due.id}/{verb}")
        assert (fragment.status_code, page.status_code) == (200, 200)
        assert "modal-title" in fragment.text
        assert "<html" in page.text
    secret = f"{'AKIA'}Q7RZ1VB9KX3TN5WM"
    response = pages.owner.post(f"{INBOX}/{due.id}/reject", {"reason": f"key {secret}"}, **HTMX)

    assert response.status_code == 422
    assert secret not in response.text
    assert now_of(pages.caller, due).status == "active"


def test_a_selection_is_decided_and_undone_together(pages: Pages, due: MemoryView) -> None:
    second = proposed(pages.caller, OTHER)
    chosen = {"memory": [str(due.id), str(second.id)], "verb": "reject"}

    response = pages.owner.post(f"{INBOX}/bulk", chosen, **HTMX)
    gone = {now_of(pages.caller, one).status for one in (due, second)}
    pages.owner.post(undo_address(response), **HTMX)

    assert "2 memories decided." in response["HX-Trigger"]
    assert gone == {"archived"}
    assert {now_of(pages.caller, one).status for one in (due, second)} == {"active"}


def test_more_rows_are_shown_on_demand(owner_pages: Client, shop: str, caller: Caller) -> None:
    with entered(caller):
        many_waiting(caller, datetime.now(UTC), 120, project="shop")

    asked = ("", "100", "150", "-1", "x", "9" * 30)
    pages = [owner_pages.get(INBOX, {"rows": rows}).text for rows in asked]

    shown = [page.count('id="row-') for page in pages]
    assert shown == [50, 100, 120, 50, 50, 50]
    assert "rows=100" in pages[0]
    assert "rows=150" in pages[1]
    assert "Show more" not in pages[2]


def test_an_empty_inbox_says_what_the_week_brought(pages: Pages, due: MemoryView) -> None:
    seen = pages.viewer.get(INBOX).text
    refused = pages.viewer.post(f"{INBOX}/{due.id}/keep", **HTMX)
    untouched = now_of(pages.caller, due).confirmations
    pages.owner.post(f"{INBOX}/{due.id}/keep")

    page, item = pages.owner.get(INBOX).text, pages.owner.get(f"{INBOX}/{due.id}", **HTMX).text

    assert "Decided" in item
    assert "Viewers read" in seen
    assert (refused.status_code, untouched) == (403, 0)
    assert "No memories need review" in page
    assert "1 decision in the last seven days." in page


def test_editing_goes_on_with_the_next_item_and_is_undone(pages: Pages, due: MemoryView) -> None:
    second = proposed(pages.caller, OTHER)
    form = {"content": "Token refresh raises RefreshError since version four.", "kind": "wrong"}
    address = f"/o/acme/p/shop/memories/{due.id}/correct?inbox&group=new"
    with entered(pages.caller):
        before = fields_of(due)

    response = pages.owner.post(address, form, **HTMX)
    successor = now_of(pages.caller, due).superseded_by
    pages.owner.post(undo_address(response), **HTMX)

    assert f'data-memory="{second.id}"' in response.text
    assert successor is not None
    with entered(pages.caller):
        assert fields_of(due) == before
        new = memories.get(caller=pages.caller, memory_id=successor, now=datetime.now(UTC))
    assert (new.status, new.archived_reason) == ("archived", "the correction was taken back")
