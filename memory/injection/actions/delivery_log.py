"""The ledger of what sessions were given: what an agent has been told, and what it is told now.

A row says which memory, to which agent of the session, at which point and for how many tokens; what
was said beside memories is added up in the session itself. In the unit of what is given, while the
session is held.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from django.db.models import F

from accounts.caller import Caller
from memory.injection.actions.recipient import Listener
from memory.injection.queries import injections
from memory.injection.sql import deliveries as ears
from memory.injection.sql.deliveries import Ear
from memory.records.queries.views import MemoryView, give_out
from memory.search.graph_effect import GraphPart
from memory.sessions.actions import chain
from memory.sessions.models import GivenOut, Session
from memory.sessions.points import Point
from teams import visibility


def told(
    *, caller: Caller, listener: Listener, point: Point, memory_ids: Iterable[UUID]
) -> frozenset[UUID]:
    """Return which of some memories an agent need not be told at a point. In a unit.

    What its token got as an answer while the session ran counts as told to its first agent. Who has
    forgotten what it was told is warned once more at the touch of a file, and at no other point.
    """
    row, forgot_at = listener.row, listener.compacted_at
    is_anew = point is Point.TOOL_RESULT
    carried = chain.carried(row=row)
    ear = Ear(
        sessions=(row.id, *carried.parts),
        agent=listener.agent,
        token=None if listener.agent else caller.token_id,
        since=forgot_at if is_anew and forgot_at is not None else carried.opened_at,
        compacted_at=forgot_at,
        is_anew=is_anew,
    )
    return ears.told_here(ear=ear, memory_ids=tuple(memory_ids))


def put_down(
    *,
    caller: Caller,
    listener: Listener,
    point: Point,
    costs: Mapping[UUID, int],
    now: datetime,
) -> None:
    """Write the rows of what is given, behind all that the session has stored by now. In a unit."""
    if not costs:
        return
    reached = injections.reached(session_id=listener.row.id)
    GivenOut.objects.bulk_create(
        GivenOut(
            person=caller.user_id,
            token=caller.token_id,
            memory_id=memory_id,
            at=now,
            session_id=listener.row.id,
            point=point.value,
            tokens=cost,
            after_event=reached.event,
            after_row=reached.row,
            agent=listener.agent,
            compacted_at=listener.compacted_at,
        )
        for memory_id, cost in costs.items()
    )


def put_down_heading(*, listener: Listener, tokens: int) -> None:
    """Add what was told beside memories to the sum of a held session. In a unit."""
    if tokens:
        mine = Session.objects.filter(pk=listener.row.pk)
        mine.update(heading_tokens=F("heading_tokens") + tokens)


def given_out(
    *, caller: Caller, memory_ids: tuple[UUID, ...], graph: GraphPart | None, now: datetime
) -> Mapping[UUID, MemoryView]:
    """Read memories that are given, and count that they were. In a unit.

    The log is not told the token: it stands in the ledger, with which of its agents was told.
    """
    sight = replace(visibility.sight_of(caller=caller), token=None)
    return give_out(memory_ids=memory_ids, sight=sight, now=now, graph=graph)


def note(
    *, caller: Caller, listener: Listener, point: Point, ids: tuple[UUID, ...], now: datetime
) -> None:
    """Put what something told rests on into the ledger of a held session, for no tokens of its own.

    What stands there already is left as it is. In a unit.
    """
    of_all = chain.all_of(row=listener.row)
    told = injections.told_in(session_ids=of_all, agent=listener.agent)
    new = tuple(one for one in dict.fromkeys(ids) if one not in told)
    views = given_out(caller=caller, memory_ids=new, graph=None, now=now)
    costs = dict.fromkeys(views, 0)
    put_down(caller=caller, listener=listener, point=point, costs=costs, now=now)
