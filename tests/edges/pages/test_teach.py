"""The Teach panel: what is stored, what is refused, and what the live look says."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from accounts.models import User
from frontend.views import base
from memory.records.filters import Filters
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from tests.edges.pages.conftest import HTMX, STATEMENT

TEACH = "/o/acme/p/shop/teach"
WORKER = "The checkout worker in `shop/checkout.py` retries a payment that has failed"
KEY = "AKIA" + "Q7RZ1VB9KX3TN5WM"  # of the published form, nobody's
SECRET = f"The key is {KEY} for every upload of the nightly job."


def _count(caller: Caller) -> int:
    with entered(caller):
        return memories.count(caller=caller, filters=Filters(project="shop"))


def test_what_is_taught_is_stored(owner_pages: Client, shop: str, caller: Caller) -> None:
    form = {"content": STATEMENT, "type": "gotcha", "tags": "auth, redis", "files": "auth.ts"}

    response = owner_pages.post(TEACH, form, **HTMX)

    assert response.status_code == 204
    assert "Remembered" in response["HX-Trigger"]
    assert _count(caller) == 1


def test_what_takes_the_place_of_another_or_contradicts_it_says_so(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    said = [
        owner_pages.post(TEACH, {"content": text}, **HTMX)["HX-Trigger"]
        for text in (f"{WORKER} 3 times.", f"{WORKER} now 5 times.", f"{WORKER} 7 times.")
    ]

    assert said[0] == base.toast(text="Remembered.", changed="memories")
    assert "It takes the place of an older memory" in said[1]
    assert "It contradicts another memory" in said[2]


def test_only_who_may_write_for_everybody_is_offered_it(
    owner_pages: Client, member: User, shop: str, signed_in: Callable[[User], Client]
) -> None:
    barred = 'value="organization" disabled'

    assert barred not in owner_pages.get(TEACH, **HTMX).content.decode()
    assert barred in signed_in(member).get(TEACH, **HTMX).content.decode()


def test_known_statement_is_confirmed_instead(
    owner_pages: Client, memory: MemoryView, caller: Caller
) -> None:
    response = owner_pages.post(TEACH, {"content": memory.content}, **HTMX)

    assert "known already" in response["HX-Trigger"]
    assert _count(caller) == 1


@pytest.mark.parametrize(
    "form",
    [
        {"content": ""},
        {"content": "ok"},
        {"content": SECRET},
        {"content": STATEMENT, "type": "nothing"},
        {"content": STATEMENT, "scope": "galaxy"},
        {"content": "a\x00b is a statement with a null in it, which nothing can store."},
    ],
)
def test_refused_text_is_kept_in_the_form_and_not_stored(
    owner_pages: Client, shop: str, caller: Caller, form: dict[str, str]
) -> None:
    response = owner_pages.post(TEACH, form, **HTMX)

    assert response.status_code == 422
    assert b'role="alert"' in response.content
    assert _count(caller) == 0


def test_look_replaces_a_secret_on_demand(owner_pages: Client, shop: str) -> None:
    form = {"content": SECRET, "redact": "1"}

    page = owner_pages.post(f"{TEACH}/look", form, **HTMX).content.decode()

    assert "The key is [redacted: vendor_key] for every upload" in page
    assert KEY not in page
    assert "will not be stored" not in page


def test_a_refused_secret_is_replaced_in_the_form_and_the_rest_can_be_stored(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    refused = owner_pages.post(TEACH, {"content": SECRET, "tags": f"a, {KEY}"}, **HTMX)
    page = refused.content.decode()

    stored = owner_pages.post(TEACH, {"content": SECRET.replace(KEY, "[redacted: vendor_key]")})

    assert (refused.status_code, stored.status_code) == (422, 302)
    assert "The key is [redacted: vendor_key] for every upload" in page
    assert "save what is left" in page
    assert KEY not in page
    assert _count(caller) == 1


def test_look_counts_as_no_use(owner_pages: Client, memory: MemoryView) -> None:
    owner_pages.post(f"{TEACH}/look", {"content": memory.content}, **HTMX)

    page = owner_pages.get(f"/o/acme/p/shop/memories/{memory.id}").content.decode()

    assert "0 times" in page


def test_viewer_cannot_teach(viewer_pages: Client, shop: str, caller: Caller) -> None:
    response = viewer_pages.post(TEACH, {"content": STATEMENT}, **HTMX)

    assert response.status_code == 403
    assert _count(caller) == 0


def test_look_says_why_the_type_and_what_is_named(owner_pages: Client, shop: str) -> None:
    form = {"content": "Make sure that AuthService reads middleware/auth.ts before each call."}

    page = owner_pages.post(f"{TEACH}/look", form, **HTMX).content.decode()

    assert "from the form of the text" in page
    assert "AuthService" in page
    assert '<code class="mut">middleware/auth.ts</code>' in page


def test_what_is_known_is_confirmed_instead(
    owner_pages: Client, memory: MemoryView, caller: Caller
) -> None:
    form = {
        "content": "Token refresh fails silently when Redis is not reachable.",
        "type": "gotcha",
    }
    look = owner_pages.post(f"{TEACH}/look", form, **HTMX).content.decode()

    response = owner_pages.post(f"{TEACH}/known/{memory.id}", **HTMX)

    assert f"{TEACH}/known/{memory.id}" in look
    assert (response.status_code, _count(caller)) == (204, 1)
    with entered(caller):
        known = memories.get(caller=caller, memory_id=memory.id, now=datetime.now(UTC))
    assert known.confirmations == 1


def test_the_panel_imports_as_well(owner_pages: Client, shop: str) -> None:
    tab = owner_pages.get(f"{TEACH}?import", **HTMX).content.decode()
    page = owner_pages.get(f"{TEACH}?import").content.decode()

    for text in (tab, page):
        assert 'action="/o/acme/p/shop/imports"' in text
        assert 'hx-post="/o/acme/p/shop/imports/look"' in text
        assert text.count('aria-current="page">Import</a>') == 1
    assert "<html" not in tab
