"""Every page in both themes and languages, wide and on a phone: no fault of access.

The short form takes two looks, which differ in all of it; `make goal-looks` takes all four.
"""

import pytest

from tests.journeys.browser.conftest import Inspect, Look, Open

pytestmark = [pytest.mark.browser, pytest.mark.goal(name="looks")]
PROJECT = "/o/acme/p/storefront/"

PAGES = {
    "organizations": "/o/?choose",
    "organization": "/o/acme/",
    "overview": PROJECT,
    "overview-empty": "/o/acme/p/warehouse/",
    "memories": f"{PROJECT}memories",
    "memories-search": f"{PROJECT}memories?q=redis+refresh&why=1",
    "memories-silence": f"{PROJECT}memories?q=sourdough+bread&why=1",
    "memories-anyway": f"{PROJECT}memories?q=sourdough+bread+token&why=1&anyway=1",
    "memories-none": f"{PROJECT}memories?q=tag:nothing",
    "memories-wrong": f"{PROJECT}memories?q=is:purple",
    "names": f"{PROJECT}entities",
    "name": f"{PROJECT}entities/about?name=redis",
    "inbox": f"{PROJECT}inbox",
    "inbox-group": f"{PROJECT}inbox?group=new",
    "inbox-none": "/o/acme/p/warehouse/inbox",
    "teach": f"{PROJECT}teach",
    "check": f"{PROJECT}check",
    "experiments": f"{PROJECT}experiments",
    "usage": f"{PROJECT}usage",
    "device": "/device",
    "connections": f"{PROJECT}connections",
    "activity": f"{PROJECT}activity",
    "new-project": "/o/acme/projects/new",
    "general": "/o/acme/settings/general",
    "members": "/o/acme/settings/members",
    "teams": "/o/acme/settings/teams",
    "project-settings": f"{PROJECT}settings",
    "jobs": "/o/acme/settings/jobs",
    "tokens": "/o/acme/settings/tokens",
    "models": "/o/acme/settings/models",
    "audit": "/o/acme/settings/audit",
    "new-token": "/o/acme/settings/tokens/new",
    "me": "/me",
    "docs": "/docs/",
    "missing": "/nothing",
    "two-factors": "/2fa/",
}


def test_pages_have_no_fault_of_access(open_page: Open, inspect: Inspect, look: Look) -> None:
    page = open_page(PROJECT, **look)

    for name, address in PAGES.items():
        page.goto(address)
        inspect(page, name)


def test_the_inbox_and_its_dialogs_have_no_fault_of_access(
    open_page: Open, inspect: Inspect, look: Look
) -> None:
    page = open_page(f"{PROJECT}inbox?group=new", **look)

    page.locator(".list .open").first.click()
    page.wait_for_selector("#inspector .statement")
    for key in ("n", "s", "m", "e"):
        page.locator(f"#inspector [data-key={key}]").click()
        page.wait_for_selector("#modal[open] .foot")
        inspect(page, f"inbox-{key}")
        page.locator("#modal [data-close]").click()


def test_inspector_and_dialogs_have_no_fault_of_access(
    open_page: Open, inspect: Inspect, look: Look
) -> None:
    page = open_page(f"{PROJECT}memories", **look)

    page.locator(".list .open").first.click()
    page.wait_for_selector("#inspector .statement")
    inspect(page, "inspector")
    page.locator("#inspector [data-key=e]").click()
    page.wait_for_selector("#modal[open] #correct-diff")
    inspect(page, "correct")


def test_a_team_is_made_and_filled_by_keyboard(
    open_page: Open, inspect: Inspect, look: Look
) -> None:
    page = open_page("/o/acme/settings/teams", **look)
    page.locator("#team-name").focus()
    page.keyboard.type(f"Team {look['name']}")
    page.keyboard.press("Enter")
    page.wait_for_selector("#person")
    page.locator("#person").focus()
    page.keyboard.type("jon@acme.test")
    page.keyboard.press("Enter")
    page.wait_for_selector("#people tbody tr:nth-child(2)")

    inspect(page, "team")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_focus_is_always_seen(open_page: Open, scheme: str) -> None:
    page = open_page(f"{PROJECT}memories", color_scheme=scheme)
    unseen = []

    for _ in range(30):
        page.keyboard.press("Tab")
        unseen += page.evaluate(
            "() => { const node = document.activeElement; const row = node.closest('.row');"
            " const rings = [node, row].filter(Boolean).map((one) => getComputedStyle(one));"
            " const seen = rings.some((s) => s.outlineStyle !== 'none');"
            " return node === document.body || seen ? [] : [node.outerHTML.slice(0, 80)]; }"
        )

    assert unseen == []


def test_motion_stops_when_less_is_asked_for(open_page: Open) -> None:
    page = open_page(PROJECT, reduced_motion="reduce")

    durations = page.evaluate(
        "[...document.querySelectorAll('*')].map((n) => getComputedStyle(n).transitionDuration)"
    )

    assert all(float(each.split("s")[0]) < 0.01 for each in durations)
