"""The review inbox: groups, items, verdicts with their undo, bulk, and who sees what of it."""

from datetime import UTC, datetime

import pytest

from accounts.authentication import entered
from accounts.caller import Caller
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from tests.edges.pages.conftest import HTMX
from tests.edges.pages.session_pages import Pages, toast_of
from tests.support.waiting import fields_of, many_waiting, waiting

INBOX = "/o/acme/p/shop/inbox"
STATEMENT = "Token refresh fails silently when Redis is unreachable; catch ECONNREFUSED."
OTHER = "We chose Postgres advisory locks for merging carts instead of optimistic retries."


def proposed(caller: Caller, content: str = STATEMENT, **given: object) -> MemoryView:
    """Let an agent of the caller propose something now."""
    with entered(caller):
        return waiting(caller, datetime.now(UTC), content, project="shop", **given)


@pytest.fixture
def due(shop: str, caller: Caller) -> MemoryView:
    """A memory that waits."""
    return proposed(caller, tags=("auth",))


def test_the_page_shows_groups_list_and_first_item_or_the_one_that_is_asked_for(
    pages: Pages, due: MemoryView
) -> None:
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
    second = proposed(pages.caller, OTHER)
    pages.owner.post("/o/acme/projects/new", {"slug": "other", "name": "Other"})
    assert f'data-memory="{second.id}"' in pages.text(f"{INBOX}?peek={second.id}")
    assert pages.owner.get(f"/o/acme/p/other/inbox?peek={second.id}").status_code == 404


def test_keeping_shows_the_next_item_and_offers_to_undo(pages: Pages, due: MemoryView) -> None:
    second = proposed(pages.caller, OTHER)
    with entered(pages.caller):
        before = fields_of(due)

    response = pages.owner.post(f"{INBOX}/{due.id}/keep", **HTMX)
    kept = pages.newest(due)
    back = pages.owner.post(toast_of(response)["undo"], **HTMX)

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
    assert pages.newest(due).status == "active"


def test_a_selection_is_decided_and_undone_together(pages: Pages, due: MemoryView) -> None:
    second = proposed(pages.caller, OTHER)
    chosen = {"memory": [str(due.id), str(second.id)], "verb": "reject"}

    response = pages.owner.post(f"{INBOX}/bulk", chosen, **HTMX)
    gone = {pages.newest(one).status for one in (due, second)}
    pages.owner.post(toast_of(response)["undo"], **HTMX)

    assert "2 memories decided." in response["HX-Trigger"]
    assert gone == {"archived"}
    assert {pages.newest(one).status for one in (due, second)} == {"active"}


def test_more_rows_are_shown_on_demand(pages: Pages) -> None:
    with entered(pages.caller):
        many_waiting(pages.caller, datetime.now(UTC), 120, project="shop")

    asked = ("", "100", "150", "-1", "x", "9" * 30)
    first, second, last, *others = (pages.text(f"{INBOX}?rows={rows}") for rows in asked)

    shown = [page.count('id="row-') for page in (first, second, last, *others)]
    assert shown == [50, 100, 120, 50, 50, 50]
    assert ("rows=100" in first, "rows=150" in second, "Show more" in last) == (True, True, False)


def test_an_empty_inbox_says_what_the_week_brought(pages: Pages, due: MemoryView) -> None:
    pages.owner.post(f"{INBOX}/{due.id}/keep")

    page, item = pages.owner.get(INBOX).text, pages.owner.get(f"{INBOX}/{due.id}", **HTMX).text

    assert "Decided" in item
    assert "No memories need review" in page
    assert "1 decision in the last seven days." in page


def test_editing_goes_on_with_the_next_item_and_is_undone(pages: Pages, due: MemoryView) -> None:
    second = proposed(pages.caller, OTHER)
    form = {"content": "Token refresh raises RefreshError since version four.", "kind": "wrong"}
    address = f"/o/acme/p/shop/memories/{due.id}/correct?inbox&group=new"
    with entered(pages.caller):
        before = fields_of(due)

    response = pages.owner.post(address, form, **HTMX)
    successor = pages.newest(due).superseded_by
    pages.owner.post(toast_of(response)["undo"], **HTMX)

    assert f'data-memory="{second.id}"' in response.text
    assert successor is not None
    with entered(pages.caller):
        assert fields_of(due) == before
        new = memories.get(caller=pages.caller, memory_id=successor, now=datetime.now(UTC))
    assert (new.status, new.archived_reason) == ("archived", "the correction was taken back")
