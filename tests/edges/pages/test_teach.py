"""The Teach panel: what is stored, what is refused, and what the live look says."""

from datetime import UTC, datetime

from accounts.authentication import entered
from accounts.caller import Caller
from frontend.views import base
from memory.records.filters import Filters
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from tests.edges.pages.conftest import HTMX, STATEMENT
from tests.edges.pages.session_pages import Pages

TEACH = "/o/acme/p/shop/teach"
WORKER = "The checkout worker in `shop/checkout.py` retries a payment that has failed"
KEY = "AKIA" + "Q7RZ1VB9KX3TN5WM"  # of the published form, nobody's
SECRET = f"The key is {KEY} for every upload of the nightly job."


def _count(caller: Caller) -> int:
    with entered(caller):
        return memories.count(caller=caller, filters=Filters(project="shop"))


def test_what_is_taught_is_stored_and_confirmed_the_second_time(pages: Pages) -> None:
    form = {"content": STATEMENT, "type": "gotcha", "tags": "auth, redis", "files": "auth.ts"}

    refused = pages.viewer.post(TEACH, form, **HTMX)
    none = _count(pages.caller)
    first, again = (pages.owner.post(TEACH, form, **HTMX) for _ in range(2))

    assert (refused.status_code, none) == (403, 0)
    assert first.status_code == 204
    assert "Remembered" in first["HX-Trigger"]
    assert "known already" in again["HX-Trigger"]
    assert _count(pages.caller) == 1


def test_what_takes_the_place_of_another_or_contradicts_it_says_so(pages: Pages) -> None:
    said = [
        pages.owner.post(TEACH, {"content": text}, **HTMX)["HX-Trigger"]
        for text in (f"{WORKER} 3 times.", f"{WORKER} now 5 times.", f"{WORKER} 7 times.")
    ]

    assert said[0] == base.toast(text="Remembered.", changed="memories")
    assert "It takes the place of an older memory" in said[1]
    assert "It contradicts another memory" in said[2]


def test_a_secret_is_replaced_in_the_form_and_the_rest_can_be_stored(pages: Pages) -> None:
    refused = pages.owner.post(TEACH, {"content": SECRET, "tags": f"a, {KEY}"}, **HTMX)
    page = refused.text
    stored = pages.owner.post(TEACH, {"content": SECRET.replace(KEY, "[redacted: vendor_key]")})

    assert (refused.status_code, stored.status_code) == (422, 302)
    assert "The key is [redacted: vendor_key] for every upload" in page
    assert "save what is left" in page
    assert (KEY in page, 'role="alert"' in page) == (False, True)
    assert _count(pages.caller) == 1


def test_look_says_the_type_and_what_is_named(pages: Pages, memory: MemoryView) -> None:
    named = "Make sure that AuthService reads middleware/auth.ts before each call."

    page, redacted, _known = (
        pages.owner.post(f"{TEACH}/look", {"content": text, **more}, **HTMX).text
        for text, more in ((named, {}), (SECRET, {"redact": "1"}), (memory.content, {}))
    )

    for text in ("from the form of the text", "AuthService"):
        assert text in page
    assert '<code class="mut">middleware/auth.ts</code>' in page
    assert "The key is [redacted: vendor_key] for every upload" in redacted
    assert KEY not in redacted
    assert "will not be stored" not in redacted
    assert "0 times" in pages.owner.get(f"/o/acme/p/shop/memories/{memory.id}").text


def test_what_is_known_is_confirmed_instead(pages: Pages, memory: MemoryView) -> None:
    form = {
        "content": "Token refresh fails silently when Redis is not reachable.",
        "type": "gotcha",
    }
    look = pages.owner.post(f"{TEACH}/look", form, **HTMX).text

    response = pages.owner.post(f"{TEACH}/known/{memory.id}", **HTMX)

    assert f"{TEACH}/known/{memory.id}" in look
    assert (response.status_code, _count(pages.caller)) == (204, 1)
    with entered(pages.caller):
        known = memories.get(caller=pages.caller, memory_id=memory.id, now=datetime.now(UTC))
    assert known.confirmations == 1


def test_the_panel_imports_and_offers_scopes(pages: Pages) -> None:
    barred = 'value="organization" disabled'

    assert barred not in pages.owner.get(TEACH, **HTMX).text
    assert barred in pages.member.get(TEACH, **HTMX).text
    tab = pages.owner.get(f"{TEACH}?import", **HTMX).text
    page = pages.owner.get(f"{TEACH}?import").text

    for text in (tab, page):
        assert 'action="/o/acme/p/shop/imports"' in text
        assert 'hx-post="/o/acme/p/shop/imports/look"' in text
        assert text.count('aria-current="page">Import</a>') == 1
    assert "<html" not in tab
