"""Archive a memory: it leaves searches, keeps its reason, and can be restored."""

from datetime import datetime
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.records.actions import writes
from memory.records.actions.confirm import check_active
from memory.records.actions.revise import check_agent_may_forget, check_version
from memory.records.actions.validation import check_reason
from memory.records.models import Memory
from memory.records.queries.memories import lock_memory
from memory.records.queries.views import MemoryView, to_view
from memory.taxonomy import Status
from teams.permissions import Act, require


def archive(
    *, caller: Caller, memory_id: UUID, reason: str, if_version: int | None, now: datetime
) -> MemoryView:
    """Archive a memory. Raises NotFound, NotActive, ProtectedMemory, PreconditionFailed.

    Raises InvalidInput for a reason with a secret in it.
    """
    require(caller=caller, act=Act.WRITE)
    check_reason(reason=reason)
    with tenancy.unit():
        row = lock_memory(caller=caller, memory_id=memory_id)
        check_version(row=row, if_version=if_version)
        view = apply(caller=caller, row=row, reason=reason, now=now)
        writes.record(caller=caller, act="memory.archived", memory_id=memory_id)
        return view


def apply(*, caller: Caller, row: Memory, reason: str, now: datetime) -> MemoryView:
    """Archive a locked memory inside the current unit."""
    check_active(row=row)
    check_agent_may_forget(caller=caller, row=row)
    row.status, row.archived_reason = Status.ARCHIVED.value, reason
    row.valid_until = now
    writes.save(row=row, fields=("status", "archived_reason", "valid_until"), now=now)
    writes.announce(caller=caller, kind="memory.archived", rows=(row,))
    return to_view(row, now=now)
