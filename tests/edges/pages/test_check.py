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
    return client.post(CHECK, given, **HTMX).content.decode()


def test_a_plan_is_stopped_by_a_memory_that_is_linked(
    owner_pages: Client, tried: MemoryView
) -> None:
    told = answer(owner_pages)

    assert "Stop and read first" in told
    assert "Step 2, line 2" in told
    assert "This was tried and did not work." in told
    assert "Read why it failed." in told
    assert f"/o/acme/p/shop/memories/{tried.id}" in told
    assert "<mark>Caching</mark>" in told
    assert "<mark>Cache</mark>" in told
    assert "<main" not in told


def test_a_diff_is_stopped_in_its_lines_and_the_unknown_is_met_with_silence(
    viewer_pages: Client, tried: MemoryView
) -> None:
    told = answer(viewer_pages, kind="diff", text=DIFF.replace("\n", "\r\n"))
    unknown = answer(viewer_pages, text="1. Paint the shed green.")

    assert "Stop and read first" in told
    assert "<code>shop/prices.ts:1-2</code>" in told
    assert "No objections found" in unknown
    assert "memories/" not in unknown


@pytest.mark.usefixtures("tried")
def test_without_scripts_the_whole_page_answers_and_keeps_the_text(owner_pages: Client) -> None:
    file = SimpleUploadedFile("plan.md", b"\xef\xbb\xbf" + PLAN.encode())

    pasted = owner_pages.post(CHECK, {"kind": "plan", "text": PLAN}).content.decode()
    chosen = owner_pages.post(CHECK, {"kind": "plan", "file": file}).content.decode()

    for page in (pasted, chosen):
        assert "<main" in page
        assert "Stop and read first" in page
        assert "2. Cache prices in the browser, in localStorage.</textarea>" in page.replace(
            "\n</textarea>", "</textarea>"
        )


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"text": " \n"}, "There is nothing to check."),
        ({"text": "---"}, "This plan has no step in words."),
        ({"text": "a" * 100_001}, "Use at most 100000 characters."),
        ({"kind": "diff", "text": "a letter"}, "This is no unified diff"),
        ({"kind": "diff", "text": DIFF[:-20]}, "cut short or changed"),
        ({"file": SimpleUploadedFile("a", b"1. Go.")}, "You sent both a text and a file."),
        ({"text": "", "file": SimpleUploadedFile("a", b"a\x00b")}, "unstorable"),
        ({"text": "", "file": SimpleUploadedFile("a", b"a" * 4_000_001)}, "4000001 bytes"),
    ],
)
def test_what_cannot_be_checked_is_refused_in_its_place(
    owner_pages: Client, shop: str, sent: dict[str, Any], says: str
) -> None:
    given = {"kind": "plan", "text": PLAN, **sent}

    refused = owner_pages.post(CHECK, given, **HTMX)

    assert refused.status_code in {413, 422}
    assert says in refused.content.decode()
    assert 'role="alert"' in refused.content.decode()


def test_more_than_a_form_may_carry_is_said_to_be_too_much(owner_pages: Client, shop: str) -> None:
    sent = {"kind": "diff", "text": "+" * 1_100_000}

    page = owner_pages.post(CHECK, sent)
    toast = owner_pages.post(CHECK, sent, **HTMX)

    assert (page.status_code, toast.status_code) == (413, 413)
    assert "That is too much for a form" in page.content.decode()
    assert toast["HX-Retarget"] == "#toasts"


@pytest.mark.usefixtures("tried")
def test_a_secret_is_neither_shown_again_nor_kept(
    owner_pages: Client, caller: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    with entered(caller), tenancy.unit():
        before = stored.rows()
    plan = f"{PLAN}3. Call the service with {KEY}.\n"

    told = answer(owner_pages, text=plan)
    page = owner_pages.post(CHECK, {"kind": "plan", "text": plan}).content.decode()
    wrong = owner_pages.post(CHECK, {"kind": "diff", "text": plan}).content.decode()

    with entered(caller), tenancy.unit():
        assert stored.rows() == before
    assert "without what looked like a secret" in told
    assert not [one for one in (told, page, wrong, caplog.text) if KEY in one]


@pytest.mark.parametrize("as_file", [True, False])
def test_checks_count_by_their_size_and_too_many_are_told_when_to_come_back(
    viewer_pages: Client, tried: MemoryView, monkeypatch: pytest.MonkeyPatch, as_file: bool
) -> None:
    monkeypatch.setattr(throttling, "WINDOW_SECONDS", 10**9)
    monkeypatch.setattr(throttling.counter, "limit", 32)
    text = f"{PLAN}{' ' * 16_384 * 15}"

    def sent() -> dict[str, Any]:
        file = SimpleUploadedFile("plan.md", text.encode())
        return {"kind": "plan", "file": file} if as_file else {"kind": "plan", "text": text}

    first, second, third = (viewer_pages.post(CHECK, sent()) for _ in range(3))

    assert (first.status_code, second.status_code, third.status_code) == (422, 422, 429)
    assert int(third["Retry-After"]) > 0
    assert "More than 32 calls a minute." in third.content.decode()
    assert "More than 32 calls a minute." in answer(viewer_pages)
