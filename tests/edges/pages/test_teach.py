"""The Teach panel: what is stored, what is refused, and what the live look says."""

from datetime import UTC, datetime

from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
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


def test_what_is_taught_is_stored_and_confirmed_the_second_time(
    owner_pages: Client, viewer_pages: Client, shop: str, caller: Caller
) -> None:
    form = {"content": STATEMENT, "type": "gotcha", "tags": "auth, redis", "files": "auth.ts"}

    refused = viewer_pages.post(TEACH, form, **HTMX)
    none = _count(caller)
    first, again = (owner_pages.post(TEACH, form, **HTMX) for _ in range(2))

    assert (refused.status_code, none) == (403, 0)
    assert first.status_code == 204
    assert "Remembered" in first["HX-Trigger"]
    assert "known already" in again["HX-Trigger"]
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


def test_refused_text_is_kept_in_the_form_a_secret_replaced_and_the_rest_can_be_stored(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    for form in (
        {"content": ""},
        {"content": "ok"},
        {"content": STATEMENT, "type": "nothing"},
        {"content": STATEMENT, "scope": "galaxy"},
        {"content": "a\x00b is a statement with a null in it, which nothing can store."},
    ):
        response = owner_pages.post(TEACH, form, **HTMX)
        assert response.status_code == 422
        assert b'role="alert"' in response.content
    none = _count(caller)
    refused = owner_pages.post(TEACH, {"content": SECRET, "tags": f"a, {KEY}"}, **HTMX)
    page = refused.content.decode()
    stored = owner_pages.post(TEACH, {"content": SECRET.replace(KEY, "[redacted: vendor_key]")})

    assert (refused.status_code, stored.status_code) == (422, 302)
    assert "The key is [redacted: vendor_key] for every upload" in page
    assert "save what is left" in page
    assert (KEY in page, 'role="alert"' in page) == (False, True)
    assert (none, _count(caller)) == (0, 1)


def test_look_says_why_the_type_and_what_is_named_replaces_a_secret_and_is_no_use(
    owner_pages: Client, memory: MemoryView
) -> None:
    named = "Make sure that AuthService reads middleware/auth.ts before each call."

    page, redacted, _known = (
        owner_pages.post(f"{TEACH}/look", {"content": text, **more}, **HTMX).text
        for text, more in ((named, {}), (SECRET, {"redact": "1"}), (memory.content, {}))
    )

    for text in ("from the form of the text", "AuthService"):
        assert text in page
    assert '<code class="mut">middleware/auth.ts</code>' in page
    assert "The key is [redacted: vendor_key] for every upload" in redacted
    assert KEY not in redacted
    assert "will not be stored" not in redacted
    assert "0 times" in owner_pages.get(f"/o/acme/p/shop/memories/{memory.id}").text


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


def test_the_panel_imports_as_well_and_offers_everybody_to_who_may_write_for_them(
    owner_pages: Client, member_pages: Client, shop: str
) -> None:
    barred = 'value="organization" disabled'

    assert barred not in owner_pages.get(TEACH, **HTMX).content.decode()
    assert barred in member_pages.get(TEACH, **HTMX).content.decode()
    tab = owner_pages.get(f"{TEACH}?import", **HTMX).content.decode()
    page = owner_pages.get(f"{TEACH}?import").content.decode()

    for text in (tab, page):
        assert 'action="/o/acme/p/shop/imports"' in text
        assert 'hx-post="/o/acme/p/shop/imports/look"' in text
        assert text.count('aria-current="page">Import</a>') == 1
    assert "<html" not in tab
