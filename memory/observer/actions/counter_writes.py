"""Add what a session has shown to the sums of its place, as a whole and once.

What it has added stands with the session. At each of its ends the sums of the whole are taken anew,
and what they are beyond that is added; so it is the same in how many pieces a session came, how
often the job ran and where it was killed, because the sums and what they hold of the session change
in one unit. With the session exactly that is taken back.

A session that goes on after its events were forgotten keeps what it added while they were known; so
does one that was counted before this was kept, of which nobody knows what it added.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from memory import path_lock
from memory.observer.actions import prior_sessions
from memory.sessions.actions import scratchpads
from memory.sessions.models import Session, Stream, Turn
from memory.statistics import counters
from memory.statistics.counters import Added, Count

COUNTED_AT: Final = "counted_at"  # in what a session has shown: counted, and nobody knows what
_SUMS: Final = "\tsums"  # under which name those who add wait for each other; no path of a note
_PLACE: Final = 1  # the sequence of the one row


def added_by(*, row: Session) -> Added:
    """Return what the sums of its place hold of a session; nothing where that is not known."""
    return _known(row) or {}


def count(*, row: Session, counts: Iterable[Count], now: datetime) -> bool:
    """Bring the sums to hold these counts of a held session; say whether that changed them."""
    before = _known(row)
    if _is_settled(row, before):
        return False
    every = tuple(counts)
    steps = counters.beyond(counts=every, before=before or {})
    _add(row, steps, now)
    Turn.counted.update_or_create(
        session=row,
        stream=Stream.COUNTED,
        sequence=_PLACE,
        defaults={"role": "", "text": "", "body": counters.added(counts=every), "at": now},
    )
    return bool(steps)


def take_back(*, row: Session, now: datetime) -> None:
    """Take out of the sums all that a held session has added. In a unit."""
    _add(row, counters.beyond(counts=(), before=added_by(row=row)), now)
    Turn.counted.filter(session=row).delete()


def _is_settled(row: Session, before: Added | None) -> bool:
    """Say whether nothing more can be told of a session as a whole."""
    if before is None:
        return COUNTED_AT in (row.observed or {})
    return scratchpads.is_cut(row=row)


def _add(row: Session, steps: tuple[Count, ...], now: datetime) -> None:
    """Add in the place of a session, one after the other: deletions touch rows of others too."""
    if steps:
        path_lock.hold(audience=row.audience, project_id=row.project_id, path=_SUMS)
        prior_sessions.add(row=row, counts=steps, now=now)


def _known(row: Session) -> Added | None:
    kept: Added | None = Turn.counted.filter(session=row).values_list("body", flat=True).first()
    return kept
