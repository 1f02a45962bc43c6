"""Results laid out: in their story's order, with what each hangs together with."""

from datetime import datetime, timedelta
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.records.models import Memory, MemoryLink
from memory.search.actions import Layout, lay_out
from memory.search.presentation import Order
from memory.search.request import SearchRequest
from tests.support.memories import CARTS, REDIS, stored

ASKED = SearchRequest(query="redis token refresh", threshold=0.0)


def _link(source: UUID, target: UUID, kind: str) -> None:
    with tenancy.unit():
        MemoryLink.objects.create(source_id=source, target_id=target, kind=kind)


def _ids(layout: Layout) -> list[UUID]:
    return [hit.memory.id for hit in layout.answer.hits]


def test_each_result_says_what_it_is_linked_with(caller: Caller, store: str, now: datetime) -> None:
    first, second = (stored(caller, now, text, project=store).id for text in (REDIS, CARTS))
    _link(first, second, "contradicts")
    _link(second, first, "see_also")

    layout = lay_out(caller=caller, request=ASKED, now=now)

    assert [(one.other_id, one.outgoing) for one in layout.neighbors[first]] == [(second, True)]
    assert [(one.other_id, one.outgoing) for one in layout.see_also[first]] == [(second, False)]
    assert "2 of 2 contradict each other" in layout.hint
    assert layout.order is Order.SCORE
    with tenancy.unit():
        Memory.objects.update(type="event", event_at=now)
        Memory.objects.filter(pk=second).update(event_at=now - timedelta(days=1))
    told = lay_out(caller=caller, request=ASKED, now=now)
    assert (told.order, _ids(told)) == (Order.TIMELINE, [second, first])


def test_what_one_may_not_see_surrounds_nothing(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    shared = stored(caller, now, REDIS, project=store).id
    own = stored(caller, now, CARTS, project=store, scope="personal").id
    _link(shared, own, "caused_by")

    layout = lay_out(caller=member_caller, request=ASKED, now=now)

    assert layout.neighbors[shared] == ()
    assert layout.order is Order.SCORE
