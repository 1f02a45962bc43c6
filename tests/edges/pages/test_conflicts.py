"""Conflicts on pages, thresholds of the gates, and what became of what was sent."""

from datetime import UTC, datetime

from accounts.authentication import entered
from memory.review.queries.conflicts import ConflictView
from tests.edges.pages.conftest import looked_at
from tests.edges.pages.session_pages import Pages
from tests.support.memories import sent

PAGE = "/o/acme/p/shop/conflicts"


def test_both_sides_are_shown_with_what_differs(pages: Pages, pair: ConflictView) -> None:
    shown = pages.owner.get(PAGE).text

    for text in (*(f"retries a payment {n} times" for n in (3, 5)), "<ins", "<del"):
        assert text in shown
    assert "Keep the older one" in shown
    for query in ("", "?q=payment"):
        listed = pages.owner.get(f"/o/acme/p/shop/memories{query}").text
        assert listed.count("Contradicts") >= 2


def test_without_conflicts_it_says_what_would_stand_there(pages: Pages) -> None:
    assert "No open conflicts" in pages.owner.get(PAGE).text
    assert "No settled conflicts yet" in pages.owner.get(f"{PAGE}?state=settled").text


def test_it_is_settled_and_taken_back_on_its_page(pages: Pages, pair: ConflictView) -> None:
    address = f"{PAGE}/{pair.id}"

    form = {"verdict": "keep_newer", "reason": "Raised.", "version": "1"}
    settled = pages.owner.post(address, form)

    assert settled["Location"] == address
    assert looked_at(pages.caller, pair).verdict == "keep_newer"
    assert "Raised." in pages.owner.get(f"{PAGE}?state=settled").text
    version = str(looked_at(pages.caller, pair).version)
    pages.owner.post(address, {"verdict": "reopen", "version": version})
    assert looked_at(pages.caller, pair).verdict == ""


def test_a_reader_sees_both_sides_and_settles_nothing(pages: Pages, pair: ConflictView) -> None:
    shown = pages.viewer.get(f"{PAGE}/{pair.id}").text
    answer = pages.viewer.post(
        f"{PAGE}/{pair.id}", {"verdict": "both", "reason": "So.", "version": "1"}
    )

    assert "Viewers read. Members and above decide." in shown
    assert shown.count('name="verdict"') == shown.count(" disabled aria-describedby") == 4
    assert answer.status_code == 403


def test_activity_counts_what_became_of_what_was_sent(pages: Pages, pair: ConflictView) -> None:
    with entered(pages.caller):
        sent(pages.caller, datetime.now(UTC), "short", project="shop")

    shown = pages.owner.get("/o/acme/p/shop/activity").text

    assert "Refused: length" in shown
    assert "Contradicts one" in shown
