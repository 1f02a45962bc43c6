"""Conflicts on their page and in the inbox: shown, settled, snoozed, and to whom."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller, Role
from accounts.errors import CairnError, NotFound, RoleNotSufficient
from memory.errors import NotActive
from memory.records.models import Memory, ReviewVerdict
from memory.review.actions.settlements import Settlement, settle, snooze_conflict
from memory.review.actions.verdicts import undo
from memory.review.queries import conflicts, inbox, overview
from memory.review.queries.conflicts import ConflictVerdict, ConflictView
from teams.models import AuditEntry
from tests.edges.pages.conftest import HTMX, contradicting, looked_at
from tests.edges.pages.session_pages import Pages, toast_of
from tests.support.memories import as_agent, as_role, correct, sent
from tests.support.waiting import waiting

PAGE = "/o/acme/p/shop/conflicts"


def test_both_sides_are_shown_with_what_differs_and_counted_in_the_activity(
    pages: Pages, pair: ConflictView
) -> None:
    with entered(pages.caller):
        sent(pages.caller, datetime.now(UTC), "short", project="shop")
    shown, activity = (
        pages.owner.get(f"{pages.shop}{at}").text for at in ("conflicts", "activity")
    )

    assert ["Refused: length" in activity, "Contradicts one" in activity] == [True, True]
    for text in (*(f"retries a payment {n} times" for n in (3, 5)), "<ins", "<del"):
        assert text in shown
    assert "Keep the older one" in shown
    seen = pages.viewer.get(f"{PAGE}/{pair.id}").text
    assert seen.count('name="verdict"') == seen.count(" disabled aria-describedby") == 4
    for query in ("", "?q=payment"):
        listed = pages.owner.get(f"/o/acme/p/shop/memories{query}").text
        assert listed.count("Contradicts") >= 2


def test_the_page_says_why_an_agent_proposes_the_newer_one(pages: Pages) -> None:
    now = datetime.now(UTC)
    with entered(pages.caller):
        known = sent(pages.caller, now, OTHER, project="shop").memory
        assert known is not None
        correct(
            caller=as_agent(pages.caller), memory_id=known.id, kind="outdated", now=now,
            content="We chose optimistic retries for merging carts.", reason="Locks were slow <b>.",
        )  # fmt: skip

    shown = pages.owner.get(PAGE).text

    assert "Why the agent proposes it" in shown
    assert "Locks were slow &lt;b&gt;." in shown


def test_it_is_settled_and_taken_back_on_its_page(pages: Pages, pair: ConflictView) -> None:
    address, over = f"{PAGE}/{pair.id}", f"{PAGE}?state=settled"
    none = pages.owner.get(over).text
    form = {"verdict": "keep_newer", "reason": "Raised.", "version": "1"}
    settled = pages.owner.post(address, form)

    assert "No settled conflicts yet" in none
    assert "No open conflicts" in pages.owner.get(PAGE).text
    assert settled["Location"] == address
    assert looked_at(pages.caller, pair).verdict == "keep_newer"
    assert "Raised." in pages.owner.get(over).text
    version = str(looked_at(pages.caller, pair).version)
    pages.owner.post(address, {"verdict": "reopen", "version": version})
    assert looked_at(pages.caller, pair).verdict == ""


OTHER = "We chose Postgres advisory locks for merging carts instead of optimistic retries."
INBOX = "/o/acme/p/shop/inbox"
WEEK = timedelta(days=7)
FORM = {"verdict": "keep_newer", "reason": "It was raised."}


def test_a_conflict_waits_in_the_inbox_with_both_sides_and_a_group_narrows_to_it(
    pages: Pages, pair: ConflictView
) -> None:
    page = pages.owner.get(INBOX).text
    moved = pages.owner.get(f"{INBOX}/conflicts/{pair.id}")

    assert f'id="row-{pair.id}"' in page
    for text in ("retries a payment 3 times", "retries a payment 5 times", "<ins", "<del"):
        assert text in page
    assert 'data-key="1"' in page
    assert "≈ 1 minute left" in page
    for text in (page, pages.owner.get(moved["Location"]).text):
        assert f'data-memory="{pair.id}"' in text
    with entered(pages.caller):
        new = waiting(pages.caller, datetime.now(UTC), OTHER, project="shop")
    for group, shown in (("", [True, True]), ("conflicts", [True, False]), ("new", [False, True])):
        page = pages.owner.get(f"{INBOX}/rows", {"group": group}, **HTMX).text
        assert [f'id="row-{one.id}"' in page for one in (pair, new)] == shown


def test_it_is_settled_in_the_pane_and_taken_back(pages: Pages, pair: ConflictView) -> None:
    address = f"{INBOX}/conflicts/{pair.id}"

    done = pages.owner.post(address, {**FORM, "version": str(pair.version)}, **HTMX)

    assert looked_at(pages.caller, pair).verdict == "keep_newer"
    assert "No memories need review" in done.text
    undo = toast_of(done)["undo"]
    again = pages.owner.post(undo, **HTMX)
    assert f'data-memory="{pair.id}"' in again.text
    assert looked_at(pages.caller, pair).verdict == ""


def test_who_was_slower_is_told_what_happened_and_what_is_settled_does_not_rest(
    pages: Pages, pair: ConflictView
) -> None:
    caller, now = pages.caller, datetime.now(UTC)
    with entered(caller):
        settlement = Settlement(verdict=ConflictVerdict.KEEP_OLDER, reason="Rolled back.")
        settle(caller=caller, conflict_id=pair.id, settlement=settlement, now=now)
        with pytest.raises(NotActive):
            snooze_conflict(caller=caller, conflict_id=pair.id, until=now + WEEK, now=now)
        week = inbox.count_decided(caller=caller, project="shop", now=now)

    form = {**FORM, "version": str(pair.version)}
    answer = pages.owner.post(f"{INBOX}/conflicts/{pair.id}", form, **HTMX)

    assert answer.status_code == 412
    for text in ("This conflict was settled meanwhile.", "The older one was kept.", "Rolled back."):
        assert text in answer.text
    assert looked_at(caller, pair).verdict == "keep_older"
    assert (week["settled"], week["total"]) == (1, 1)


def _counted(caller: Caller, now: datetime) -> tuple[int, int, int]:
    """Return how many wait: in the inbox, on the overview, on the card of the project."""
    with entered(caller):
        waits = inbox.count_waiting(caller=caller, project="shop", now=now)
        tally = overview.count_project(caller=caller, project="shop", now=now)
        (card,) = overview.count_by_project(caller=caller, now=now).values()
    assert waits.oldest_at == tally.oldest_review_at
    return waits.total, tally.due, card["due"]


def test_a_conflict_with_a_personal_memory_is_in_nobody_elses_inbox(
    pages: Pages, member_caller: Caller, other_caller: Caller
) -> None:
    mine, now = contradicting(pages.caller, scope="personal"), datetime.now(UTC)
    address = f"{INBOX}/conflicts/{mine.id}"

    assert f"row-{mine.id}" not in pages.viewer.get(INBOX).text
    for other in (pages.viewer, pages.stranger):
        for asked in ("", "/snooze"):
            assert other.get(f"{address}{asked}", **HTMX).status_code == 404
        for done in ("/undo", "/snooze"):
            answer = other.post(f"{address}{done}", {"for": "day"}, **HTMX)
            assert answer.status_code == 404
    for each in (member_caller, other_caller):
        with entered(each), pytest.raises(NotFound):
            snooze_conflict(caller=each, conflict_id=mine.id, until=now + WEEK, now=now)
    assert _counted(member_caller, now) == (0, 0, 0)


def test_it_rests_for_who_snoozed_it_and_its_memories_wait_as_before(
    pages: Pages, member_caller: Caller, pair: ConflictView
) -> None:
    caller, now = pages.caller, datetime.now(UTC)
    with entered(caller):
        snooze_conflict(caller=caller, conflict_id=pair.id, until=now + WEEK, now=now)
        is_open = conflicts.count_open(caller=caller, project="shop")
    counts = [_counted(caller, now), _counted(member_caller, now), _counted(caller, now + WEEK)]
    with entered(caller):
        with tenancy.unit():
            Memory.objects.filter(pk=pair.newer.id).update(needs_review=True)
        page = inbox.list_waiting(
            caller=caller, project="shop", group=None, after=None, limit=9, now=now
        )

    assert (counts, is_open) == ([(0, 0, 0), (1, 1, 1), (1, 1, 1)], 1)
    assert [(one.memory.id, one.conflict) for one in page.items] == [(pair.newer.id, None)]


def test_the_pane_asks_how_long_and_takes_it_back(pages: Pages, pair: ConflictView) -> None:
    address = f"{INBOX}/conflicts/{pair.id}/snooze"

    asked = pages.owner.get(address, **HTMX).text
    done = pages.owner.post(address, {"for": "week"}, **HTMX)
    undo_at = toast_of(done)["undo"]
    again = pages.owner.post(undo_at, **HTMX)

    assert "Snooze this conflict" in asked
    assert "No memories need review" in done.text
    assert f'data-memory="{pair.id}"' in again.text
    assert _counted(pages.caller, datetime.now(UTC)) == (1, 1, 1)


def test_no_log_or_week_says_what_became_of_a_personal_memory(
    pages: Pages, member_caller: Caller
) -> None:
    mine, now = contradicting(pages.caller, scope="personal"), datetime.now(UTC)
    settlement = Settlement(verdict=ConflictVerdict.BOTH, reason="Each in its case.")

    with entered(pages.caller):
        snooze_conflict(caller=pages.caller, conflict_id=mine.id, until=now + WEEK, now=now)
        settle(caller=pages.caller, conflict_id=mine.id, settlement=settlement, now=now)
        with tenancy.unit():
            entry = AuditEntry.objects.filter(act="memory.conflict_snoozed").get()
    with entered(member_caller):
        week = inbox.count_decided(caller=member_caller, project="shop", now=now)

    assert entry.object_id == str(mine.newer.id)
    assert str(mine.id) not in json.dumps(entry.details)
    assert (week["settled"], week["total"]) == (0, 0)


def test_viewers_do_not_snooze_and_others_do_not_undo_it(
    pages: Pages, member_caller: Caller, pair: ConflictView
) -> None:
    now = datetime.now(UTC)
    viewer = as_role(member_caller, Role.VIEWER)
    with entered(viewer), pytest.raises(RoleNotSufficient):
        snooze_conflict(caller=viewer, conflict_id=pair.id, until=now + WEEK, now=now)
    with entered(pages.caller):
        made = snooze_conflict(caller=pages.caller, conflict_id=pair.id, until=now + WEEK, now=now)

    for each in (member_caller, as_agent(pages.caller)):
        with entered(each), pytest.raises(CairnError):
            undo(caller=each, review_id=made.review_id, now=now)

    with entered(pages.caller), tenancy.unit():
        assert ReviewVerdict.objects.get(pk=made.review_id).undone_at is None
