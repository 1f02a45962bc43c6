"""Methodologies without a mouse, and their pages in every look."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.browser.conftest import CHECK, LOOKS

pytestmark = pytest.mark.browser
METHODOLOGIES = "/o/acme/settings/methodologies"
Open = Callable[..., Page]


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
@pytest.mark.parametrize("look", list(LOOKS))
def test_pages_of_methodologies_have_no_fault_of_access(
    open_page: Open, keep: Callable[[Page, str], None], look: str
) -> None:
    page = open_page(METHODOLOGIES, **LOOKS[look])
    _define(page, f"way-{look}", f"wish-{look}")
    faults = {}

    for name in ("", f"/way-{look}", "/native"):
        page.goto(f"{METHODOLOGIES}{name}")
        keep(page, f"methodologies{name.replace('/', '-')}-{look}")
        faults[name] = page.evaluate(CHECK)

    assert {name: found for name, found in faults.items() if found} == {}
