"""From signing in to a memory that appears by itself, in a real browser."""

from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.journeys.browser.conftest import Open
from tests.support.site import Site

pytestmark = pytest.mark.browser
PROJECT = "/o/acme/p/storefront/"


def _statement() -> str:
    return f"Job {uuid4().hex[:8]} must end before the backup starts, or it is cut off."


def test_new_person_signs_up_and_makes_a_project(browser: Browser, running_site: Site) -> None:
    context = browser.new_context(base_url=running_site.url)
    page = context.new_page()
    page.goto("/signup/")
    page.fill("[name=email]", f"{uuid4().hex}@new.test")
    page.fill("[name=password1]", running_site.password)
    page.click("main button[type=submit]")

    first = page.get_by_role("link", name="Create the first project")
    expect(first).to_be_visible()
    page.wait_for_load_state("load")  # before its scripts run, the link opens a page of its own
    first.click()
    page.fill("#project-name", "My First Shop")
    page.click("#modal .foot button")

    expect(page.get_by_role("heading", name="No memories yet")).to_be_visible()
    assert page.url.endswith("/p/my-first-shop/")
    context.close()


def test_taught_memory_is_on_the_overview_without_a_reload(open_page: Open) -> None:
    page = open_page(PROJECT)
    statement = _statement()

    page.keyboard.press("t")
    page.fill("#teach-content", statement)
    page.keyboard.press("Control+Enter")

    expect(page.locator("#toasts")).to_contain_text("Remembered.")
    expect(page.locator("#feed .row").first).to_contain_text(statement[:12])


def test_memory_of_an_agent_appears_live(open_page: Open, agent: httpx.Client) -> None:
    page = open_page(PROJECT)
    expect(page.locator("[data-live-state]")).to_contain_text("Live")
    statement = _statement()

    body = {"project": "storefront", "content": statement, "type": "requirement"}
    agent.post("memories", json=body)

    expect(page.locator("#feed .row").first).to_contain_text(statement[:12])


def test_list_offers_what_is_new_and_rows_change_in_place(
    open_page: Open, agent: httpx.Client
) -> None:
    body = {"project": "storefront", "content": _statement(), "type": "requirement"}
    memory = agent.post("memories", json=body).json()["memory"]
    page = open_page(f"{PROJECT}memories")
    expect(page.locator("[data-live-state]")).to_contain_text("Live")

    changed = f"{body['content']} Since March."
    agent.patch(f"memories/{memory['id']}", json={"content": changed}, headers={"If-Match": '"v1"'})
    agent.post("memories", json={**body, "content": _statement()})

    expect(page.locator(f"#row-{memory['id']}")).to_contain_text("Since March.")
    expect(page.locator("#news")).to_have_text("1 change: show it")


def test_reader_further_down_is_offered_what_is_new(open_page: Open, agent: httpx.Client) -> None:
    page = open_page(f"{PROJECT}activity", viewport={"width": 900, "height": 400})
    expect(page.locator("[data-live-state]")).to_contain_text("Live")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    statement = _statement()

    agent.post("memories", json={"project": "storefront", "content": statement})
    page.locator(".pill").click()

    expect(page.locator("#feed .row").nth(1)).to_contain_text(statement[:12])


def test_live_page_says_when_the_line_is_down_and_catches_up(
    open_page: Open, agent: httpx.Client
) -> None:
    page = open_page(PROJECT)
    expect(page.locator("[data-live-state]")).to_contain_text("Live")
    statement = _statement()
    page.context.set_offline(True)
    page.evaluate("document.dispatchEvent(new Event('cairn:drop'))")

    expect(page.locator("[data-live-state]")).to_contain_text("Reconnecting")
    agent.post("memories", json={"project": "storefront", "content": statement})
    page.context.set_offline(False)

    expect(page.locator("#feed .row").first).to_contain_text(statement[:12])
    assert page.locator("#feed").get_by_text(statement[:12]).count() == 1


def test_check_list_turns_green(open_page: Open, running_site: Site) -> None:
    page = open_page("/o/acme/p/warehouse/connections")
    page.select_option("#tool", "cursor")
    page.get_by_role("button", name="Create token").click()
    token = page.locator(".notice.good code").inner_text()

    with httpx.Client(headers={"Authorization": f"Bearer {token}"}) as cursor:
        body = {"project": "warehouse", "content": _statement()}
        cursor.post(f"{running_site.url}/api/v1/memories", json=body)

    expect(page.locator(".steps .done")).to_have_count(3)
