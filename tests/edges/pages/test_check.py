"""The page that checks a plan or a diff: what it says, refuses, leaves out, and keeps to itself."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from config import throttling
from memory.records.queries.views import MemoryView
from tests.edges.pages.conftest import HTMX, remembered
from tests.edges.pages.session_pages import Pages
from tests.support import stored

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
KEY = "AKIA" + "Q7RZ1VB9KX3TN5WM"  # of the published form, nobody's


@pytest.fixture
def tried(shop: str, caller: Caller) -> MemoryView:
    """A dead end of the project."""
    return remembered(caller, TRIED, type="dead_end", related_files=("shop/prices.ts",))


def answer(client: Client, **sent: Any) -> str:
    """Return what htmx is answered to a plan, or to what else is sent."""
    given = {"kind": "plan", "text": PLAN, **sent}
    return client.post(CHECK, given, **HTMX).text


def test_a_plan_is_stopped_by_a_memory_that_is_linked(pages: Pages, tried: MemoryView) -> None:
    told = answer(pages.owner)

    assert "Stop and read first" in told
    assert "Step 2, line 2" in told
    assert "This was tried and did not work." in told
    assert "Read why it failed." in told
    assert f"/o/acme/p/shop/memories/{tried.id}" in told
    assert "<mark>Caching</mark>" in told
    assert "<mark>Cache</mark>" in told
    assert "<main" not in told


def test_a_diff_is_stopped_in_its_lines_and_the_unknown_is_not(
    pages: Pages, tried: MemoryView
) -> None:
    told = answer(pages.viewer, kind="diff", text=DIFF.replace("\n", "\r\n"))
    unknown = answer(pages.viewer, text="1. Paint the shed green.")

    assert "Stop and read first" in told
    assert "<code>shop/prices.ts:1-2</code>" in told
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
