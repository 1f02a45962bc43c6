"""Conflicts on pages, thresholds of the gates, and what became of what was sent."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from memory.review.queries.conflicts import ConflictView
from tests.edges.pages.conftest import looked_at
from tests.support.memories import sent

PAGE = "/o/acme/p/shop/conflicts"


def test_both_sides_are_shown_with_what_differs_and_below_each_memory(
    owner_pages: Client, pair: ConflictView
) -> None:
    shown = owner_pages.get(PAGE).content.decode()

    for text in (*(f"retries a payment {n} times" for n in (3, 5)), "<ins", "<del"):
        assert text in shown
    assert "Keep the older one" in shown
    for query in ("", "?q=payment"):
        listed = owner_pages.get(f"/o/acme/p/shop/memories{query}").content.decode()
        assert listed.count("Contradicts") >= 2


def test_without_conflicts_it_says_what_would_stand_there(owner_pages: Client, shop: str) -> None:
    assert "No open conflicts" in owner_pages.get(PAGE).content.decode()
    assert "No settled conflicts yet" in owner_pages.get(f"{PAGE}?state=settled").content.decode()


def test_it_is_settled_and_taken_back_on_its_page(
    owner_pages: Client, caller: Caller, pair: ConflictView
) -> None:
    address = f"{PAGE}/{pair.id}"

    form = {"verdict": "keep_newer", "reason": "Raised.", "version": "1"}
    settled = owner_pages.post(address, form)

    assert settled["Location"] == address
    assert looked_at(caller, pair).verdict == "keep_newer"
    assert "Raised." in owner_pages.get(f"{PAGE}?state=settled").content.decode()
    version = str(looked_at(caller, pair).version)
    owner_pages.post(address, {"verdict": "reopen", "version": version})
    assert looked_at(caller, pair).verdict == ""


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"verdict": "both", "version": "1"}, 422),
        ({"reason": "So.", "version": "1"}, 422),
        ({"verdict": "both", "reason": "So.", "version": "7"}, 412),
        ({"verdict": "both", "reason": "So."}, 412),
        ({"verdict": "edit", "reason": "So.", "version": "1"}, 422),
    ],
)
def test_what_cannot_be_settled_stays_in_the_form(
    owner_pages: Client, caller: Caller, pair: ConflictView, form: dict[str, str], status: int
) -> None:
    answer = owner_pages.post(f"{PAGE}/{pair.id}", form)

    assert answer.status_code == status
    assert 'role="alert"' in answer.content.decode()
    assert looked_at(caller, pair).verdict == ""


def test_a_reader_sees_both_sides_and_settles_nothing(
    viewer_pages: Client, pair: ConflictView
) -> None:
    shown = viewer_pages.get(f"{PAGE}/{pair.id}").content.decode()
    answer = viewer_pages.post(
        f"{PAGE}/{pair.id}", {"verdict": "both", "reason": "So.", "version": "1"}
    )

    assert "Viewers read. Members and above decide." in shown
    assert shown.count('name="verdict"') == shown.count(" disabled aria-describedby") == 4
    assert answer.status_code == 403


def test_activity_counts_what_became_of_what_was_sent(
    owner_pages: Client, caller: Caller, pair: ConflictView
) -> None:
    with entered(caller):
        sent(caller, datetime.now(UTC), "short", project="shop")

    shown = owner_pages.get("/o/acme/p/shop/activity").content.decode()

    assert "Refused: length" in shown
    assert "Contradicts one" in shown
