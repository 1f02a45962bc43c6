"""Pin a memory, so that it never fades; or let go of it."""

from datetime import datetime
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.records.actions import writes
from memory.records.actions.confirm import check_active
from memory.records.actions.revise import check_agent_may_change, check_agent_may_forget
from memory.records.queries.memories import lock_memory
from memory.records.queries.views import MemoryView, to_view
from memory.taxonomy import MemoryType, governance_of
from teams.permissions import Act, require


def pin(*, caller: Caller, memory_id: UUID, pinned: bool, now: datetime) -> MemoryView:
    """Set or take away the pin.

    A pin protects, so an agent takes none from what it may not forget. Raises NotFound, NotActive,
    ProtectedMemory, RoleNotSufficient.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        view = apply(caller=caller, memory_id=memory_id, pinned=pinned, now=now)
        act = "memory.pinned" if pinned else "memory.unpinned"
        writes.record(caller=caller, act=act, memory_id=memory_id)
        return view


def apply(*, caller: Caller, memory_id: UUID, pinned: bool, now: datetime) -> MemoryView:
    """Set or take away the pin inside the current unit."""
    row = lock_memory(caller=caller, memory_id=memory_id)
    check_active(row=row)
    check = check_agent_may_change if pinned else check_agent_may_forget
    check(caller=caller, row=row)
    row.pinned = pinned
    row.governance = governance_of(type=MemoryType(row.type), tags=tuple(row.tags), pinned=pinned)
    writes.save(row=row, fields=("pinned", "governance"), now=now)
    writes.announce(caller=caller, kind="memory.pinned", rows=(row,))
    return to_view(row, now=now)
