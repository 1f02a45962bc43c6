"""Reject a memory that waits for review: it is archived with the reason."""

from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.messages import message
from memory.records.actions import archive, writes
from memory.records.actions.validation import check_reason
from memory.records.verdicts import Verdict
from memory.review.actions import verdict
from memory.review.actions.verdict import Decided, Traces
from teams.permissions import Act, require

NO_REASON: Final = message("rejected in review")


def reject(*, caller: Caller, memory_id: UUID, reason: str, now: datetime) -> Decided:
    """Reject a waiting memory.

    Raises NotFound, Conflict when it does not wait, ProtectedMemory, InvalidInput for a reason with
    a secret in it.
    """
    require(caller=caller, act=Act.WRITE)
    check_reason(reason=reason)
    with tenancy.unit():
        decided = apply(caller=caller, memory_id=memory_id, reason=reason, now=now)
        writes.record(caller=caller, act="memory.rejected", memory_id=memory_id)
        return decided


def apply(*, caller: Caller, memory_id: UUID, reason: str, now: datetime) -> Decided:
    """Reject a waiting memory inside the current unit."""
    traces = Traces()
    row = verdict.lock_waiting(caller=caller, memory_id=memory_id)
    traces.keep(row)
    view = archive.apply(caller=caller, row=row, reason=reason or NO_REASON, now=now)
    made = verdict.note(caller=caller, row=row, verdict=Verdict.REJECT, traces=traces, now=now)
    return Decided(memory=view, verdict=Verdict.REJECT, review_id=made)
