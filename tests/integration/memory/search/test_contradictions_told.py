"""Nobody is told one side of a contradiction alone, nor that there is a hidden one."""

from datetime import datetime
from typing import Any

import pytest

from accounts.caller import Caller
from memory.mcp.shapes import Call
from memory.mcp.tools import TOOLS, arguments
from memory.records.queries import memories
from memory.search.actions import Hit, search
from memory.search.context import ContextRequest, context
from memory.search.request import SearchRequest
from tests.support.memories import sent, stored

OLD = "The checkout worker in `shop/checkout.py` retries a payment 3 times before it gives up."
NEW = "The checkout worker in `shop/checkout.py` retries a payment 5 times before it gives up."

pytestmark = pytest.mark.usefixtures("in_organization")


def _first(caller: Caller, now: datetime, limit: int = 1) -> Hit:
    request = SearchRequest(query="how often is a payment retried", limit=limit, threshold=0.0)
    return search(caller=caller, request=request, now=now).hits[0]


@pytest.fixture
def pair(caller: Caller, store: str, now: datetime) -> set[str]:
    """Two memories of the project that contradict each other."""
    older = stored(caller, now, OLD, project=store)
    newer = stored(caller, now, NEW, project=store)
    return {str(older.id), str(newer.id)}


def test_a_search_for_one_tells_the_other_side(
    member_caller: Caller, pair: set[str], now: datetime
) -> None:
    hit = _first(member_caller, now)

    told = {str(hit.memory.id), *(str(one.memory_id) for one in hit.contradictions)}
    assert told == pair
    assert {hit.memory.content, hit.contradictions[0].content} == {OLD, NEW}


def test_the_other_side_that_only_its_author_sees_is_not_even_hinted(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    stored(caller, now, OLD, project=store)
    mine = sent(caller, now, NEW, project=store, scope="personal")

    assert mine.conflict_id is not None
    assert _first(member_caller, now, limit=5).contradictions == ()
    assert _first(caller, now).contradictions != ()


def test_a_pack_holds_both_or_none(member_caller: Caller, pair: set[str], now: datetime) -> None:
    for budget in range(20, 400, 20):
        request = ContextRequest(
            search=SearchRequest(query="payment retried", threshold=0.0), budget_tokens=budget
        )
        told = context(caller=member_caller, request=request, now=now).told
        assert {str(one.memory.id) for one in told} in (set(), pair)


def test_an_agent_is_told_both_by_its_tools(agent: Caller, pair: set[str], now: datetime) -> None:
    found = _call(agent, now, "search", query="payment retried", threshold=0.0, limit=1)
    waiting = _call(agent, now, "check_conflicts")

    (hit,) = found["results"]
    assert {str(hit["id"]), str(hit["contradictions"][0]["id"])} == pair
    (one,) = waiting["conflicts"]
    assert {str(one[side]["id"]) for side in ("older", "newer")} == pair


def _call(agent: Caller, now: datetime, name: str, **given: object) -> dict[str, Any]:
    tool = TOOLS[name]
    call = Call(caller=agent, arguments=arguments(tool=tool, given=given), now=now, project=None)
    return dict(tool.run(call))


def test_what_contradicts_nothing_has_no_other_side(
    caller: Caller, store: str, now: datetime
) -> None:
    alone = stored(caller, now, OLD, project=store)

    assert memories.get_together(caller=caller, memory_id=alone.id, now=now)[1] == ()
    assert _first(caller, now).contradictions == ()


@pytest.mark.parametrize("tool", ["search", "check_conflicts"])
def test_who_was_told_the_other_side_does_not_confirm_it(
    agent: Caller, store: str, pair: set[str], now: datetime, tool: str
) -> None:
    if tool == "search":
        (hit,) = _call(agent, now, tool, query="payment retried", threshold=0.0, limit=1)["results"]
        others = hit["contradictions"]
    else:
        others = [one["older"] for one in _call(agent, now, tool)["conflicts"]]

    for other in others:
        again = sent(agent, now, other["content"], project=store, source="agent_explicit")
        assert again.outcome == "known"
    assert others
