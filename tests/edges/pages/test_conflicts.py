"""Conflicts on pages, thresholds of the gates, and what became of what was sent."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from memory.review.queries import conflicts
from memory.review.queries.conflicts import ConflictView
from tests.conftest import NOW
from tests.support.memories import sent

OLD = "The checkout worker in `shop/checkout.py` retries a payment 3 times before it gives up."
NEW = "The checkout worker in `shop/checkout.py` retries a payment 5 times before it gives up."
PAGE = "/o/acme/p/shop/conflicts"


def _pair(caller: Caller, **given: str) -> ConflictView:
    with entered(caller):
        sent(caller, NOW, OLD, project="shop")
        found = sent(caller, NOW, NEW, project="shop", **given).conflict_id
        assert found is not None
        return conflicts.get_conflict(caller=caller, conflict_id=found, now=NOW)


def _look(caller: Caller, one: ConflictView) -> ConflictView:
    with entered(caller):
        return conflicts.get_conflict(caller=caller, conflict_id=one.id, now=NOW)


@pytest.fixture
def pair(caller: Caller, shop: str) -> ConflictView:
    """Two memories that contradict each other."""
    return _pair(caller)


def test_the_list_shows_both_sides_and_what_differs(
    owner_pages: Client, pair: ConflictView
) -> None:
    shown = owner_pages.get(PAGE).content.decode()

    for text in ("retries a payment 3 times", "retries a payment 5 times", "<ins", "<del"):
        assert text in shown
    assert "Keep the older one" in shown


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
    assert _look(caller, pair).verdict == "keep_newer"
    assert "Raised." in owner_pages.get(f"{PAGE}?state=settled").content.decode()
    version = str(_look(caller, pair).version)
    owner_pages.post(address, {"verdict": "reopen", "version": version})
    assert _look(caller, pair).verdict == ""


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
    assert _look(caller, pair).verdict == ""


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


def test_the_list_of_memories_shows_the_other_side_below(
    owner_pages: Client, pair: ConflictView
) -> None:
    for query in ("", "?q=payment"):
        shown = owner_pages.get(f"/o/acme/p/shop/memories{query}").content.decode()
        assert shown.count("Contradicts") >= 2


def test_activity_counts_what_became_of_what_was_sent(
    owner_pages: Client, caller: Caller, pair: ConflictView
) -> None:
    with entered(caller):
        sent(caller, datetime.now(UTC), "short", project="shop")

    shown = owner_pages.get("/o/acme/p/shop/activity").content.decode()

    assert "Refused: length" in shown
    assert "Contradicts one" in shown
