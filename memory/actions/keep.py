"""Keep a memory that waits for review: it is right as it stands (spec 9.2, 11.3).

Keeping confirms. In person it also verifies, ends staleness and lifts a taint; through a token it
only ends the wait, and only of what neither its person nor their agents proposed.
"""

from datetime import datetime
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller, is_person
from memory.actions import confirm, deciding, store
from memory.actions.deciding import Decided, Traces
from memory.lifecycle.review import Verdict
from memory.queries.memories import lock_memory
from memory.queries.views import to_view
from teams.permissions import require
from teams.roles import Act


def keep(*, caller: Caller, memory_id: UUID, now: datetime) -> Decided:
    """Keep a waiting memory.

    Raises NotFound, Conflict when it does not wait, SelfApproval, RoleNotSufficient.
    """
    require(caller=caller, act=Act.CONFIRM)
    with tenancy.unit():
        decided = apply(caller=caller, memory_id=memory_id, now=now)
        store.record(caller=caller, act="memory.kept", memory_id=memory_id)
        return decided


def apply(*, caller: Caller, memory_id: UUID, now: datetime) -> Decided:
    """Keep a waiting memory inside the current unit."""
    traces = Traces()
    row = deciding.lock_waiting(caller=caller, memory_id=memory_id)
    deciding.check_may_approve(caller=caller, row=row)
    traces.keep(row)
    confirm.apply(caller=caller, memory_id=memory_id, now=now)
    row.refresh_from_db()
    row.needs_review = False
    fields = ["needs_review"]
    if is_person(caller=caller):
        row.stale_at, row.taint_reason = None, ""
        fields += ["stale_at", "taint_reason"]
    store.save(row=row, fields=tuple(fields), now=now)
    made = deciding.note(caller=caller, row=row, verdict=Verdict.KEEP, traces=traces, now=now)
    view = to_view(lock_memory(caller=caller, memory_id=memory_id), now=now)
    return Decided(memory=view, verdict=Verdict.KEEP, review_id=made)
