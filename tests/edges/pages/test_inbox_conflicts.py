"""Conflicts in the review inbox: counted, shown, settled, snoozed, reopened, and who sees them."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller, Role
from accounts.errors import CairnError, NotFound, RoleNotSufficient
from memory.errors import NotActive
from memory.records.models import Memory, ReviewVerdict
from memory.review.actions.settlements import Settlement, settle, snooze_conflict
from memory.review.actions.verdict_undo import undo
from memory.review.queries import conflicts, inbox, overview
from memory.review.queries.conflicts import ConflictVerdict, ConflictView
from teams.models import AuditEntry
from tests.edges.pages.conftest import contradicting, looked_at
from tests.support.memories import as_agent, as_role
from tests.support.waiting import waiting

OTHER = "We chose Postgres advisory locks for merging carts instead of optimistic retries."
HTMX = {"HX-Request": "true"}
INBOX = "/o/acme/p/shop/inbox"
WEEK = timedelta(days=7)
FORM = {"verdict": "keep_newer", "reason": "It was raised."}


def test_a_conflict_waits_in_the_inbox_with_both_sides(
    owner_pages: Client, pair: ConflictView
) -> None:
    page = owner_pages.get(INBOX).content.decode()
    moved = owner_pages.get(f"{INBOX}/conflicts/{pair.id}")

    assert f'id="row-{pair.id}"' in page
    for text in ("retries a payment 3 times", "retries a payment 5 times", "<ins", "<del"):
        assert text in page
    assert 'data-key="1"' in page
    assert "≈ 1 minute left" in page
    for text in (page, owner_pages.get(moved["Location"]).content.decode()):
        assert f'data-memory="{pair.id}"' in text


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

    assert looked_at(caller, pair).verdict == "keep_newer"
    assert "No memories need review" in done.content.decode()
    undo = json.loads(done["HX-Trigger"])["cairn:toast"]["undo"]
    again = owner_pages.post(undo, headers=HTMX)
    assert f'data-memory="{pair.id}"' in again.content.decode()
    assert looked_at(caller, pair).verdict == ""


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
    assert looked_at(caller, pair).verdict == "keep_older"


def _counted(caller: Caller, now: datetime) -> tuple[int, int, int]:
    """Return how many wait: in the inbox, on the overview, on the card of the project."""
    with entered(caller):
        waits = inbox.count_waiting(caller=caller, project="shop", now=now)
        tally = overview.count_project(caller=caller, project="shop", now=now)
        (card,) = overview.count_by_project(caller=caller, now=now).values()
    assert waits.oldest_at == tally.oldest_review_at
    return waits.total, tally.due, card["due"]


def test_a_conflict_with_a_personal_memory_is_in_nobody_elses_inbox(
    viewer_pages: Client,
    stranger_pages: Client,
    caller: Caller,
    member_caller: Caller,
    other_caller: Caller,
    shop: str,
) -> None:
    mine, now = contradicting(caller, scope="personal"), datetime.now(UTC)
    address = f"{INBOX}/conflicts/{mine.id}"

    assert f"row-{mine.id}" not in viewer_pages.get(INBOX).content.decode()
    for pages in (viewer_pages, stranger_pages):
        assert pages.get(address, headers=HTMX).status_code == 404
        assert pages.post(f"{address}/undo", headers=HTMX).status_code == 404
        assert pages.get(f"{address}/snooze", headers=HTMX).status_code == 404
        sent = pages.post(f"{address}/snooze", {"for": "day"}, headers=HTMX)
        assert sent.status_code == 404
    for each in (member_caller, other_caller):
        with entered(each), pytest.raises(NotFound):
            snooze_conflict(caller=each, conflict_id=mine.id, until=now + WEEK, now=now)
    assert _counted(member_caller, now) == (0, 0, 0)


def test_it_rests_for_who_snoozed_it_and_comes_back_by_itself(
    caller: Caller, member_caller: Caller, pair: ConflictView
) -> None:
    now = datetime.now(UTC)
    with entered(caller):
        snooze_conflict(caller=caller, conflict_id=pair.id, until=now + WEEK, now=now)
        is_open = conflicts.count_open(caller=caller, project="shop")

    assert _counted(caller, now) == (0, 0, 0)
    assert _counted(member_caller, now) == (1, 1, 1)
    assert _counted(caller, now + WEEK) == (1, 1, 1)
    assert is_open == 1


def test_both_of_its_memories_wait_as_before(caller: Caller, pair: ConflictView) -> None:
    now = datetime.now(UTC)
    with entered(caller):
        with tenancy.unit():
            Memory.objects.filter(pk=pair.newer.id).update(needs_review=True)
        snooze_conflict(caller=caller, conflict_id=pair.id, until=now + WEEK, now=now)
        page = inbox.list_waiting(
            caller=caller, project="shop", group=None, after=None, limit=9, now=now
        )

    assert [(one.memory.id, one.conflict) for one in page.items] == [(pair.newer.id, None)]


def test_the_pane_asks_how_long_and_the_toast_takes_it_back(
    owner_pages: Client, caller: Caller, pair: ConflictView
) -> None:
    address = f"{INBOX}/conflicts/{pair.id}/snooze"

    asked = owner_pages.get(address, headers=HTMX).content.decode()
    wrong = owner_pages.post(address, {"for": "ever"}, headers=HTMX)
    done = owner_pages.post(address, {"for": "week"}, headers=HTMX)
    undo_at = json.loads(done["HX-Trigger"])["cairn:toast"]["undo"]
    again = owner_pages.post(undo_at, headers=HTMX)

    assert "Snooze this conflict" in asked
    assert wrong.status_code == 422
    assert "This is not a moment until which to snooze." in wrong.content.decode()
    assert "No memories need review" in done.content.decode()
    assert f'data-memory="{pair.id}"' in again.content.decode()
    assert _counted(caller, datetime.now(UTC)) == (1, 1, 1)


def test_one_that_is_settled_does_not_rest(caller: Caller, pair: ConflictView) -> None:
    now = datetime.now(UTC)
    settlement = Settlement(verdict=ConflictVerdict.KEEP_OLDER, reason="Rolled back.")
    with entered(caller):
        settle(caller=caller, conflict_id=pair.id, settlement=settlement, now=now)

        with pytest.raises(NotActive):
            snooze_conflict(caller=caller, conflict_id=pair.id, until=now + WEEK, now=now)

        week = inbox.count_decided(caller=caller, project="shop", now=now)
    assert (week["settled"], week["total"]) == (1, 1)


def test_neither_the_log_nor_the_week_says_what_was_decided_about_a_personal_memory(
    caller: Caller, member_caller: Caller, shop: str
) -> None:
    mine, now = contradicting(caller, scope="personal"), datetime.now(UTC)
    settlement = Settlement(verdict=ConflictVerdict.BOTH, reason="Each in its case.")

    with entered(caller):
        snooze_conflict(caller=caller, conflict_id=mine.id, until=now + WEEK, now=now)
        settle(caller=caller, conflict_id=mine.id, settlement=settlement, now=now)
        with tenancy.unit():
            entry = AuditEntry.objects.filter(act="memory.conflict_snoozed").get()
    with entered(member_caller):
        week = inbox.count_decided(caller=member_caller, project="shop", now=now)

    assert entry.object_id == str(mine.newer.id)
    assert str(mine.id) not in json.dumps(entry.details)
    assert (week["settled"], week["total"]) == (0, 0)


def test_viewers_do_not_snooze_and_others_do_not_undo_it(
    caller: Caller, member_caller: Caller, pair: ConflictView
) -> None:
    now = datetime.now(UTC)
    viewer = as_role(member_caller, Role.VIEWER)
    with entered(viewer), pytest.raises(RoleNotSufficient):
        snooze_conflict(caller=viewer, conflict_id=pair.id, until=now + WEEK, now=now)
    with entered(caller):
        made = snooze_conflict(caller=caller, conflict_id=pair.id, until=now + WEEK, now=now)

    for each in (member_caller, as_agent(caller)):
        with entered(each), pytest.raises(CairnError):
            undo(caller=each, review_id=made.review_id, now=now)

    with entered(caller), tenancy.unit():
        assert ReviewVerdict.objects.get(pk=made.review_id).undone_at is None
