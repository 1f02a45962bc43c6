"""Memories that wait for review, for tests."""

from datetime import datetime
from typing import Any

from accounts import tenancy
from accounts.caller import Caller
from memory.index import queries as index_queries
from memory.intake.actions.remember import remember_all
from memory.intake.validation import NewMemory
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from tests.support.memories import REDIS, as_agent, stored


def waiting(caller: Caller, now: datetime, content: str = REDIS, **given: Any) -> MemoryView:
    """Store what an agent of the caller proposes; fields of the row may be `set`."""
    fields = {"needs_review": True, **given.pop("set", {})}
    memory = stored(as_agent(caller), now, content, source="agent_explicit", **given)
    with tenancy.unit():
        Memory.objects.filter(pk=memory.id).update(**fields)
        index_queries.sync_filters(memory_ids=(memory.id,))
    return memory


def many_waiting(caller: Caller, now: datetime, count: int, *, project: str) -> None:
    """Store so many that wait, the first of them the longest."""
    new = tuple(
        NewMemory(
            content=f"Route {number} of the depot is served by lorry {number * 7919}.",
            source="agent_explicit",
            project=project,
        )
        for number in range(count)
    )
    done = remember_all(caller=as_agent(caller), new=new, now=now)
    ids = [one.memory.id for one in done if one.memory is not None]
    with tenancy.unit():
        Memory.objects.filter(pk__in=ids).update(needs_review=True)
        index_queries.sync_filters(memory_ids=tuple(ids))


def fields_of(memory: MemoryView) -> dict[str, Any]:
    """Return every stored field of a memory but the version, which always goes on."""
    with tenancy.unit():
        row = Memory.objects.filter(pk=memory.id).values().get()
    return {name: value for name, value in row.items() if name != "version"}
