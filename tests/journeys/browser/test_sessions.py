"""The steps of a session by keyboard, while it runs, in every look."""

import httpx
import pytest
from playwright.sync_api import expect

from tests.journeys.browser.conftest import Inspect, Look, Open
from tests.support.site import Site
from tests.support.stories import ROOT, Story

pytestmark = pytest.mark.browser
PROJECT = "/o/acme/p/storefront/"


@pytest.fixture
def rest(running_site: Site) -> httpx.Client:
    """The interface with a token of the owner."""
    head = {"Authorization": f"Bearer {running_site.token}"}
    return httpx.Client(base_url=f"{running_site.url}/api/v1/", headers=head)


@pytest.fixture
def story() -> Story:
    """A read, an edit, a failing test, and what was given up."""
    told = Story().read("cart.py").edit("cart.py", "a", "b").fails("pytest -q", "1 failed")
    return told.say("Locks on a cart: this approach won't work.")


def told(rest: httpx.Client, story: Story) -> str:
    """Open a session and tell a story of it; return its page."""
    new = {"project": "storefront", "agent": "claude-code", "cwd": ROOT}
    session = rest.post("sessions", json=new).raise_for_status().json()
    rest.post(f"sessions/{session['id']}/events", json={"events": story.rows}).raise_for_status()
    return f"{PROJECT}sessions/{session['id']}"


def test_steps_are_walked_and_opened_without_a_mouse(
    open_page: Open, rest: httpx.Client, story: Story
) -> None:
    page = open_page(told(rest, story))
    bars = page.locator(".ribbon .bar")

    bars.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")

    expect(page.locator("#step-title")).to_have_text("Step 2")
    expect(bars.nth(1)).to_be_focused()
    expect(bars.nth(1)).to_have_attribute("aria-current", "step")
    page.keyboard.press("End")
    expect(bars.last).to_be_focused()
    assert page.locator(".ribbon .bar[tabindex='0']").count() == 1


def test_the_ribbon_grows_while_the_session_runs(
    open_page: Open, rest: httpx.Client, story: Story
) -> None:
    address = told(rest, story)
    page = open_page(address)
    bars = page.locator(".ribbon .bar")
    expect(bars).to_have_count(3)
    bars.nth(1).focus()
    page.keyboard.press("Enter")
    expect(page.locator("#step-title")).to_have_text("Step 2")

    before = len(story.rows)
    story.read("basket.py")
    new = {"events": story.rows[before:]}
    rest.post(f"sessions/{address.rsplit('/', 1)[1]}/events", json=new).raise_for_status()

    expect(bars).to_have_count(4)
    expect(bars.nth(1)).to_be_focused()
    expect(page.locator("#step-title")).to_have_text("Step 2")


@pytest.mark.goal(name="looks")
def test_the_page_of_a_session_has_no_fault_of_access(
    open_page: Open, rest: httpx.Client, story: Story, inspect: Inspect, look: Look
) -> None:
    page = open_page(f"{told(rest, story)}?event=4", **look)
    inspect(page, "session")
    page.locator("#steps details summary").click()
    inspect(page, "session-table")
    page.goto(f"{PROJECT}sessions")
    inspect(page, "sessions")

    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
