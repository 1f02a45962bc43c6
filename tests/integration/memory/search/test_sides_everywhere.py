"""Whatever shows a memory shows what contradicts it, to whoever may see that alone."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from accounts.caller import Caller
from memory.mcp.declaration import Call
from memory.mcp.server import TOOLS
from memory.records.filters import Filters
from memory.records.queries import memories
from memory.records.queries.views import Sides
from memory.review.actions.settlements import Settlement, settle
from memory.review.queries import inbox
from memory.review.queries.conflicts import ConflictVerdict
from memory.search.actions import search
from memory.search.entity_profile import about
from memory.search.lookups import Closeness, match, recall, similar, timeline
from memory.search.request import Narrowing, SearchRequest
from tests.support.reviewed import World

OLD = "The checkout worker in `shop/checkout.py` retries a payment 3 times before it gives up."
NEW = "The checkout worker in `shop/checkout.py` retries a payment 5 times before it gives up."
LIKE = "The worker of `shop/checkout.py` writes what it charged into the ledger of payments."
FILE = "shop/checkout.py"
ALL = Narrowing()
RETRIES = SearchRequest(query="how often is a payment retried", threshold=0.0)

Way = Callable[[Caller, UUID, UUID, datetime], Sides]
WAYS: dict[str, Way] = {
    "one": lambda caller, one, _, now: {
        one: memories.get_together(caller=caller, memory_id=one, now=now)[1]
    },
    "list": lambda caller, one, _, now: (
        memories.page(caller=caller, filters=Filters(), cursor=None, limit=9, now=now).sides
    ),
    "similar": lambda caller, _, like, now: (
        similar(caller=caller, memory_id=like, narrowing=ALL, now=now).sides
    ),
    "timeline": lambda caller, one, _, now: (
        timeline(caller=caller, narrowing=ALL, after=None, limit=9, now=now).sides
    ),
    "pattern": lambda caller, one, _, now: (
        match(caller=caller, pattern="retries a", narrowing=ALL, now=now).sides
    ),
    "file": lambda caller, one, _, now: (
        recall(caller=caller, path=FILE, closeness=Closeness.FILE, narrowing=ALL, now=now).sides
    ),
    "name": lambda caller, one, _, now: (
        about(caller=caller, name=FILE, type=None, narrowing=ALL, now=now).sides
    ),
    "search": lambda caller, one, _, now: {
        hit.memory.id: hit.contradictions
        for hit in search(caller=caller, request=RETRIES, now=now).hits
    },
    "review": lambda caller, one, _, now: {
        one: inbox.waiting_memory(caller=caller, memory_id=one, now=now)["sides"]
    },
}
TOOL: dict[str, dict[str, Any]] = {
    **{name: {} for name in ("get", "list_recent", "find_similar", "get_timeline")},
    "about_file": {"path": FILE},
    "get_entity_info": {"name": FILE},
    "search": {"query": "retries a", "mode": "pattern"},
}


@pytest.fixture
def like(world: World) -> UUID:
    """A third memory, that is like both and contradicts neither."""
    return world.stored(LIKE).id


def test_every_way_to_read_tells_the_other_side_and_its_conflict(world: World, like: UUID) -> None:
    older = world.stored(OLD)
    newer = world.sent(NEW)
    assert newer.memory is not None

    for way, read in WAYS.items():
        (other,) = read(world.member, older.id, like, world.now)[older.id]
        told = (other.memory_id, other.content, other.conflict_id)
        assert told == (newer.memory.id, NEW, newer.conflict_id), way


def test_no_way_to_read_hints_at_a_side_that_others_may_not_see(world: World, like: UUID) -> None:
    older = world.stored(OLD)
    mine = world.sent(NEW, scope="personal")
    assert mine.conflict_id is not None

    for way, read in WAYS.items():
        assert not any(read(world.member, older.id, like, world.now).values()), way
        assert any(read(world.owner, older.id, like, world.now).values()), way


def test_every_tool_tells_both(world: World, agent: Caller, like: UUID) -> None:
    older = world.stored(OLD)
    newer = world.stored(NEW)
    ids = {"get": {"id": str(older.id)}, "find_similar": {"id": str(like)}}

    for name, given in TOOL.items():
        found = _call(agent, world.now, name, **given, **ids.get(name, {}))
        shown = [found["memory"]] if name == "get" else found["results"]
        (one,) = (memory for memory in shown if memory["id"] == older.id)
        assert [other["id"] for other in one["contradictions"]] == [newer.id], name


def test_what_contradicts_nothing_or_was_settled_is_told_alone(world: World) -> None:
    older = world.stored(OLD)
    assert memories.get_together(caller=world.owner, memory_id=older.id, now=world.now)[1] == ()
    assert not any(WAYS["search"](world.owner, older.id, older.id, world.now).values())
    newer = world.sent(NEW)
    assert newer.memory is not None
    assert newer.conflict_id is not None
    settlement = Settlement(verdict=ConflictVerdict.KEEP_NEWER, reason="It was raised.")
    settle(caller=world.owner, conflict_id=newer.conflict_id, settlement=settlement, now=world.now)

    for one in (older.id, newer.memory.id):
        assert memories.get_together(caller=world.owner, memory_id=one, now=world.now)[1] == ()


@pytest.fixture
def pair(world: World) -> set[str]:
    """Two memories of the project that contradict each other."""
    return {str(world.stored(text).id) for text in (OLD, NEW)}


def _call(agent: Caller, now: datetime, name: str, /, **given: object) -> dict[str, Any]:
    tool = TOOLS[name]
    arguments = tool.check(given=given, project=None)
    return tool.respond(call=Call(caller=agent, now=now), arguments=arguments).model_dump()


@pytest.mark.parametrize("tool", ["search", "check_conflicts"])
def test_who_was_told_confirms_none(world: World, agent: Caller, pair: set[str], tool: str) -> None:
    if tool == "search":
        asked = {"query": "payment retried", "threshold": 0.0, "limit": 1}
        (hit,) = _call(agent, world.now, tool, **asked)["results"]
        others = hit["contradictions"]
    else:
        others = [one["older"] for one in _call(agent, world.now, tool)["conflicts"]]

    for other in others:
        again = world.sent(other["content"], agent, source="agent_explicit")
        assert again.outcome == "known"
    assert others
