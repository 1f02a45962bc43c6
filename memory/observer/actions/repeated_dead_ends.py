"""Which known dead ends an ended session entered, and whether it had been told.

Known is what its opener could see, of its project or of none, kept by a person or in no need of
one, and stored before the session began. What is found is put down in the session, and counted for
each dead end at the session's first end. Nothing is asked and nobody is told: it is a figure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from accounts.caller import Caller
from memory.observer import reentered_dead_ends
from memory.observer.reentered_dead_ends import KnownEnd, Reentry, Said
from memory.records.queries.views import countable
from memory.sessions.counters import Count, Kind
from memory.sessions.models import GivenOut, Session, Turn
from memory.sessions.scratchpad import Scratchpad
from memory.taxonomy import MemoryType, Status

KNOWN_MOST: Final = 500  # dead ends, the newest; ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """A dead end that a session entered: at which event, how, and whether it was told before."""

    memory_id: UUID
    sequence: int
    how: str
    told: bool

    def as_json(self) -> Mapping[str, Any]:
        """Write it down for the session's row."""
        return {
            "memory_id": str(self.memory_id),
            "sequence": self.sequence,
            "how": self.how,
            "told": self.told,
        }


def find(*, caller: Caller, row: Session, scratchpad: Scratchpad) -> tuple[Entered, ...]:
    """Find the dead ends that a session entered and could have avoided. In a unit."""
    here = Q(project_id=row.project_id) | Q(project_id__isnull=True)
    rows = countable(caller=caller).filter(
        here,
        type=MemoryType.DEAD_END.value,
        status=Status.ACTIVE.value,
        stale_at__isnull=True,
        needs_review=False,
        taint_reason="",
        created_at__lt=row.opened_at,
    )
    newest = rows.exclude(session_id=row.id).order_by("-created_at", "id")[:KNOWN_MOST]
    ends = tuple(
        KnownEnd(
            id=id,
            content=content,
            approach=str(attributes.get("approach", "")),
            files=tuple(files),
        )
        for id, content, attributes, files in newest.values_list(
            "id", "content", "attributes", "related_files"
        )
    )
    if not ends:
        return ()
    thought = Turn.done.filter(session=row, body__kind="reasoning").order_by("sequence")
    texts = thought.values_list("sequence", "body__text")[: reentered_dead_ends.SAID_MOST]
    said = tuple(Said(sequence=sequence, text=text or "") for sequence, text in texts)
    found = reentered_dead_ends.find(scratchpad=scratchpad, said=said, known=ends)
    told = _told(row, found)
    return tuple(
        Entered(
            memory_id=one.memory_id,
            sequence=one.sequence,
            how=one.how.value,
            told=one.memory_id in told,
        )
        for one in found
    )


def counts(*, entered: tuple[Entered, ...]) -> tuple[Count, ...]:
    """Return what a session adds to the sums of each dead end."""
    return tuple(
        Count(
            kind=Kind.REENTRY,
            key=str(one.memory_id),
            counts={"sessions": 1, "told": int(one.told)},
        )
        for one in entered
    )


def _told(row: Session, found: tuple[Reentry, ...]) -> frozenset[UUID]:
    """Return those that the session was given before it entered them, by what was stored when."""
    rows = GivenOut.objects.filter(
        session_id=row.id,
        memory_id__in=[one.memory_id for one in found],
        after_row__isnull=False,
    )
    given = set(rows.values_list("memory_id", "after_row"))
    if not given:
        return frozenset()
    events = Turn.done.filter(session=row, sequence__in=[one.sequence for one in found])
    stored = dict(events.order_by().values_list("sequence", "pk"))
    return frozenset(
        one.memory_id
        for one in found
        if any(
            id == one.memory_id and (after or 0) < stored.get(one.sequence, 0)
            for id, after in given
        )
    )
