"""Keep a memory that waits for review: it is right as it stands.

Keeping confirms. In person it also verifies, ends staleness and lifts a taint; through a token it
only ends the wait, and only of what neither its person nor their agents proposed.
"""

from datetime import datetime
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.records.actions import confirm, writes
from memory.review.actions import verdict
from memory.review.actions.verdict import Decided
from teams.permissions import Act, require


def keep(*, caller: Caller, memory_id: UUID, now: datetime) -> Decided:
    """Keep a waiting memory.

    Raises NotFound, Conflict when it does not wait, SelfApproval, RoleNotSufficient.
    """
    require(caller=caller, act=Act.CONFIRM)
    with tenancy.unit():
        decided = apply(caller=caller, memory_id=memory_id, now=now)
        writes.record(caller=caller, act="memory.kept", memory_id=memory_id)
        return decided


def apply(*, caller: Caller, memory_id: UUID, now: datetime) -> Decided:
    """Keep a waiting memory inside the current unit."""
    row = verdict.lock_waiting(caller=caller, memory_id=memory_id)
    return confirm.approve(caller=caller, row=row, now=now)
