"""Which known dead ends an ended session entered, and whether it had been told.

Known is what its opener could see, of its project or of none, kept by a person or in no need of
one, and stored before the session began. What is found is put down in the session, and counted for
each dead end at the session's first end. Nothing is asked and nobody is told: it is a figure.
"""

from dataclasses import dataclass
from typing import Final

from django.db.models import Min, Q

from accounts.caller import Caller
from memory.observer import reentered_dead_ends
from memory.observer.reentered_dead_ends import KnownEnd
from memory.records.queries.views import countable
from memory.sessions.models import GivenOut, Session, Turn
from memory.sessions.scratchpad import Scratchpad
from memory.taxonomy import MemoryType, Status

KNOWN_MOST: Final = 500  # dead ends, the newest; default, not measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """A dead end that a session entered: at which event, how, and whether it was told before."""

    memory_id: str
    sequence: int
    how: str
    told: bool


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
    newest = rows.exclude(session_id=row.id).order_by("-created_at", "id")
    known = tuple(
        KnownEnd(id=id, content=content, approach=str(attributes.get("approach", "")))
        for id, content, attributes in newest.values_list("id", "content", "attributes")[
            :KNOWN_MOST
        ]
    )
    if not known:
        return ()
    thoughts = Turn.done.filter(session=row, body__kind="reasoning").order_by("sequence")
    texts = thoughts.values_list("sequence", "body__text")[: reentered_dead_ends.SAID_MOST]
    said = [(sequence, text or "") for sequence, text in texts]
    found = reentered_dead_ends.find(scratchpad=scratchpad, said=said, known=known)
    # Told before is what was given before the event was stored, whatever its number or clock.
    logged = GivenOut.objects.filter(
        session_id=row.id, memory_id__in=[one.memory_id for one in found]
    )
    first = dict(logged.order_by().values_list("memory_id").annotate(first=Min("after_row")))
    events = Turn.done.filter(session=row, sequence__in=[one.sequence for one in found])
    stored = dict(events.order_by().values_list("sequence", "pk"))
    return tuple(
        Entered(
            memory_id=str(one.memory_id),
            sequence=one.sequence,
            how=one.how.value,
            told=(after := first.get(one.memory_id)) is not None
            and after < stored.get(one.sequence, 0),
        )
        for one in found
    )
