"""Results laid out: in their story's order, with what each hangs together with."""

from datetime import datetime, timedelta
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.records.models import MemoryLink
from memory.search.actions import Layout, lay_out
from memory.search.presentation import Order
from memory.search.request import SearchRequest
from tests.support.memories import CARTS, PARSER, REDIS, stored

ASKED = SearchRequest(query="redis token refresh", threshold=0.0)


def _link(source: UUID, target: UUID, kind: str) -> None:
    with tenancy.unit():
        MemoryLink.objects.create(source_id=source, target_id=target, kind=kind)


def _ids(layout: Layout) -> list[UUID]:
    return [hit.memory.id for hit in layout.answer.hits]


def test_events_are_told_in_order(caller: Caller, store: str, now: datetime) -> None:
    made = [
        stored(
            caller, now, text, project=store, type="event", event_at=now - timedelta(days=days)
        ).id
        for days, text in enumerate((REDIS, CARTS, PARSER))
    ]

    layout = lay_out(caller=caller, request=ASKED, now=now)

    assert layout.order is Order.TIMELINE
    assert _ids(layout) == made[::-1]


def test_each_result_says_what_it_is_linked_with(caller: Caller, store: str, now: datetime) -> None:
    first, second = (stored(caller, now, text, project=store).id for text in (REDIS, CARTS))
    _link(first, second, "contradicts")
    _link(second, first, "see_also")

    layout = lay_out(caller=caller, request=ASKED, now=now)

    assert [(one.other_id, one.outgoing) for one in layout.neighbors[first]] == [(second, True)]
    assert [(one.other_id, one.outgoing) for one in layout.see_also[first]] == [(second, False)]
    assert "2 of 2 contradict each other" in layout.hint


def test_what_one_may_not_see_surrounds_nothing(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    shared = stored(caller, now, REDIS, project=store).id
    own = stored(caller, now, CARTS, project=store, scope="personal").id
    _link(shared, own, "caused_by")

    layout = lay_out(caller=member_caller, request=ASKED, now=now)

    assert layout.neighbors[shared] == ()
    assert layout.order is Order.SCORE


def test_results_about_several_things_are_told_thing_by_thing(
    caller: Caller, store: str, now: datetime
) -> None:
    texts = (
        "AuthService drops a token when Redis is full.",
        "TokenStore keeps the token of a refresh for a day.",
        "The token refresh of auth-service is called twice a minute.",
        "The token of token_store is written in small letters.",
    )
    about = {
        stored(caller, now, text, project=store).id: place % 2 for place, text in enumerate(texts)
    }

    layout = lay_out(caller=caller, request=ASKED, now=now)

    told = [about[memory_id] for memory_id in _ids(layout)]
    assert layout.order is Order.THINGS
    assert told in ([0, 0, 1, 1], [1, 1, 0, 0])
    assert layout.hint == "Told thing by thing, what fits best first."
