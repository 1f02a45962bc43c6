"""Imports and notes in a browser: by keyboard alone, and no fault of access in any look."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.browser.conftest import Inspect, Look, Open

pytestmark = pytest.mark.browser
DEPOT = "/o/acme/p/depot/"
TEXT = "# Yard\n\nThe {0} crane lifts four tons.\n\nThe {0} crane rests in a storm.\n"


def submit(page: Page, name: str) -> None:
    """Press a button as somebody without a mouse does."""
    page.get_by_role("button", name=name, exact=True).focus()
    page.keyboard.press("Enter")


def test_a_text_is_pasted_looked_at_and_imported_by_keys(open_page: Open) -> None:
    page = open_page(f"{DEPOT}imports")

    page.locator("#import-pasted").focus()
    page.keyboard.insert_text(TEXT.format("old"))
    boxes = page.locator("#import-preview [name=keep]")
    expect(boxes).to_have_count(2)
    boxes.first.focus()
    page.keyboard.press("Space")
    submit(page, "Import into review")

    expect(page.locator("#import")).to_contain_text("1 left out")
    submit(page, "Cancel")
    expect(page.locator("#import")).to_contain_text("Cancelled")


def test_the_tab_of_the_teach_panel_imports(open_page: Open) -> None:
    page = open_page(f"{DEPOT}memories")

    page.keyboard.press("t")
    expect(page.locator("#teach-content")).to_be_focused()
    page.locator("#modal .tabs a", has_text="Import").focus()
    page.keyboard.press("Enter")
    page.locator("#teach-import-pasted").focus()
    page.keyboard.insert_text(TEXT.format("new"))
    expect(page.locator("#teach-import-preview")).to_contain_text("2 added")
    submit(page, "Import into review")

    expect(page.locator("h1")).to_have_text("Import")
    expect(page.locator("#import")).to_contain_text("pasted.md")


def test_what_waits_of_an_import_is_kept_at_once_and_undone(open_page: Open) -> None:
    page = open_page(f"{DEPOT}inbox?group=imports")
    page.on("dialog", lambda asked: asked.accept())

    for link in ("CLAUDE.md", "Open the import"):
        page.locator("#groups a", has_text=link).focus()
        page.keyboard.press("Enter")
    submit(page, "Keep 2 at once")
    expect(page.locator("#import [role=status]").first).to_contain_text("reviewed")
    submit(page, "Undo")

    expect(page.get_by_role("button", name="Keep 2 at once")).to_be_visible()


def each(page: Page) -> Iterator[str]:
    """Open one page of imports and notes after the other; yield its name."""
    page.fill("#import-pasted", TEXT.format("red"))
    page.wait_for_selector("#import-preview table")
    yield "imports"
    for name in ("CLAUDE.md", "AGENTS.md"):
        page.goto(f"{DEPOT}imports")
        page.get_by_role("link", name=name, exact=True).click()
        page.wait_for_selector("#import")
        yield f"import-{name}"
    for name in ("inbox?group=imports", "teach?import", "notes"):
        page.goto(f"{DEPOT}{name}")
        yield name.partition("?")[0]
    page.get_by_role("link", name="docs/adr-1.md").click()
    yield "note"


@pytest.mark.goal(name="looks")
def test_pages_of_imports_and_notes_have_no_fault_of_access(
    open_page: Open, inspect: Inspect, look: Look
) -> None:
    page = open_page(f"{DEPOT}imports", **look)

    for name in each(page):
        inspect(page, name)
