"""A program is not given what its own session wrote, nor what applies elsewhere in the work."""

from dataclasses import replace
from typing import Any, Final
from uuid import UUID, uuid4

import pytest

from accounts.caller import Caller
from memory.experiments.points import Point
from memory.injection.actions.trigger_points import PointRequest, deliver_at_point
from memory.intake.actions.remember import remember
from memory.records.queries.views import MemoryView
from memory.search import context, lookups
from memory.search.actions import search
from memory.search.request import Mode, Narrowing, SearchRequest
from memory.sessions.actions import binding
from tests.support.agent_runs import Run, Shop
from tests.support.memories import new

CACHE: Final = "The price cache of the cart has to be cleared before each test of its totals."
QUESTION: Final = "price cache"
FILE: Final = "src/cart/prices.py"
UNIT: Final = {"methodology": "native", "hierarchy": "checkout/prices"}


def added(shop: Shop, **given: Any) -> MemoryView:
    """Add the memory as an agent does over REST and MCP."""
    fields = {"source": "agent_explicit", "project": shop.slug, **given}
    bound = binding.bind(caller=shop.agent, new=new(CACHE, **fields))
    memory = remember(caller=shop.agent, new=bound, now=shop.now).memory
    assert memory is not None
    return memory


def found(
    shop: Shop,
    question: str = QUESTION,
    by: Caller | None = None,
    everywhere: bool = False,
    **given: Any,
) -> list[UUID]:
    """Return what a search, a pack and a pattern find; all three find the same."""
    who = by or shop.agent
    filters = {"project": shop.slug, "limit": 5, **given}
    asked = SearchRequest(query=question, mode=Mode.KEYWORD.value, threshold=0.0, **filters)
    placed = binding.in_work(caller=who, asked=asked, everywhere=everywhere)
    hits = search(caller=who, request=placed, now=shop.now).hits
    packed = context.context(
        caller=who, request=context.ContextRequest(search=placed, style=False), now=shop.now
    )
    narrowing = binding.in_work(caller=who, asked=Narrowing(**filters), everywhere=everywhere)
    if question == QUESTION:
        matched = lookups.match(
            caller=who, pattern="price cache", narrowing=narrowing, now=shop.now
        )
        assert [memory.id for memory, _ in matched.items] == [hit.memory.id for hit in hits]
    assert [one.memory.id for one in packed.told] == [hit.memory.id for hit in hits]
    return [hit.memory.id for hit in hits]


def test_what_the_running_session_wrote_is_left_out_unless_it_is_asked_for(shop: Shop) -> None:
    run = shop.opened()
    own = added(shop)

    assert found(shop) == []
    assert found(shop, everywhere=True) == [own.id]
    assert found(shop, by=shop.member) == [own.id]
    assert found(shop, by=shop.program) == [own.id]
    run.ends()
    assert found(shop) == [own.id]


def test_what_a_session_wrote_for_itself_is_found_by_that_session_alone(shop: Shop) -> None:
    run = shop.opened()
    note = added(shop, reach="session")

    assert (note.session_id, found(shop)) == (run.id, [note.id])
    assert found(shop, by=shop.program) == []
    run.ends()
    shop.opened(external_id="next")
    assert found(shop) == []
    assert found(shop, by=shop.member) == [note.id]


@pytest.mark.parametrize(
    ("unit", "is_given"),
    [
        (UNIT, True),
        ({**UNIT, "hierarchy": "checkout/prices/rounding"}, True),
        ({**UNIT, "hierarchy": "checkout"}, False),
        ({**UNIT, "hierarchy": "checkout/prices2"}, False),
        ({**UNIT, "methodology": "tdd"}, False),
        ({}, False),
    ],
)
def test_what_is_of_a_unit_of_work_is_given_in_it_and_below(
    shop: Shop, unit: dict[str, str], is_given: bool
) -> None:
    run = shop.opened(work_unit=UNIT)
    memory = added(shop, reach="work_unit")
    run.ends()

    shop.opened(external_id="next", work_unit=unit)

    assert memory.work_unit == UNIT
    assert found(shop) == [memory.id] * is_given


def test_a_label_says_which_unit_it_is_where_no_hierarchy_does(shop: Shop) -> None:
    shop.opened(work_unit={"label": "spec 42"}).ends()
    run = shop.opened(external_id="of", work_unit={"label": "spec 42"})
    memory = added(shop, reach="work_unit")
    run.ends()

    same = shop.opened(external_id="same", work_unit={"label": "spec 42"})
    assert found(shop) == [memory.id]
    same.ends()
    shop.opened(external_id="other", work_unit={"label": "spec 43"})
    assert found(shop) == []


def test_what_is_of_a_module_is_given_where_the_question_names_it(shop: Shop) -> None:
    memory = shop.remember(
        CACHE, reach="module", related_files=("src/cart/prices.py",), related_modules=("cart",)
    )

    assert found(shop) == []
    assert found(shop, "price cache in src/queue/worker.py") == []
    for question in ("price cache in src/cart/prices.py", "price cache in src/cart/totals.py"):
        assert found(shop, question) == [memory.id]
    assert found(shop, "price cache of the cart") == [memory.id]
    assert found(shop, files=("src/cart/*.py",)) == [memory.id]
    assert found(shop, by=shop.member) == [memory.id]


def test_what_names_no_module_applies_everywhere(shop: Shop) -> None:
    memory = shop.remember("Prices are in cents, and a cache of them too.", reach="module")

    assert found(shop, "cents prices") == [memory.id]


def test_files_that_are_worked_on_are_files_of_the_question(shop: Shop) -> None:
    memory = shop.remember(CACHE, reach="module", related_modules=("cart",))
    asked = SearchRequest(query=QUESTION, mode=Mode.KEYWORD.value, threshold=0.0)

    given = [
        search(
            caller=shop.agent,
            request=binding.in_work(caller=shop.agent, asked=asked, near=near),
            now=shop.now,
        ).hits
        for near in (("src/cart/totals.py",), ("src/queue/worker.py",))
    ]

    assert [[hit.memory.id for hit in hits] for hits in given] == [[memory.id], []]


def test_a_session_of_another_program_leaves_nothing_out(shop: Shop) -> None:
    shop.opened()
    own = added(shop)
    other = replace(shop.agent, token_id=uuid4(), agent="another program")

    assert found(shop, by=other) == [own.id]


def warned(run: Run) -> set[UUID]:
    """Return what a session is warned of when it touches the file."""
    asked = PointRequest(point=Point.TOOL_RESULT, session_id=run.id, files=(FILE,))
    given = deliver_at_point(caller=run.caller, request=asked, now=run.now)
    return {one.memory.id for one in given.delivery.memories}


def test_a_session_is_warned_of_what_others_know_and_of_its_own_notes(shop: Shop) -> None:
    trap: dict[str, Any] = {"type": "gotcha", "related_files": (FILE,)}
    known = shop.remember("Totals of the cart are rounded once, by its ledger.", **trap)
    limited = shop.remember("The tax table loads late.", reach="module", **trap)
    elsewhere = {"reach": "session", **trap}
    shop.remember("Prices are read twice on start.", by=shop.program, **elsewhere)
    run = shop.opened(cwd="/home/ana/shop")
    own = added(shop, **trap)

    first = warned(run)
    run.ends()
    later = warned(shop.opened(cwd="/home/ana/shop", external_id="next"))

    assert first == {known.id, limited.id}
    assert later == {known.id, limited.id, own.id}
