"""Fixtures for a real Chromium, found by path; the pytest plugin of Playwright is not used."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.support.goals import LONG
from tests.support.programs import PROGRAMS
from tests.support.site import ROOT, Site

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
)  # fmt: skip
SCREENSHOTS = ROOT / "var" / "screenshots"
PATIENCE_MS = 15_000
WIDE = {"width": 1440, "height": 860}
PHONE = {"width": 360, "height": 740}

ALL_LOOKS = {
    "light": {"viewport": WIDE, "color_scheme": "light", "locale": "en-US"},
    "dark": {"viewport": WIDE, "color_scheme": "dark", "locale": "en-US"},
    "french": {"viewport": WIDE, "color_scheme": "light", "locale": "fr-FR"},
    "phone": {"viewport": PHONE, "color_scheme": "dark", "locale": "fr-FR", "is_mobile": True},
}
LOOKS = ALL_LOOKS if LONG else {name: ALL_LOOKS[name] for name in ("light", "phone")}
CHECK = Path(__file__).with_name("accessibility.js").read_text()
SETTLE_MS = 250  # fragments and drawings are in place; nothing is asserted about the time

Open = Callable[..., Page]
Inspect = Callable[[Page, str], None]
Look = dict[str, Any]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The browser of these tests; gone with them, because its library keeps an event loop."""
    with sync_playwright() as playwright:
        chromium = PROGRAMS["browser"].require()
        launched = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield launched
        launched.close()


@pytest.fixture(scope="package")
def session_of_mia(browser: Browser, running_site: Site) -> dict[str, object]:
    """The cookies of the owner, signed in through the page once."""
    context = browser.new_context(base_url=running_site.url)
    page = context.new_page()
    page.goto("/login/")
    page.fill("[name=login]", running_site.email)
    page.fill("[name=password]", running_site.password)
    page.click("main button[type=submit]")
    page.wait_for_url("**/o/acme/**", timeout=PATIENCE_MS)
    state = dict(context.storage_state())
    context.close()
    return state


@pytest.fixture
def open_page(
    browser: Browser, running_site: Site, session_of_mia: dict[str, object]
) -> Iterator[Open]:
    """Open a page as the owner; the test fails when the page reports an error of a script."""
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def open_page(address: str, **options: object) -> Page:
        settings = {"viewport": WIDE, "color_scheme": "light", "locale": "en-US", **options}
        settings.pop("name", None)
        context = browser.new_context(
            base_url=running_site.url, storage_state=session_of_mia, **settings
        )  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: _note(faults, said.type, said.text))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture(params=list(LOOKS))
def look(request: pytest.FixtureRequest) -> Look:
    """How a browser looks at pages: size, colors and language."""
    return {"name": request.param, **LOOKS[request.param]}


@pytest.fixture
def inspect(request: pytest.FixtureRequest) -> Iterator[Inspect]:
    """Look for faults of access on a page; the test fails in the end if there is one.

    The long form keeps a screenshot of each under var/screenshots.
    """
    faults: dict[str, object] = {}

    def inspect(page: Page, name: str) -> None:
        page.wait_for_timeout(SETTLE_MS)
        if LONG:
            SCREENSHOTS.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=Path(SCREENSHOTS, f"{name}-{request.node.callspec.id}.png"))
        faults[name] = page.evaluate(CHECK)

    yield inspect
    assert {name: found for name, found in faults.items() if found} == {}


def _note(faults: list[str], kind: str, text: str) -> None:
    expected = ("status of 4", "WebSocket")  # refusals under test; sockets of pages left early
    if kind == "error" and not any(part in text for part in expected):
        faults.append(text)
