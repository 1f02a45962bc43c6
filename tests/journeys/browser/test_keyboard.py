"""The dashboard without a mouse."""

import re

import pytest
from playwright.sync_api import Route, expect

from tests.journeys.browser.conftest import Open

pytestmark = pytest.mark.browser
PROJECT = "/o/acme/p/storefront/"


def test_go_keys_lead_to_pages(open_page: Open) -> None:
    page = open_page(PROJECT)

    for key, heading in (
        ("i", "Review inbox"),
        ("m", "Memories"),
        ("c", "Connections"),
        ("v", "Activity"),
        ("o", "Overview"),
    ):
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page.locator("h1")).to_have_text(heading)
        page.wait_for_load_state()  # the heading stands before the scripts that hear the keys


def test_list_is_walked_opened_and_closed(open_page: Open) -> None:
    page = open_page(f"{PROJECT}memories")

    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("#inspector .statement")).to_be_visible()
    first = page.url
    page.keyboard.press("j")
    page.wait_for_function("before => location.href !== before", arg=first)
    page.keyboard.press("Escape")

    assert "peek=" in first
    expect(page.locator("#inspector")).to_be_hidden()
    expect(page).not_to_have_url(re.compile("peek="))


def test_an_answer_that_comes_late_does_not_open_what_was_closed(open_page: Open) -> None:
    page = open_page(f"{PROJECT}memories")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/memories/*", hold)
    page.keyboard.press("j")
    with page.expect_request("**/memories/*"):
        page.keyboard.press("Enter")

    page.keyboard.press("Escape")
    expect(page.locator("#inspector")).to_be_hidden()
    page.evaluate(
        "document.addEventListener('htmx:afterRequest', () => { window.answered = true })"
    )
    held[0].continue_()
    page.wait_for_function("() => window.answered")
    page.evaluate("() => new Promise(requestAnimationFrame)")

    expect(page.locator("#inspector")).to_be_hidden()
    expect(page).not_to_have_url(re.compile("peek="))


def test_memory_is_confirmed_and_corrected_by_keys(open_page: Open) -> None:
    page = open_page(f"{PROJECT}memories?q=type:tool")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector("#inspector .statement")

    page.keyboard.press("y")
    expect(page.locator("#inspector")).to_contain_text("Verified")
    page.keyboard.press("e")
    page.fill("#correct-content", "Run `pnpm db:fresh` before the integration tests.")
    expect(page.locator("#correct-diff ins").first).to_be_visible()
    page.keyboard.press("Control+Enter")

    expect(page.locator("#inspector .statement")).to_contain_text("pnpm db:fresh")


def test_archived_memory_comes_back_with_undo(open_page: Open) -> None:
    page = open_page(f"{PROJECT}memories?q=type:fix")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Archive").click()
    page.click("#modal .foot button")
    expect(page.locator("#inspector")).to_contain_text("Archived")

    page.keyboard.press("Control+z")

    expect(page.locator("#inspector .head")).not_to_contain_text("Archived")


def test_the_inbox_is_decided_and_undone_by_keys(open_page: Open) -> None:
    page = open_page(f"{PROJECT}inbox?group=new")
    rows = page.locator("#list .row[id]")
    before = rows.count()
    first = page.locator("#inspector .statement").inner_text()

    page.keyboard.press("y")
    expect(rows).to_have_count(before - 1)
    expect(page.locator("#inspector .statement")).not_to_have_text(first)
    page.keyboard.press("Control+z")
    expect(rows).to_have_count(before)
    expect(page.locator("#inspector .statement")).to_have_text(first)
    page.keyboard.press("n")
    expect(page.locator("#reject-reason")).to_be_focused()
    page.keyboard.type("Only on that machine.")
    page.keyboard.press("Enter")
    expect(rows).to_have_count(before - 1)
    page.keyboard.press("Control+z")
    expect(rows).to_have_count(before)


def test_selection_with_x_offers_bulk_verbs(open_page: Open) -> None:
    page = open_page(f"{PROJECT}memories")

    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Shift+X")

    expect(page.locator("#bulk")).to_contain_text("3 selected")


def test_palette_finds_memories_and_pages(open_page: Open) -> None:
    page = open_page(PROJECT)

    page.keyboard.press("Control+k")
    page.keyboard.type("stripe webhooks")
    expect(page.locator("#palette-h1")).to_contain_text("Stripe webhooks")
    page.keyboard.press("Enter")

    expect(page.locator("h1")).to_contain_text("Stripe webhooks")


def test_letters_in_inputs_are_letters(open_page: Open) -> None:
    page = open_page(f"{PROJECT}memories")

    page.keyboard.press("/")
    page.keyboard.type("tyge?")

    expect(page.locator(".q")).to_have_value("tyge?")
    expect(page.locator("#modal")).to_be_hidden()


def test_shortcuts_can_be_switched_off(open_page: Open) -> None:
    page = open_page("/me")
    page.uncheck("#shortcuts")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/me?saved")

    page.goto(PROJECT)
    page.keyboard.press("t")
    page.keyboard.press("?")

    expect(page.locator("#modal")).to_be_hidden()
    expect(page.locator("#help")).to_be_hidden()
    page.goto("/me")
    page.check("#shortcuts")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/me?saved")


def test_theme_is_switched_and_kept(open_page: Open) -> None:
    page = open_page(PROJECT)

    with page.expect_response("**/me/theme"):
        page.keyboard.press("Control+.")
    page.reload()

    assert page.locator("html").get_attribute("data-theme") == "dark"
    with page.expect_response("**/me/theme"):
        page.keyboard.press("Control+.")


def test_skip_link_comes_first(open_page: Open) -> None:
    page = open_page(PROJECT)

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    assert page.evaluate("document.activeElement.id") == "content"
