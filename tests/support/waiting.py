"""Memories that wait for review, for tests."""

from datetime import datetime
from typing import Any

from accounts import tenancy
from accounts.caller import Caller
from memory.models import Memory
from memory.queries.views import MemoryView
from memory.sql import retrieval
from tests.support.memories import REDIS, as_agent, stored


def waiting(caller: Caller, now: datetime, content: str = REDIS, **given: Any) -> MemoryView:
    """Store what an agent of the caller proposes; fields of the row may be `set`."""
    fields = {"needs_review": True, **given.pop("set", {})}
    memory = stored(as_agent(caller), now, content, source="agent_explicit", **given)
    with tenancy.unit():
        Memory.objects.filter(pk=memory.id).update(**fields)
        retrieval.sync_filters(memory_ids=(memory.id,))
    return memory


def fields_of(memory: MemoryView) -> dict[str, Any]:
    """Return every stored field of a memory but the version, which always goes on."""
    with tenancy.unit():
        row = Memory.objects.filter(pk=memory.id).values().get()
    return {name: value for name, value in row.items() if name != "version"}
