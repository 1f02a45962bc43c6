"""The page of what memory changed: off, too few, running; who may change it, who sees what."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.identifiers import new_id
from memory.records.models import Memory
from memory.sessions.models import GivenOut, Session
from teams.actions import change_experiments
from teams.models import Project
from tests.edges.pages.conftest import remembered
from tests.edges.pages.session_pages import Pages

SENT = {"enabled": "1", "control_percent": "5", "passive_percent": "10", "withheld_percent": "0"}


def page_of(client: Client, shop: str, query: str = "") -> str:
    """Return the page."""
    return client.get(f"{shop}experiments{query}").text


def sessions(caller: Caller, group: str, figures: dict[str, Any], count: int) -> list[UUID]:
    """Store measured sessions of a person; return their ids."""
    now = datetime.now(UTC)
    assert caller.user_id is not None
    with entered(caller), tenancy.unit():
        project = Project.objects.get(slug="shop")
        rows = Session.objects.bulk_create(
            Session(
                id=new_id(),
                project=project,
                audience=caller.user_id,
                scope="personal",
                opened_by=caller.user_id,
                source_interface="api",
                experiment_group=group,
                figures=figures,
                state="consolidated",
                opened_at=now - timedelta(hours=place + 1),
                active_at=now,
            )
            for place in range(count)
        )
    return [row.id for row in rows]


@pytest.fixture
def running(shop: str, caller: Caller) -> None:
    """A comparison of forty sessions with twenty-five, which it is better not to be among."""
    with entered(caller):
        change_experiments(
            caller=caller, ref="shop", changed={"enabled": True, "withheld_percent": 10}
        )
    sessions(caller, "full", {"rereads": 1, "tokens": 800, "qa": 1}, 20)
    sessions(caller, "full", {"rereads": 2, "tokens": 900, "qa": 1}, 20)
    sessions(caller, "control", {"rereads": 5, "tokens": 1_500, "qa": 0}, 13)
    sessions(caller, "control", {"rereads": 6, "tokens": 1_700, "qa": 1}, 12)


def test_off_says_so_and_how_to_begin(pages: Pages) -> None:
    page = page_of(pages.owner, pages.shop)

    assert "No experiment is running" in page
    assert 'name="enabled" value="1">' in page
    assert "95" not in page.partition("<main")[2].partition("</main")[0]


@pytest.mark.usefixtures("running")
def test_a_running_comparison_is_shown_to_who_sees_its_sessions(
    owner_pages: Client, viewer_pages: Client, shop: str, caller: Caller
) -> None:
    remembered(caller)

    page, seen = page_of(owner_pages, shop), page_of(viewer_pages, shop)
    refused = viewer_pages.post(f"{shop}experiments/change", SENT)
    told, hidden = (pages.get(shop).text for pages in (owner_pages, viewer_pages))

    for text in (
        'class="interval green"', "tokens saved", "40 sessions", "QA passed at first",
        "What the graph changes in searches", "All sessions of this project",
    ):  # fmt: skip
        assert text in page
    assert ["interval green" in seen, "tokens saved" in seen] == [False, False]
    assert "Owners and admins change this." in seen
    assert refused.status_code == 403
    assert "Tokens saved" in told
    assert f'href="{shop}experiments?days=90"' in told
    assert ["Tokens saved" in hidden, "Verified memories" in hidden] == [False, True]


@pytest.mark.usefixtures("running")
def test_a_memory_that_is_withheld_is_listed_with_both_counts(pages: Pages) -> None:
    memory = remembered(pages.caller)
    now = datetime.now(UTC)
    with entered(pages.caller), tenancy.unit():
        ids = Session.objects.order_by("id").values_list("id", flat=True)
        GivenOut.all_rows.bulk_create(
            GivenOut(memory_id=memory.id, session_id=one, at=now, point="step", withheld=not place)
            for place, one in enumerate(ids[:5])
        )

    page = page_of(pages.owner, pages.shop, "?days=30")

    assert "given to 4, withheld from 1" in page
    assert f"/memories/{memory.id}" in page


def test_shares_are_saved_and_wrong_ones_come_back_with_what_was_sent(pages: Pages) -> None:
    saved = pages.owner.post(f"{pages.shop}experiments/change", {**SENT, "control_percent": "7.5"})
    wrong = pages.owner.post(
        f"{pages.shop}experiments/change", {**SENT, "control_percent": "seven"}
    )

    assert saved.status_code == 302
    assert wrong.status_code == 422
    assert "Use a number from 0 to 50." in wrong.text
    assert 'value="7.5"' in page_of(pages.owner, pages.shop)


def learned(caller: Caller) -> None:
    """Let forty sessions use a decision and ignore a gotcha."""
    now = datetime.now(UTC)
    used = remembered(caller)
    ignored = remembered(caller, "Rounding in the cart is half to even, so totals may differ.")
    ids = sessions(caller, "full", {}, 40)
    with entered(caller), tenancy.unit():
        Session.objects.filter(id__in=ids).update(phase="coding")
        for memory, type, outcome in ((used, "decision", "used"), (ignored, "gotcha", "ignored")):
            Memory.objects.filter(pk=memory.id).update(type=type)
            GivenOut.all_rows.bulk_create(
                GivenOut(memory_id=memory.id, session_id=one, at=now, point="step", outcome=outcome)
                for one in ids
            )


def decided(client: Client, shop: str, verdict: str, page: str = "") -> Any:
    """Decide about what a page shows; return the answer."""
    hidden = {name: hidden_of(page, name) for name in ("proposal", "decided_at")}
    return client.post(f"{shop}experiments/weights", {"verdict": verdict, **hidden})


def hidden_of(page: str, name: str) -> str:
    """Return what a page sends along with a decision."""
    return page.partition(f'name="{name}" value="')[2].partition('"')[0]


def test_learned_weights_are_shown_approved_and_taken_back(pages: Pages) -> None:
    assert "A proposal needs 30" in page_of(pages.owner, pages.shop)
    learned(pages.caller)
    shown, seen = page_of(pages.owner, pages.shop), page_of(pages.viewer, pages.shop)

    done = decided(pages.owner, pages.shop, "approve", shown)
    after = page_of(pages.owner, pages.shop)
    unnamed = decided(pages.owner, pages.shop, "undo", shown)
    undone, again = (decided(pages.owner, pages.shop, "undo", after) for _ in range(2))
    back = page_of(pages.owner, pages.shop)

    assert "Approve these weights" in shown
    assert "Approve these weights" not in seen
    assert (done.status_code, undone.status_code) == (302, 302)
    assert (unnamed.status_code, again.status_code) == (409, 409)
    assert "Weights of this project" in after
    assert "Undo the decision" in after
    assert "Weights of this project" not in back
    assert "Undo the decision" not in back
