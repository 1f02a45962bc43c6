"""Conflicts in the review inbox: counted, shown, settled, taken back, and who sees them."""

import json
from datetime import UTC, datetime

import pytest
from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from memory.review.actions.settlements import Settlement, settle
from memory.review.conflict_rules import ConflictVerdict
from memory.review.queries import conflicts, inbox, overview
from memory.review.queries.conflicts import ConflictView
from tests.support.memories import sent
from tests.support.waiting import waiting

OLD = "The checkout worker in `shop/checkout.py` retries a payment 3 times before it gives up."
NEW = "The checkout worker in `shop/checkout.py` retries a payment 5 times before it gives up."
OTHER = "We chose Postgres advisory locks for merging carts instead of optimistic retries."
HTMX = {"HX-Request": "true"}
INBOX = "/o/acme/p/shop/inbox"
FORM = {"verdict": "keep_newer", "reason": "It was raised."}


def _pair(caller: Caller, **given: str) -> ConflictView:
    now = datetime.now(UTC)
    with entered(caller):
        sent(caller, now, OLD, project="shop")
        found = sent(caller, now, NEW, project="shop", **given).conflict_id
        assert found is not None
        return conflicts.get_conflict(caller=caller, conflict_id=found, now=now)


def _look(caller: Caller, one: ConflictView) -> ConflictView:
    with entered(caller):
        return conflicts.get_conflict(caller=caller, conflict_id=one.id, now=datetime.now(UTC))


@pytest.fixture
def pair(caller: Caller, shop: str) -> ConflictView:
    """Two memories that contradict each other."""
    return _pair(caller)


def test_a_conflict_waits_in_the_inbox_with_both_sides(
    owner_pages: Client, pair: ConflictView
) -> None:
    page = owner_pages.get(INBOX).content.decode()

    assert f'id="row-{pair.id}"' in page
    assert f'data-memory="{pair.id}"' in page
    for text in ("retries a payment 3 times", "retries a payment 5 times", "<ins", "<del"):
        assert text in page
    assert 'data-key="1"' in page
    assert "≈ 1 minute left" in page


def test_every_count_of_what_waits_has_the_conflict(caller: Caller, pair: ConflictView) -> None:
    now = datetime.now(UTC)

    with entered(caller):
        waits = inbox.count_waiting(caller=caller, project="shop", now=now)
        tally = overview.count_project(caller=caller, project="shop", now=now)
        (card,) = overview.list_projects(caller=caller, now=now)

    assert (waits.total, tally.due, card.due) == (1, 1, 1)
    assert waits.oldest_at == tally.oldest_review_at == pair.found_at


@pytest.mark.parametrize(("group", "there"), [("", True), ("conflicts", True), ("new", False)])
def test_a_group_narrows_to_conflicts(
    owner_pages: Client, caller: Caller, pair: ConflictView, group: str, there: bool
) -> None:
    with entered(caller):
        new = waiting(caller, datetime.now(UTC), OTHER, project="shop")

    page = owner_pages.get(f"{INBOX}/rows", {"group": group}, headers=HTMX).content.decode()

    assert (f'id="row-{pair.id}"' in page) is there
    assert (f'id="row-{new.id}"' in page) is (group != "conflicts")


def test_it_is_settled_in_the_pane_and_taken_back_by_the_toast(
    owner_pages: Client, caller: Caller, pair: ConflictView
) -> None:
    address = f"{INBOX}/conflicts/{pair.id}"

    done = owner_pages.post(address, {**FORM, "version": str(pair.version)}, headers=HTMX)

    assert _look(caller, pair).verdict == "keep_newer"
    assert "Nothing waits for you" in done.content.decode()
    undo = json.loads(done["HX-Trigger"])["cairn:toast"]["undo"]
    again = owner_pages.post(undo, headers=HTMX)
    assert f'data-memory="{pair.id}"' in again.content.decode()
    assert _look(caller, pair).verdict == ""


