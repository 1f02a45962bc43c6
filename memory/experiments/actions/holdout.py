"""Withhold a memory from some sessions, to see what it is worth.

Only what would have been delivered is withheld, and that is logged as well, so that both sides
needed it as much. What is withheld once is not delivered to that session later. What somebody
pinned, and constitutional memories, are delivered to everybody.
"""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from memory.experiments.actions import assignment
from memory.experiments.points import Point
from memory.records.queries.views import MemoryView
from memory.sessions.models import GivenOut, Session
from memory.taxonomy import Governance


def withhold(
    *, session: Session, point: Point, views: Iterable[MemoryView], now: datetime
) -> frozenset[UUID]:
    """Return what is withheld from a locked session of what it would be given; log it. In a
    unit."""
    chosen = tuple(
        view.id
        for view in views
        if not (view.pinned or view.governance <= Governance.CONSTITUTIONAL)
        and assignment.is_withheld(session=session, memory_id=view.id)
    )
    GivenOut.all_rows.bulk_create(
        GivenOut(memory_id=one, at=now, session_id=session.id, point=point.value, withheld=True)
        for one in chosen
    )
    return frozenset(chosen)


def withheld_from(*, session: Session) -> frozenset[UUID]:
    """Return what was withheld from a session before. In a unit."""
    rows = GivenOut.all_rows.filter(session_id=session.id, withheld=True)
    return frozenset(rows.values_list("memory_id", flat=True))
