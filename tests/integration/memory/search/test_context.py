"""What was found, packed for an agent or laid out: whole, cited, with what it is linked with."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts import tenancy
from accounts.errors import InvalidInput
from memory.customization.phases import Phase
from memory.records.models import Memory, MemoryLink
from memory.records.queries.views import MemoryView
from memory.search.actions import lay_out
from memory.search.context import Context, ContextRequest, Reason, context
from memory.search.packing import DISAGREE, citation_mark
from memory.search.presentation import Order
from memory.search.request import SearchRequest
from memory.text import tokens
from tests.support.memories import CARTS, PARSER, REDIS
from tests.support.reviewed import World

Known = tuple[MemoryView, ...]

LOUD = "Token refresh fails loudly now when Redis is unreachable; nothing needs to catch it."


def _pack(world: World, query: str = "token refresh redis", **given: Any) -> Context:
    wanted = {"project": "store", "threshold": 0.0, **given.pop("wanted", {})}
    request = ContextRequest(search=SearchRequest(query=query, **wanted), **given)
    return context(caller=world.owner, request=request, now=world.now)


def _link(source: MemoryView, target: MemoryView, kind: str) -> None:
    with tenancy.unit():
        MemoryLink.objects.create(source_id=source.id, target_id=target.id, kind=kind)


@pytest.fixture
def known(world: World) -> Known:
    """Three memories, two of them about one file."""
    given = ((REDIS, ["auth/token.py"]), (CARTS, []), (PARSER, ["billing/parser.py"]))
    return tuple(
        world.stored(content, related_files=tuple(files), type="gotcha") for content, files in given
    )


def test_the_text_holds_whole_memories_with_their_files(world: World, known: Known) -> None:
    packed = _pack(world, phase="implement")
    tdd = _pack(world, methodology="tdd", phase="refactor")

    assert {one.memory.id for one in packed.told} == {view.id for view in known}
    assert f"- gotcha: {REDIS} (auth/token.py) {citation_mark(id=known[0].id)}\n" in packed.text
    assert all(view.content in packed.text for view in known)
    assert (packed.phase, packed.budget_tokens) == (Phase.IMPLEMENT, 3000)
    assert (tdd.phase, tdd.budget_tokens) == (Phase.REFINE, 2000)
    assert packed.tokens == tokens.count(text=packed.text)


def test_both_sides_of_a_contradiction_are_told(world: World, known: Known) -> None:
    other = world.stored(LOUD, type="decision")
    _link(other, known[0], "contradicts")

    packed = _pack(world)

    told = {one.memory.id: one for one in packed.told}
    assert told[known[0].id].contradicts == (other.id,)
    assert told[other.id].contradicts == (known[0].id,)
    assert f"{DISAGREE}\n  - " in packed.text
    assert all(f"  - {one.type}: {one.content}" in packed.text for one in (known[0], other))
    assert "contradict each other" in packed.hint
    _link(known[1], known[2], "caused_by")
    _link(known[0], known[1], "caused_by")
    story = _pack(world)
    assert (story.order, story.told[0].memory.id) == (Order.CAUSES, known[2].id)
    tight = {one.memory.id: one.reason for one in _pack(world, budget_tokens=100).left_out}
    assert tight[other.id] is tight[known[0].id] is Reason.CONTRADICTION_OVER_BUDGET


def test_the_other_side_is_told_although_no_filter_found_it(world: World, known: Known) -> None:
    other = world.stored(LOUD, type="decision")
    _link(known[0], other, "conflicts_with")

    packed = _pack(world, wanted={"types": ("gotcha",), "project": None})

    assert {one.memory.id: one.relevance for one in packed.told}[other.id] is None


def test_nothing_relevant_is_an_empty_text(world: World, known: Known) -> None:
    packed = _pack(world, "how to bake sourdough bread", wanted={"threshold": 0.99})

    assert packed.nothing_relevant
    assert (packed.text, packed.tokens, packed.told) == ("", 0, ())
    assert packed.hint == "Nothing relevant is known."


def test_what_cannot_be_is_refused_by_its_field(world: World) -> None:
    for wrong in ({"budget_tokens": -5}, {"phase": "lunch"}, {"methodology": "waterfall"}):
        with pytest.raises(InvalidInput) as refused:
            _pack(world, **wrong)
        assert [fault.pointer for fault in refused.value.errors] == [f"/{name}" for name in wrong]


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(budget=st.integers(1, 400), phase=st.sampled_from([None, *Phase]))
def test_the_budget_is_never_exceeded_and_nothing_gets_lost(
    world: World, known: Known, budget: int, phase: Phase | None
) -> None:
    packed = _pack(world, budget_tokens=budget, phase=phase)

    assert tokens.count(text=packed.text) == packed.tokens <= budget
    named = [one.memory.id for one in (*packed.told, *packed.left_out)]
    assert sorted(named) == sorted(view.id for view in known)
    assert {one.reason for one in packed.left_out} <= {Reason.OVER_BUDGET}


def test_what_is_about_the_working_files_comes_first(world: World, known: Known) -> None:
    usual = _pack(world, "what was said about zebras")

    for place, path in ((0, "auth/token.py"), (2, "billing/parser.py")):
        packed = _pack(world, "what was said about zebras", working_files=(path,))
        assert packed.told[0].memory.id == known[place].id
        assert {one.memory.id for one in packed.told} == {one.memory.id for one in usual.told}


ASKED = SearchRequest(query="redis token refresh", threshold=0.0)


def test_each_result_says_what_it_is_linked_with(world: World) -> None:
    first, second = (world.stored(text) for text in (REDIS, CARTS))
    _link(first, second, "contradicts")
    _link(second, first, "see_also")

    layout = lay_out(caller=world.owner, request=ASKED, now=world.now)

    for found, is_outgoing in ((layout.neighbors, True), (layout.see_also, False)):
        ends = [(one.other_id, one.outgoing) for one in found[first.id]]
        assert ends == [(second.id, is_outgoing)]
    assert "2 of 2 contradict each other" in layout.hint
    assert layout.order is Order.SCORE
    with tenancy.unit():
        Memory.objects.update(type="event", event_at=world.now)
        Memory.objects.filter(pk=second.id).update(event_at=world.now - timedelta(days=1))
    told = lay_out(caller=world.owner, request=ASKED, now=world.now)
    assert told.order is Order.TIMELINE
    assert [hit.memory.id for hit in told.answer.hits] == [second.id, first.id]


def test_what_one_may_not_see_surrounds_nothing(world: World) -> None:
    shared = world.stored(REDIS)
    own = world.stored(CARTS, scope="personal")
    _link(shared, own, "caused_by")

    layout = lay_out(caller=world.member, request=ASKED, now=world.now)

    assert layout.neighbors[shared.id] == ()
    assert layout.order is Order.SCORE
