"""Leave a memory out for some sessions, to see what it is worth.

Only what would have been given is left out, and that stands in the ledger as well, so that both
sides were as much in need of it. What is left out once is not offered to that session again. What
somebody pinned, and what the organization stands on, is given to everybody.
"""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from memory.experiments.actions import assignment
from memory.records.queries.views import MemoryView
from memory.sessions.models import GivenOut, Session
from memory.sessions.points import Point
from memory.taxonomy import Governance


def withhold(
    *, row: Session, point: Point, views: Iterable[MemoryView], now: datetime
) -> frozenset[UUID]:
    """Return what a held session goes without of what it would be given; note it. In a unit."""
    chosen = tuple(
        view.id
        for view in views
        if not _is_for_all(view) and assignment.is_withheld(row=row, memory_id=view.id)
    )
    GivenOut.all_rows.bulk_create(
        GivenOut(memory_id=one, at=now, session_id=row.id, point=point.value, withheld=True)
        for one in chosen
    )
    return frozenset(chosen)


def withheld_from(*, row: Session) -> frozenset[UUID]:
    """Return what a session was already found to go without. In a unit."""
    rows = GivenOut.all_rows.filter(session_id=row.id, withheld=True)
    return frozenset(rows.values_list("memory_id", flat=True))


def _is_for_all(view: MemoryView) -> bool:
    return view.pinned or view.governance <= Governance.CONSTITUTIONAL
