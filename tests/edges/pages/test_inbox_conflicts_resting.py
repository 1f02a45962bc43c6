"""Conflicts that somebody snoozes: they rest for that person alone, come back, can be undone."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller, Role
from accounts.errors import CairnError, InvalidInput, NotFound
from memory.errors import NotActive
from memory.records.models import Memory, ReviewVerdict
from memory.review.actions.settlements import Settlement, settle, snooze_conflict
from memory.review.actions.verdict_undo import undo
from memory.review.conflict_rules import ConflictVerdict
from memory.review.queries import conflicts, inbox, overview
from memory.review.queries.conflicts import ConflictView
from teams.errors import RoleNotSufficient
from teams.models import AuditEntry
from tests.edges.pages.test_inbox_conflicts import HTMX, INBOX, _pair
from tests.support.memories import as_agent, as_role

WEEK = timedelta(days=7)


def _counted(caller: Caller, now: datetime) -> tuple[int, int, int]:
    """Return how many wait: in the inbox, on the overview, on the card of the project."""
    with entered(caller):
        waits = inbox.count_waiting(caller=caller, project="shop", now=now)
        tally = overview.count_project(caller=caller, project="shop", now=now)
        (card,) = overview.list_projects(caller=caller, now=now)
    return waits.total, tally.due, card.due


@pytest.fixture
def pair(caller: Caller, shop: str) -> ConflictView:
    """Two memories that contradict each other."""
    return _pair(caller)


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
    done = owner_pages.post(address, {"for": "week"}, headers=HTMX)
    undo_at = json.loads(done["HX-Trigger"])["cairn:toast"]["undo"]
    again = owner_pages.post(undo_at, headers=HTMX)

    assert "Snooze this conflict" in asked
    assert "Nothing waits for you" in done.content.decode()
    assert f'data-memory="{pair.id}"' in again.content.decode()
    assert _counted(caller, datetime.now(UTC)) == (1, 1, 1)


def test_without_a_time_the_dialog_comes_back(owner_pages: Client, pair: ConflictView) -> None:
    answer = owner_pages.post(f"{INBOX}/conflicts/{pair.id}/snooze", {"for": "ever"}, headers=HTMX)

    assert answer.status_code == 422
    assert "This is not a moment until which to snooze." in answer.content.decode()


def test_one_that_is_settled_does_not_rest(caller: Caller, pair: ConflictView) -> None:
    now = datetime.now(UTC)
    settlement = Settlement(verdict=ConflictVerdict.KEEP_OLDER, reason="Rolled back.")
    with entered(caller):
        settle(caller=caller, conflict_id=pair.id, settlement=settlement, now=now)

        with pytest.raises(NotActive):
            snooze_conflict(caller=caller, conflict_id=pair.id, until=now + WEEK, now=now)

        week = inbox.count_decided(caller=caller, project="shop", now=now)
    assert (week.settled, week.total) == (1, 1)


@pytest.mark.parametrize("days", [-1, 0, 366])
def test_no_moment_but_one_that_lies_ahead(caller: Caller, pair: ConflictView, days: int) -> None:
    now = datetime.now(UTC)
    until = now + timedelta(days=days)

    with entered(caller), pytest.raises(InvalidInput):
        snooze_conflict(caller=caller, conflict_id=pair.id, until=until, now=now)


def test_the_week_of_an_empty_inbox_says_what_was_settled(
    owner_pages: Client, caller: Caller, pair: ConflictView
) -> None:
    form = {"verdict": "keep_newer", "reason": "It was raised.", "version": str(pair.version)}
    owner_pages.post(f"{INBOX}/conflicts/{pair.id}", form, headers=HTMX)

    page = owner_pages.get(INBOX).content.decode()

    assert "1 decision in the last seven days." in page
    assert 'conflicts?state=settled">Settled conflicts <span class="num">1<' in page


def test_nobody_snoozes_a_conflict_with_a_personal_memory_of_somebody_else(
    viewer_pages: Client,
    stranger_pages: Client,
    caller: Caller,
    member_caller: Caller,
    other_caller: Caller,
    shop: str,
) -> None:
    mine, now = _pair(caller, scope="personal"), datetime.now(UTC)

    for pages in (viewer_pages, stranger_pages):
        assert pages.get(f"{INBOX}/conflicts/{mine.id}/snooze", headers=HTMX).status_code == 404
        sent = pages.post(f"{INBOX}/conflicts/{mine.id}/snooze", {"for": "day"}, headers=HTMX)
        assert sent.status_code == 404
    for each in (member_caller, other_caller):
        with entered(each), pytest.raises(NotFound):
            snooze_conflict(caller=each, conflict_id=mine.id, until=now + WEEK, now=now)


def test_nobody_counts_what_somebody_settled_about_a_personal_memory(
    caller: Caller, member_caller: Caller, shop: str
) -> None:
    mine, now = _pair(caller, scope="personal"), datetime.now(UTC)
    settlement = Settlement(verdict=ConflictVerdict.BOTH, reason="Each in its case.")
    with entered(caller):
        settle(caller=caller, conflict_id=mine.id, settlement=settlement, now=now)

    with entered(member_caller):
        week = inbox.count_decided(caller=member_caller, project="shop", now=now)

    assert (week.settled, week.total) == (0, 0)


def test_the_log_does_not_say_which_conflict_of_a_personal_memory_rests(
    caller: Caller, shop: str
) -> None:
    mine, now = _pair(caller, scope="personal"), datetime.now(UTC)

    with entered(caller):
        snooze_conflict(caller=caller, conflict_id=mine.id, until=now + WEEK, now=now)
        with tenancy.unit():
            entry = AuditEntry.objects.filter(act="memory.conflict_snoozed").get()

    assert entry.object_id == str(mine.newer.id)
    assert str(mine.id) not in json.dumps(entry.details)


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
