"""A plan and a diff are checked without a mouse and without scripts; a program is signed in."""

import httpx
import pytest
from playwright.sync_api import Browser, FilePayload, expect

from tests.journeys.browser.conftest import Inspect, Look, Open
from tests.support.site import Site

pytestmark = pytest.mark.browser
PROJECT = "/o/acme/p/storefront/"
PLAN = "1. Measure how long the gate takes to open.\n2. Open the harbor gate with a steam winch.\n"
DIFF = "--- a/{0}\n+++ b/{0}\n@@ -1 +1,2 @@\n+steam winch opens the harbor gate\n x = 2\n"
TRIED = "Opening the harbor gate with a steam winch failed: the boiler froze in winter."
FILE = "harbor/gate.py"


@pytest.fixture(scope="module", autouse=True)
def tried(running_site: Site) -> None:
    """A dead end about a file."""
    head = {"Authorization": f"Bearer {running_site.token}"}
    new = {"project": "storefront", "content": TRIED, "type": "dead_end", "related_files": [FILE]}
    answer = httpx.post(f"{running_site.url}/api/v1/memories", headers=head, json=new, timeout=60)
    assert answer.status_code in {200, 201}, answer.text


@pytest.mark.goal(name="looks")
def test_a_plan_is_checked_by_keyboard(open_page: Open, inspect: Inspect, look: Look) -> None:
    page = open_page(f"{PROJECT}check", **look)

    page.locator("#check-text").focus()
    page.keyboard.insert_text(PLAN)
    page.keyboard.press("Control+Enter")

    expect(page.locator("#check-answer .notice")).to_be_focused()
    expect(page.locator("#check-answer mark").first).to_be_visible()
    inspect(page, "check-plan")
    page.locator("#check-answer a.met").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".statement")).to_have_text(TRIED)


@pytest.mark.goal(name="looks")
def test_a_diff_and_a_refusal_have_no_fault_of_access(
    open_page: Open, inspect: Inspect, look: Look
) -> None:
    page = open_page(f"{PROJECT}check?kind=diff", **look)

    for name, text in (("wrong", "a letter"), ("diff", DIFF.format(FILE))):
        page.locator("#check-text").fill(text)
        page.locator("#check-text").press("Control+Enter")
        expect(page.locator("#check-answer .notice.bad")).to_have_count(1)
        expect(page.locator("#check-answer a.met")).to_have_count(int(name == "diff"))
        inspect(page, f"check-{name}")


def test_without_scripts_a_chosen_file_is_checked(
    browser: Browser, running_site: Site, session_of_mia: dict[str, object]
) -> None:
    context = browser.new_context(
        base_url=running_site.url,
        storage_state=session_of_mia,  # type: ignore[arg-type]
        java_script_enabled=False,
    )
    page = context.new_page()
    page.goto(f"{PROJECT}check")

    file: FilePayload = {"name": "plan.md", "mimeType": "text/markdown", "buffer": PLAN.encode()}
    page.set_input_files("#check-file", file)
    page.locator("main button.p").press("Enter")

    expect(page.locator("#check-answer a.met")).to_have_text(TRIED)
    expect(page.locator("#check-text")).to_have_value(PLAN)
    context.close()


@pytest.mark.goal(name="looks")
def test_a_program_is_signed_in_by_keyboard(
    open_page: Open, running_site: Site, inspect: Inspect, look: Look
) -> None:
    asked = httpx.post(f"{running_site.url}/api/v1/device/code", json={"client": "cairn on a desk"})
    page = open_page("/device", **look)
    inspect(page, "device-type")

    page.keyboard.type(asked.json()["user_code"])
    page.keyboard.press("Enter")
    page.wait_for_selector("button[value=approve]")
    inspect(page, "device-decide")
    page.locator("button[value=approve]").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("main [role=status]")
    inspect(page, "device-done")


@pytest.mark.goal(name="looks")
def test_the_comparison_that_runs_has_no_fault_of_access(
    open_page: Open, inspect: Inspect, look: Look
) -> None:
    page = open_page(f"{PROJECT}experiments", **look)

    page.locator("#enabled").check()
    page.locator("#withheld-percent").fill("10")
    page.locator("main form button.p").press("Enter")
    page.wait_for_selector("#against-full")
    inspect(page, "experiments-on")
    page.locator("#control-percent").fill("")
    page.evaluate("document.querySelector('#control-percent').form.noValidate = true")
    page.locator("main form button.p").press("Enter")
    page.wait_for_selector("main [role=alert]")
    inspect(page, "experiments-refused")
