"""Restore an archived memory: one's own, or as a steward anybody's."""

from datetime import datetime
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller, principal
from accounts.messages import message
from memory.errors import NotActive
from memory.index.actions import embedding
from memory.records.actions import writes
from memory.records.actions.revise import is_author
from memory.records.queries.memories import lock_memory
from memory.records.queries.views import MemoryView, to_view
from memory.taxonomy import Status
from teams.permissions import Act, require


def restore(*, caller: Caller, memory_id: UUID, now: datetime) -> MemoryView:
    """Bring an archived memory back.

    Raises NotFound, RoleNotSufficient, NotActive, Conflict with a newer twin.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        row = lock_memory(caller=caller, memory_id=memory_id)
        if not is_author(caller=caller, row=row):
            require(caller=caller, act=Act.RESTORE)
        if row.status != Status.ARCHIVED:
            raise NotActive(
                detail=message("This memory is {status}, not archived.", status=Status(row.status)),
                hint="Only archived memories are restored.",
            )
        row.status, row.archived_reason, row.valid_until = Status.ACTIVE.value, "", None
        writes.save_unique(row=row, fields=("status", "archived_reason", "valid_until"), now=now)
        if not getattr(row, "is_embedded", False):
            embedding.enqueue(layers={row.id: row.governance}, created_by=principal(caller=caller))
        writes.announce(caller=caller, kind="memory.restored", rows=(row,))
        writes.record(caller=caller, act="memory.restored", memory_id=memory_id)
        return to_view(row, now=now)
