"""Methodologies and communication styles without a mouse, and their pages in every look."""

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.browser.conftest import Inspect, Look, Open

pytestmark = pytest.mark.browser
METHODOLOGIES = "/o/acme/settings/methodologies"
STYLES = "/o/acme/settings/styles"


def _define(page: Page, name: str, type: str) -> None:
    """Name it and a phase, go on to the first type, say what that is, and send it all by Enter."""
    page.locator("#methodology-name").focus()
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.keyboard.type("doing")
    page.keyboard.press("Tab")
    page.keyboard.type("I")
    page.locator("[name=type]").first.focus()
    page.keyboard.type(type)
    page.keyboard.press("Tab")
    page.keyboard.type("R")
    page.keyboard.press("Tab")
    page.keyboard.type("What a user needs.")
    page.keyboard.press("Enter")
    expect(page.locator("table")).to_contain_text(type)


def _pass_on(page: Page, before: str, after: str, type: str) -> None:
    """Write the first relay of the form, and send it by Enter."""
    page.locator("[name=from]").first.focus()
    page.keyboard.type(before)
    page.keyboard.press("Tab")
    page.keyboard.type(after)
    page.keyboard.press("Tab")
    page.keyboard.type(type)
    page.keyboard.press("Enter")


def test_one_is_defined_changed_and_removed_by_keys(open_page: Open) -> None:
    page = open_page(METHODOLOGIES)
    page.on("dialog", lambda asked: asked.accept())
    opened = page.get_by_role("link", name="Open the methodology keyed")
    _define(page, "keyed", "wish")
    opened.press("Enter")
    expect(page.locator("dl.facts")).to_contain_text("Implement")

    _pass_on(page, "doing", "review", "wish")
    opened.press("Enter")
    expect(page.locator("dl.facts")).to_contain_text("doing → review")
    page.get_by_role("button", name="Remove").press("Enter")

    expect(page.locator("table")).not_to_contain_text("keyed")


@pytest.mark.goal(name="looks")
def test_pages_of_methodologies_have_no_fault_of_access(
    open_page: Open, inspect: Inspect, look: Look
) -> None:
    page = open_page(METHODOLOGIES, **look)
    _define(page, f"way-{look['name']}", f"wish-{look['name']}")

    for name in ("", f"/way-{look['name']}", "/native"):
        page.goto(f"{METHODOLOGIES}{name}")
        inspect(page, f"methodologies{name.replace('/', '-')}")


def _define_style(page: Page, name: str, text: str, topic: str) -> None:
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
    _define_style(page, "reviews", "Say what to change, then why.", "code review")

    page.locator("#fit-topic").focus()
    page.keyboard.type("a code review of the cart")
    page.keyboard.press("Enter")

    expect(page.locator("#fit [role=status]")).to_contain_text("fits by topic")
    expect(page.locator("#fit [role=status]")).to_contain_text("reviews")


@pytest.mark.goal(name="looks")
def test_pages_of_styles_have_no_fault_of_access(
    open_page: Open, inspect: Inspect, look: Look
) -> None:
    page = open_page(STYLES, **look)
    text = f"Five lines at most, {look['name']}."
    _define_style(page, f"notes-{look['name']}", text, "quick notes")

    for name, address in (("styles", STYLES), ("fit", f"{STYLES}?topic=quick+notes&interface=api")):
        page.goto(address)
        inspect(page, name)
    page.locator("table a.btn").first.click()
    page.wait_for_selector("#style-text")
    inspect(page, "style")
