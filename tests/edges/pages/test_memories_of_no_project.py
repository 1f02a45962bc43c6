"""Memories that belong to no project have a page of their own, with every verb."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from tests.edges.pages.conftest import HTMX, remembered

RULE = "Invoices are numbered by the ledger alone, whatever a shop would like."


@pytest.fixture
def rule(shop: str, caller: Caller) -> MemoryView:
    """A memory of the whole organization."""
    return remembered(
        caller, RULE, project=None, scope="organization", tags=("invoices",),
        related_files=("ledger/numbers.py",),
    )  # fmt: skip


@pytest.fixture
def page(rule: MemoryView) -> str:
    """The address of its page."""
    return f"/o/acme/memories/{rule.id}"


def now(caller: Caller, memory: MemoryView) -> MemoryView:
    with entered(caller):
        return memories.get(caller=caller, memory_id=memory.id, now=datetime.now(UTC))


def test_its_link_leads_to_its_page(owner_pages: Client, rule: MemoryView, page: str) -> None:
    assert owner_pages.get(f"/m/{rule.id}")["Location"] == page
    shown = owner_pages.get(page).content.decode()

    for text in (
        "ledger/numbers.py",
        "invoices",
        f'action="{page}/confirm"',
        f'href="{page}.json"',
    ):
        assert text in shown


def test_its_verbs_work(owner_pages: Client, rule: MemoryView, page: str, caller: Caller) -> None:
    owner_pages.post(f"{page}/confirm", **HTMX)
    owner_pages.post(f"{page}/pin", **HTMX)
    confirmed = now(caller, rule)
    archived = owner_pages.post(f"{page}/archive", {"reason": "an old rule"}, **HTMX)
    gone = now(caller, rule)
    owner_pages.post(f"{page}/restore")

    assert (confirmed.confirmations, confirmed.pinned) == (1, True)
    assert f"{page}/restore" in archived["HX-Trigger"]
    assert (gone.status, now(caller, rule).status) == ("archived", "active")


def test_it_is_corrected_on_its_page(owner_pages: Client, page: str) -> None:
    assert f'action="{page}/correct"' in owner_pages.get(f"{page}/correct").content.decode()
    form = {"content": f"{RULE} Since May.", "kind": "outdated"}

    answer = owner_pages.post(f"{page}/correct", form)

    assert answer["Location"].startswith("/o/acme/memories/")
    assert "Since May." in owner_pages.get(answer["Location"]).content.decode()


def test_searches_of_a_project_show_it_too(
    owner_pages: Client, rule: MemoryView, page: str
) -> None:
    listed = owner_pages.get("/o/acme/p/shop/memories?q=ledger+invoices").content.decode()
    peeked = owner_pages.get(f"/o/acme/p/shop/memories?peek={rule.id}")

    assert f'href="{page}"' in listed
    assert peeked.status_code == 200
    assert f'action="{page}/confirm"' in peeked.content.decode()


def test_each_memory_has_one_address(
    owner_pages: Client, rule: MemoryView, memory: MemoryView
) -> None:
    assert owner_pages.get(f"/o/acme/p/shop/memories/{rule.id}").status_code == 404
    assert owner_pages.get(f"/o/acme/memories/{memory.id}").status_code == 404


def test_strangers_and_those_it_is_hidden_from_find_nothing(
    viewer_pages: Client, stranger_pages: Client, rule: MemoryView, page: str, caller: Caller
) -> None:
    own = remembered(caller, "My desk is by the window on the third floor.", project=None)

    assert stranger_pages.get(page).status_code == 404
    assert viewer_pages.get(page).status_code == 200
    assert viewer_pages.get(f"/o/acme/memories/{own.id}").status_code == 404
    assert viewer_pages.get(f"/m/{own.id}").status_code == 404
