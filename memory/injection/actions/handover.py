"""What the stage before hands over to the session that is the next stage of the same work."""

from typing import Final

from django.db.models import Q

from memory.customization.phases import NATIVE_TRANSITIONS
from memory.customization.queries import find_own_methodology
from memory.injection.actions import deliver
from memory.injection.actions.deliver import NO_CANDIDATES, CandidateSet
from memory.injection.actions.policy import Recipient
from memory.injection.session_start_rules import RecordedMemory, handed_over
from memory.records.queries.views import countable, views_of
from memory.sessions import queries as sessions
from memory.taxonomy import Status
from teams import visibility

STAGE_MEMORIES_MOST: Final = 100  # of the stage before, the surest first; default


def candidates_of_stage(*, recipient: Recipient) -> CandidateSet:
    """Find what the stage before hands over: what it recorded and the methodology lets pass.

    The stage before is the last session of the same thread or unit of work in another phase. What
    may not be delivered to anybody is not handed over either.
    """
    caller, session = recipient.caller, recipient.session
    same = Q(pk__in=())
    if session.thread:
        same |= Q(thread=session.thread)
    if session.work_unit:
        same |= Q(work_unit=session.work_unit)
    rows = sessions.opened_before(caller=caller, row=session).filter(same)
    rows = rows.exclude(phase__in=("", session.phase)).order_by("-opened_at", "-id")
    before = rows.first() if session.phase else None
    if before is None:
        return NO_CANDIDATES
    recorded = countable(caller=caller).filter(
        session_id=before.id, status=Status.ACTIVE.value, needs_review=False, taint_reason=""
    )
    ranked = recorded.order_by("-confidence", "id").values_list("id", flat=True)
    surest = ranked[:STAGE_MEMORIES_MOST]
    sight = visibility.sight_of(caller=caller)
    views = views_of(memory_ids=tuple(surest), sight=sight, now=recipient.now)
    own = find_own_methodology(caller=caller, name=session.methodology)
    ids = handed_over(
        transitions=(own and own.relays) or NATIVE_TRANSITIONS,
        before=before.phase,
        after=session.phase,
        recorded=(
            RecordedMemory(
                id=view.id,
                type_names=frozenset({view.type, view.own_type}),
                confidence=view.effective_confidence,
            )
            for view in views.values()
        ),
    )
    return CandidateSet(
        views={one: views[one] for one in ids},
        relevance=dict.fromkeys(ids, deliver.CERTAIN),
    )
