"""The review inbox: groups, items, verdicts with their undo, bulk, and who sees what of it."""

import json
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from memory.review.actions.verdicts import keep
from tests.edges.pages.conftest import HTMX
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


def test_the_page_shows_groups_the_list_and_the_first_item_and_all_count_it(
    owner_pages: Client, due: MemoryView, shop: str
) -> None:
    page, rows, groups, overview, home = (
        owner_pages.get(address).content.decode()
        for address in (INBOX, f"{INBOX}/rows", f"{INBOX}/groups", shop, "/o/acme/")
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


def test_peek_opens_that_item_and_no_other_project_has_it(
    owner_pages: Client, due: MemoryView, caller: Caller
) -> None:
    second = proposed(caller, OTHER)
    owner_pages.post("/o/acme/projects/new", {"slug": "other", "name": "Other"})

    page = owner_pages.get(INBOX, {"peek": str(second.id)}).content.decode()
    elsewhere = owner_pages.get("/o/acme/p/other/inbox", {"peek": str(second.id)})

    assert f'data-memory="{second.id}"' in page
    assert elsewhere.status_code == 404


def test_keeping_shows_the_next_item_and_offers_to_undo(
    owner_pages: Client, due: MemoryView, caller: Caller
) -> None:
    second = proposed(caller, OTHER)
    with entered(caller):
        before = fields_of(due)

    response = owner_pages.post(f"{INBOX}/{due.id}/keep", **HTMX)
    kept = now_of(caller, due)
    back = owner_pages.post(undo_address(response), **HTMX)

    assert f'data-memory="{second.id}"' in response.content.decode()
    assert f'id="row-{due.id}"' not in response.content.decode()
    assert (kept.verification, kept.needs_review) == ("verified", False)
    assert f'data-memory="{due.id}"' in back.content.decode()
    with entered(caller):
        assert fields_of(due) == before


def test_a_verdict_that_needs_words_asks_for_them_and_takes_no_secret(
    owner_pages: Client, due: MemoryView, caller: Caller
) -> None:
    for verb in ("reject", "merge", "snooze"):
        fragment = owner_pages.get(f"{INBOX}/{due.id}/{verb}", **HTMX)
        page = owner_pages.get(f"{INBOX}/{due.id}/{verb}")
        assert (fragment.status_code, page.status_code) == (200, 200)
        assert "modal-title" in fragment.content.decode()
        assert "<html" in page.content.decode()
    secret = f"{'AKIA'}Q7RZ1VB9KX3TN5WM"
    response = owner_pages.post(f"{INBOX}/{due.id}/reject", {"reason": f"key {secret}"}, **HTMX)

    assert response.status_code == 422
    assert secret not in response.content.decode()
    assert now_of(caller, due).status == "active"


def test_what_somebody_decided_meanwhile_is_refused_and_says_so(
    owner_pages: Client, due: MemoryView, caller: Caller
) -> None:
    with entered(caller):
        keep(caller=caller, memory_id=due.id, now=datetime.now(UTC))

    response = owner_pages.post(f"{INBOX}/{due.id}/reject", **HTMX)
    item = owner_pages.get(f"{INBOX}/{due.id}", **HTMX).content.decode()

    assert response.status_code == 409
    assert "not waiting for review" in response.content.decode()
    assert "Decided" in item


def test_a_selection_is_decided_and_undone_together(
    owner_pages: Client, due: MemoryView, caller: Caller
) -> None:
    second = proposed(caller, OTHER)
    chosen = {"memory": [str(due.id), str(second.id)], "verb": "reject"}

    response = owner_pages.post(f"{INBOX}/bulk", chosen, **HTMX)
    gone = {now_of(caller, one).status for one in (due, second)}
    owner_pages.post(undo_address(response), **HTMX)

    assert "2 memories decided." in response["HX-Trigger"]
    assert gone == {"archived"}
    assert {now_of(caller, one).status for one in (due, second)} == {"active"}


def test_all_of_a_group_takes_its_count(
    owner_pages: Client, due: MemoryView, caller: Caller
) -> None:
    form = {"whole": "1", "verb": "keep"}

    dialog = owner_pages.get(f"{INBOX}/bulk", {"group": "new"}, **HTMX).content.decode()
    none = owner_pages.post(f"{INBOX}/bulk?group=new", form, **HTMX)
    wrong = owner_pages.post(f"{INBOX}/bulk?group=new", {**form, "count": "7"}, **HTMX)
    right = owner_pages.post(f"{INBOX}/bulk?group=new", {**form, "count": "1"}, **HTMX)

    assert "Type 1 to confirm" in dialog
    assert (none.status_code, wrong.status_code, right.status_code) == (422, 409, 200)
    assert now_of(caller, due).verification == "verified"


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("bulk", {"verb": "keep"}),
        ("bulk", {"verb": "burn", "memory": str(uuid4())}),
        ("bulk", {"memory": "no-id"}),
        ("{id}/merge", {}),
        ("{id}/merge", {"into": "x"}),
    ],
)
def test_an_odd_form_decides_nothing(
    owner_pages: Client, due: MemoryView, caller: Caller, path: str, form: dict[str, str]
) -> None:
    response = owner_pages.post(f"{INBOX}/{path.format(id=due.id)}", form)

    assert response.status_code in {404, 422}
    assert (now_of(caller, due).status, now_of(caller, due).needs_review) == ("active", True)


def test_more_rows_are_shown_on_demand(owner_pages: Client, shop: str, caller: Caller) -> None:
    with entered(caller):
        many_waiting(caller, datetime.now(UTC), 120, project="shop")

    pages = [
        owner_pages.get(INBOX, {"rows": rows}).content.decode()
        for rows in ("", "100", "150", "-1", "x", "9" * 30)
    ]

    shown = [page.count('id="row-') for page in pages]
    assert shown == [50, 100, 120, 50, 50, 50]
    assert "rows=100" in pages[0]
    assert "rows=150" in pages[1]
    assert "Show more" not in pages[2]


def test_an_empty_inbox_says_what_the_week_brought_and_viewers_decide_nothing(
    owner_pages: Client, viewer_pages: Client, due: MemoryView, caller: Caller
) -> None:
    seen = viewer_pages.get(INBOX).content.decode()
    refused = viewer_pages.post(f"{INBOX}/{due.id}/keep", **HTMX)
    untouched = now_of(caller, due).confirmations
    owner_pages.post(f"{INBOX}/{due.id}/keep")

    page = owner_pages.get(INBOX).content.decode()

    assert "Viewers read" in seen
    assert (refused.status_code, untouched) == (403, 0)
    assert "No memories need review" in page
    assert "1 decision in the last seven days." in page


def test_editing_goes_on_with_the_next_item_and_is_undone(
    owner_pages: Client, due: MemoryView, caller: Caller
) -> None:
    second = proposed(caller, OTHER)
    form = {"content": "Token refresh raises RefreshError since version four.", "kind": "wrong"}
    address = f"/o/acme/p/shop/memories/{due.id}/correct?inbox&group=new"
    with entered(caller):
        before = fields_of(due)

    response = owner_pages.post(address, form, **HTMX)
    successor = now_of(caller, due).superseded_by
    owner_pages.post(undo_address(response), **HTMX)

    assert f'data-memory="{second.id}"' in response.content.decode()
    assert successor is not None
    with entered(caller):
        assert fields_of(due) == before
        new = memories.get(caller=caller, memory_id=successor, now=datetime.now(UTC))
    assert (new.status, new.archived_reason) == ("archived", "the correction was taken back")
