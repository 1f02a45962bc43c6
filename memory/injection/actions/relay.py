"""What one stage of a piece of work passes on to the next.

The stage before is the last session of the same thread or unit of work whose phase is another one.
What it recorded, and the methodology lets pass, is what its successor is told; whatever may not be
given to anybody is not passed on either.
"""

from datetime import datetime
from typing import Final

from django.db.models import Q

from accounts.caller import Caller
from memory.customization import methodology
from memory.customization.methodology import Transition
from memory.customization.queries import methodologies
from memory.injection import relays
from memory.injection.actions.deliver import CERTAIN, NOTHING, Found
from memory.injection.planner import Known
from memory.records.queries.views import countable, views_of
from memory.sessions.models import Session
from memory.sessions.queries import sessions
from memory.taxonomy import MemoryType, Status
from teams import visibility

LOOKED_AT: Final = 100  # memories of the stage before, the surest first; ours


def passed_on(*, caller: Caller, row: Session, now: datetime) -> Found:
    """Find what the stage before passes on to a session. In a unit."""
    before = _before(caller, row)
    if before is None:
        return NOTHING
    ids = countable(caller=caller).filter(
        session_id=before.id, status=Status.ACTIVE.value, needs_review=False, taint_reason=""
    )
    surest = ids.order_by("-confidence", "id").values_list("id", flat=True)[:LOOKED_AT]
    sight = visibility.sight_of(caller=caller)
    views = views_of(memory_ids=tuple(surest), sight=sight, now=now)
    recorded = tuple(
        Known(
            id=view.id,
            type=MemoryType(view.type),
            content=view.content,
            confidence=view.effective_confidence,
            own_type=view.own_type,
        )
        for view in views.values()
    )
    passed = relays.passed_on(
        transitions=_transitions(caller, row),
        before=before.phase,
        after=row.phase,
        recorded=recorded,
    )
    return Found(
        views={one.id: views[one.id] for one in passed},
        relevance={one.id: CERTAIN for one in passed},
        files={},
    )


def _before(caller: Caller, row: Session) -> Session | None:
    """Return the last session of the same work in another phase, of those the caller may see."""
    same = Q(pk__in=())
    if row.thread:
        same |= Q(thread=row.thread)
    if row.work_unit:
        same |= Q(work_unit=row.work_unit)
    if not row.phase or not (row.thread or row.work_unit):
        return None
    rows = sessions.opened_before(caller=caller, row=row).filter(same)
    return rows.exclude(phase__in=("", row.phase)).order_by("-opened_at", "-id").first()


def _transitions(caller: Caller, row: Session) -> tuple[Transition, ...]:
    """Return the transitions of a session's methodology: the organization's own, or ours."""
    own = methodologies.relays_of(caller=caller, name=row.methodology) if row.methodology else ()
    return own or methodology.NATIVE_TRANSITIONS