def test_who_was_slower_is_told_what_happened(
    owner_pages: Client, caller: Caller, pair: ConflictView
) -> None:
    with entered(caller):
        settlement = Settlement(verdict=ConflictVerdict.KEEP_OLDER, reason="Rolled back.")
        now = datetime.now(UTC)
        settle(caller=caller, conflict_id=pair.id, settlement=settlement, now=now)

    form = {**FORM, "version": str(pair.version)}
    answer = owner_pages.post(f"{INBOX}/conflicts/{pair.id}", form, headers=HTMX)

    shown = answer.content.decode()
    assert answer.status_code == 412
    for text in ("This conflict was settled meanwhile.", "The older one was kept.", "Rolled back."):
        assert text in shown
    assert _look(caller, pair).verdict == "keep_older"


def test_without_a_reason_the_form_comes_back_with_what_was_chosen(
    owner_pages: Client, caller: Caller, pair: ConflictView
) -> None:
    form = {"verdict": "both", "reason": "", "version": str(pair.version)}

    answer = owner_pages.post(f"{INBOX}/conflicts/{pair.id}", form, headers=HTMX)

    assert answer.status_code == 422
    assert 'value="both" required data-key="b" aria-keyshortcuts="B" checked' in (
        answer.content.decode()
    )


def test_all_at_once_is_about_memories_alone(
    owner_pages: Client, caller: Caller, pair: ConflictView
) -> None:
    with entered(caller):
        waiting(caller, datetime.now(UTC), OTHER, project="shop")

    asked = owner_pages.get(f"{INBOX}/bulk", headers=HTMX).content.decode()
    owner_pages.post(f"{INBOX}/bulk", {"whole": "1", "verb": "reject", "count": "1"}, headers=HTMX)

    assert "1 memory waits here." in asked
    with entered(caller):
        waits = inbox.count_waiting(caller=caller, project="shop", now=datetime.now(UTC))
    assert (waits.total, _look(caller, pair).verdict) == (1, "")


def test_a_reader_sees_who_decides(viewer_pages: Client, pair: ConflictView) -> None:
    shown = viewer_pages.get(f"{INBOX}/conflicts/{pair.id}", headers=HTMX).content.decode()
    refused = viewer_pages.post(
        f"{INBOX}/conflicts/{pair.id}", {**FORM, "version": "1"}, headers=HTMX
    )

    assert "Viewers read. Members and above decide." in shown
    assert refused.status_code == 403


def test_a_conflict_with_a_personal_memory_is_in_nobody_elses_inbox(
    viewer_pages: Client, stranger_pages: Client, caller: Caller, member_caller: Caller, shop: str
) -> None:
    mine = _pair(caller, scope="personal")

    assert f"row-{mine.id}" not in viewer_pages.get(INBOX).content.decode()
    for pages in (viewer_pages, stranger_pages):
        assert pages.get(f"{INBOX}/conflicts/{mine.id}", headers=HTMX).status_code == 404
        assert pages.post(f"{INBOX}/conflicts/{mine.id}/undo", headers=HTMX).status_code == 404
    with entered(member_caller):
        waits = inbox.count_waiting(caller=member_caller, project="shop", now=datetime.now(UTC))
        tally = overview.count_project(caller=member_caller, project="shop", now=datetime.now(UTC))
        cards = overview.list_projects(caller=member_caller, now=datetime.now(UTC))
    assert (waits.total, waits.oldest_at, tally.due, tally.oldest_review_at) == (0, None, 0, None)
    assert [card.due for card in cards] == [0]


def test_without_scripts_the_list_opens_with_it(owner_pages: Client, pair: ConflictView) -> None:
    moved = owner_pages.get(f"{INBOX}/conflicts/{pair.id}")

    shown = owner_pages.get(moved["Location"]).content.decode()
    assert f'data-memory="{pair.id}"' in shown
