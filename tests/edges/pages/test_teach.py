"""The panels for text: Teach with its live look, and the check of plan or diff."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from config import throttling
from frontend.views import base
from memory.records.filters import Filters
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from tests.edges.pages.conftest import HTMX, STATEMENT, remembered
from tests.edges.pages.session_pages import Pages
from tests.support import stored

TEACH = "/o/acme/p/shop/teach"
WORKER = "The checkout worker in `shop/checkout.py` retries a payment that has failed"
KEY = "AKIA" + "Q7RZ1VB9KX3TN5WM"  # of the published form, nobody's
SECRET = f"The key is {KEY} for every upload of the nightly job."


def _count(caller: Caller) -> int:
    with entered(caller):
        return memories.count(caller=caller, filters=Filters(project="shop"))


def test_what_is_taught_is_stored_and_confirmed_the_second_time(pages: Pages) -> None:
    form = {"content": STATEMENT, "type": "gotcha", "tags": "auth, redis", "files": "auth.ts"}

    first, again = (pages.owner.post(TEACH, form, **HTMX) for _ in range(2))

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


def test_look_says_the_type_and_what_is_named_and_what_is_known_is_confirmed_instead(
    pages: Pages, memory: MemoryView
) -> None:
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
    said = "Token refresh fails silently when Redis is not reachable."
    look = pages.owner.post(f"{TEACH}/look", {"content": said, "type": "gotcha"}, **HTMX).text

    response = pages.owner.post(f"{TEACH}/known/{memory.id}", **HTMX)

    assert f"{TEACH}/known/{memory.id}" in look
    assert (response.status_code, _count(pages.caller)) == (204, 1)
    assert pages.newest(memory).confirmations == 1


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


CHECK = "/o/acme/p/shop/check"
TRIED = "Caching prices in the browser with localStorage failed: shoppers saw stale prices."
PLAN = "1. Measure first.\n2. Cache prices in the browser, in localStorage.\n"
DIFF = """\
diff --git a/shop/prices.ts b/shop/prices.ts
--- a/shop/prices.ts
+++ b/shop/prices.ts
@@ -1 +1,2 @@
+// cached prices in the browser, localStorage
 return all
"""


@pytest.fixture
def tried(shop: str, caller: Caller) -> MemoryView:
    """A dead end of the project."""
    return remembered(caller, TRIED, type="dead_end", related_files=("shop/prices.ts",))


def answer(client: Client, **sent: Any) -> str:
    """Return what htmx is answered to a plan, or to what else is sent."""
    given = {"kind": "plan", "text": PLAN, **sent}
    return client.post(CHECK, given, **HTMX).text


def test_a_plan_or_diff_is_stopped_by_a_memory_that_is_linked_and_the_unknown_is_not(
    pages: Pages, tried: MemoryView
) -> None:
    told = answer(pages.owner)
    diff = answer(pages.viewer, kind="diff", text=DIFF.replace("\n", "\r\n"))
    unknown = answer(pages.viewer, text="1. Paint the shed green.")

    for text in (
        "Stop and read first", "Step 2, line 2", "This was tried and did not work.",
        "Read why it failed.", f"/o/acme/p/shop/memories/{tried.id}", "<mark>Caching</mark>",
        "<mark>Cache</mark>",
    ):  # fmt: skip
        assert text in told
    assert "<main" not in told
    for text in ("Stop and read first", "<code>shop/prices.ts:1-2</code>"):
        assert text in diff
    assert "No objections found" in unknown
    assert "memories/" not in unknown


@pytest.mark.usefixtures("tried")
def test_without_scripts_the_whole_page_answers_and_keeps_the_text(pages: Pages) -> None:
    file = SimpleUploadedFile("plan.md", b"\xef\xbb\xbf" + PLAN.encode())

    for sent in ({"text": PLAN}, {"file": file}):
        page = pages.owner.post(CHECK, {"kind": "plan", **sent}).text
        for text in ("<main", "Stop and read first", f"{PLAN}</textarea>"):
            assert text in page


def test_more_than_a_form_may_carry_is_said_to_be_too_much(pages: Pages) -> None:
    sent = {"kind": "diff", "text": "+" * 1_100_000}

    page = pages.owner.post(CHECK, sent)
    toast = pages.owner.post(CHECK, sent, **HTMX)

    assert (page.status_code, toast.status_code) == (413, 413)
    assert "That is too much for a form" in page.text
    assert toast["HX-Retarget"] == "#toasts"


@pytest.mark.usefixtures("tried")
def test_a_secret_is_not_shown_nor_kept(pages: Pages, caplog: pytest.LogCaptureFixture) -> None:
    with entered(pages.caller), tenancy.unit():
        before = stored.rows()
    plan = f"{PLAN}3. Call the service with {KEY}.\n"

    told = answer(pages.owner, text=plan)
    page = pages.owner.post(CHECK, {"kind": "plan", "text": plan}).text
    wrong = pages.owner.post(CHECK, {"kind": "diff", "text": plan}).text

    with entered(pages.caller), tenancy.unit():
        assert stored.rows() == before
    assert "without what looked like a secret" in told
    assert not [one for one in (told, page, wrong, caplog.text) if KEY in one]


@pytest.mark.parametrize("as_file", [True, False])
def test_checks_count_by_their_size_and_too_many_are_told_when_to_come_back(
    pages: Pages, tried: MemoryView, monkeypatch: pytest.MonkeyPatch, as_file: bool
) -> None:
    monkeypatch.setattr(throttling, "WINDOW_SECONDS", 10**9)
    monkeypatch.setattr(throttling.counter, "limit", 32)
    text = f"{PLAN}{' ' * 16_384 * 15}"

    def sent() -> dict[str, Any]:
        file = SimpleUploadedFile("plan.md", text.encode())
        return {"kind": "plan", "file": file} if as_file else {"kind": "plan", "text": text}

    first, second, third = (pages.viewer.post(CHECK, sent()) for _ in range(3))

    assert (first.status_code, second.status_code, third.status_code) == (422, 422, 429)
    assert int(third["Retry-After"]) > 0
    assert "More than 32 calls a minute." in third.text
    assert "More than 32 calls a minute." in answer(pages.viewer)
