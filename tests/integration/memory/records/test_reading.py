"""Pages, filters, history and links of memories."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import NotFound
from memory.intake.actions.revise import revise
from memory.records.actions import archive, confirm, pin
from memory.records.filters import Filters
from memory.records.models import Memory
from memory.records.queries import memories as queries
from tests.support.memories import CARTS, PARSER, REDIS, correct, stored

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def three(caller: Caller, agent: Caller, store: str, now: datetime) -> tuple[str, ...]:
    """Three memories: a gotcha with tags, a pinned decision, a fact of an agent in no file."""
    stored(caller, now, REDIS, project=store, type="gotcha", tags=("auth", "redis"), confidence=0.5)
    decision = stored(caller, now + timedelta(days=1), CARTS, project=store, type="decision")
    pin(caller=caller, memory_id=decision.id, pinned=True, now=now)
    stored(
        agent,
        now + timedelta(days=2),
        PARSER,
        project=store,
        type="fact",
        source="agent_explicit",
        related_modules=("billing",),
    )
    return (REDIS, CARTS, PARSER)


def listed(caller: Caller, now: datetime, **given: Any) -> list[str]:
    page = queries.page(caller=caller, filters=Filters(**given), cursor=None, limit=200, now=now)
    assert len(page.items) == queries.count(caller=caller, filters=Filters(**given))
    return [item.content for item in page.items]


FILTERS: tuple[tuple[dict[str, Any], list[str]], ...] = (
    ({}, [PARSER, CARTS, REDIS]),
    ({"project": "store"}, [PARSER, CARTS, REDIS]),
    ({"types": ("gotcha", "decision")}, [CARTS, REDIS]),
    ({"tags": ("auth",)}, [REDIS]),
    ({"tags": ("auth", "other")}, []),
    ({"files": ("billing/parser.py",)}, [PARSER]),
    ({"files": ("billing/*",)}, [PARSER]),
    ({"modules": ("billing",)}, [PARSER]),
    ({"author": "claude-code"}, [PARSER]),
    ({"minimum_confidence": 0.7}, [PARSER, CARTS]),
    ({"maximum_confidence": 0.7}, [REDIS]),
    ({"pinned": True}, [CARTS]),
    ({"pinned": False}, [PARSER, REDIS]),
    ({"needs_review": True}, []),
    ({"stale": True}, []),
    ({"status": ("archived",)}, []),
    ({"tags": ("\x00",)}, []),
    ({"files": ("%",)}, []),
    ({"files": ("_",)}, []),
    ({"author": "\x00"}, []),
)


@pytest.mark.parametrize("few", [queries.FEW, 0], ids=["few", "many"])
def test_a_filter_lets_through_what_fits(
    caller: Caller, three: tuple[str, ...], now: datetime, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(queries, "FEW", few)  # what a rare filter leaves is few, or never is

    for given, expected in FILTERS:
        assert listed(caller, now, **given) == expected, given


def test_unknown_projects_are_not_found(caller: Caller, now: datetime) -> None:
    for project in ("nothing", "\x00", "'", "x" * 5_000):
        with pytest.raises(NotFound):
            listed(caller, now, project=project)


def test_pages_follow_one_another_without_gaps(caller: Caller, store: str, now: datetime) -> None:
    for number in range(7):
        moment = now + timedelta(seconds=number // 3)
        stored(caller, moment, f"Fact number {number} about paging.", project=store)

    seen, cursor = [], None
    while True:
        page = queries.page(caller=caller, filters=Filters(), cursor=cursor, limit=2, now=now)
        seen += [item.id for item in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break

    everything = queries.page(caller=caller, filters=Filters(), cursor=None, limit=99, now=now)
    assert seen == [item.id for item in everything.items]
    assert len(set(seen)) == 7


def test_history_says_who_and_why(caller: Caller, agent: Caller, store: str, now: datetime) -> None:
    memory = stored(caller, now, project=store)
    later = now + timedelta(days=1)
    confirm(caller=caller, memory_id=memory.id, now=now)  # which is no version
    for who, text in ((agent, CARTS), (caller, PARSER)):
        changes = {"content": text, "reason": f"now {len(text)}"}
        revise(caller=who, memory_id=memory.id, changes=changes, if_version=None, now=later)

    third, second, first = queries.history(caller=caller, memory_id=memory.id)

    assert (third.number, third.content, third.changed_by) == (4, PARSER, caller.user_id)
    assert (second.content, second.changed_agent) == (CARTS, "claude-code")
    assert second.reason == f"now {len(CARTS)}"
    assert (first.content, first.changed_by, first.changed_at) == (REDIS, caller.user_id, now)
    assert (second.changed_at, third.changed_at) == (later, later)


def test_a_link_to_what_cannot_be_seen_is_not_shown(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    old = stored(member_caller, now, project=store)
    outcome = correct(
        caller=member_caller, memory_id=old.id, content=CARTS, kind="wrong", reason="", now=now
    )
    assert outcome.memory is not None
    changes = {"scope": "personal"}
    revise(
        caller=member_caller, memory_id=outcome.memory.id, changes=changes, if_version=None, now=now
    )

    assert queries.links(caller=caller, memory_id=old.id) == ()
    assert len(queries.links(caller=member_caller, memory_id=old.id)) == 1


def test_of_memories_the_deleted_are_gone_the_archived_listed_if_asked_and_others_unseen(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    gone, old = stored(caller, now, PARSER, project=store), stored(caller, now, project=store)
    archive(caller=caller, memory_id=old.id, reason="", if_version=None, now=now)
    theirs = stored(member_caller, now, CARTS, scope="personal")
    with tenancy.unit():
        Memory.objects.filter(pk=gone.id).update(status="deleted")

    with pytest.raises(NotFound):
        queries.get(caller=caller, memory_id=gone.id, now=now)
    assert [listed(caller, now, **one) for one in ({}, {"status": ("deleted",)})] == [[], []]
    assert listed(caller, now, status=("archived",)) == [REDIS]
    ids = (gone.id, old.id, theirs.id)
    assert set(queries.by_ids(caller=caller, memory_ids=ids, now=now)) == {old.id}
