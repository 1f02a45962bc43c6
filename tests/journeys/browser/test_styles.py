"""Communication styles without a mouse, and their pages in every look."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.browser.conftest import CHECK, LOOKS

pytestmark = pytest.mark.browser
STYLES = "/o/acme/settings/styles"
Open = Callable[..., Page]


def _define(page: Page, name: str, text: str, topic: str) -> None:
    page.locator("#style-name").focus()
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type(text)
    page.keyboard.press("Tab")
    page.keyboard.type(topic)
    page.keyboard.press("Enter")
    expect(page.locator("table")).to_contain_text(text)


def test_a_style_is_defined_and_found_by_keys(open_page: Open) -> None:
    page = open_page(STYLES)
    _define(page, "reviews", "Say what to change, then why.", "code review")

    page.locator("#fit-topic").focus()
    page.keyboard.type("a code review of the cart")
    page.keyboard.press("Enter")

    expect(page.locator("#fit [role=status]")).to_contain_text("fits by topic")
    expect(page.locator("#fit [role=status]")).to_contain_text("reviews")


@pytest.mark.goal(name="looks")
@pytest.mark.parametrize("look", list(LOOKS))
def test_pages_of_styles_have_no_fault_of_access(
    open_page: Open, keep: Callable[[Page, str], None], look: str
) -> None:
    page = open_page(STYLES, **LOOKS[look])
    _define(page, f"notes-{look}", f"Five lines at most, {look}.", "quick notes")
    faults = {}

    for name, address in (("styles", STYLES), ("fit", f"{STYLES}?topic=quick+notes&interface=api")):
        page.goto(address)
        keep(page, f"{name}-{look}")
        faults[name] = page.evaluate(CHECK)
    page.locator("table a.btn").first.click()
    page.wait_for_selector("#style-text")
    faults["style"] = page.evaluate(CHECK)

    assert {name: found for name, found in faults.items() if found} == {}
