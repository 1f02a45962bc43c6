"""Alarms about memories, told to who settles things and sees the memory."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Case, Exists, OuterRef, QuerySet, UUIDField, When
from django.db.models.functions import Cast

from accounts.caller import Caller
from memory.records.models import Memory
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from memory.statistics.models import Statistic
from teams.permissions import Act, allows

KIND: Final = "alarm"  # of statistics; its key is the memory's id, its counts the alarms
BURST: Final = "burst"
DOMINANT: Final = "dominant"
KEPT: Final = timedelta(days=30)  # that an alarm is told, ours
LOOKED_AT: Final = 100  # alarms, the newest; ours
MOST: Final = 5  # that a page tells
URGENT: Final = ("orders", "command", BURST, DOMINANT, "address")  # the most urgent first


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarmed:
    """A memory with what rang, the most urgent first."""

    memory: MemoryView
    alarms: tuple[str, ...]


def of_project(
    *, caller: Caller, project_id: UUID, rows: QuerySet[Memory], now: datetime
) -> tuple[Alarmed, ...]:
    """Return the alarms about some active memories that the caller sees. In a unit.

    Nothing for who settles nothing; what a person has vouched for meanwhile rings no more.
    """
    if not allows(role=caller.role, act=Act.SETTLE):
        return ()
    kept = Statistic.objects.filter(kind=KIND, project_id=project_id, updated_at__gte=now - KEPT)
    rang = {UUID(key): _ordered(counts) for key, counts in _newest(kept, rows)}
    ids = sorted(rang, key=lambda one: (URGENT.index(rang[one][0]), one))
    views = memories.by_ids(caller=caller, memory_ids=tuple(ids[:MOST]), now=now) if ids else {}
    return tuple(Alarmed(memory=views[one], alarms=rang[one]) for one in ids[:MOST] if one in views)


def _newest(
    kept: QuerySet[Statistic], rows: QuerySet[Memory]
) -> tuple[tuple[str, dict[str, int]], ...]:
    """Return the newest alarms about what is seen: those of others take nobody's place."""
    memory_id = Case(When(kind=KIND, then=Cast("key", UUIDField())))
    seen = rows.filter(pk=OuterRef("memory_id"), user_verified=False)
    found = kept.alias(memory_id=memory_id).filter(Exists(seen)).order_by("-updated_at", "key")
    return tuple(found.values_list("key", "counts")[:LOOKED_AT])


def _ordered(counts: dict[str, int]) -> tuple[str, ...]:
    return tuple(alarm for alarm in URGENT if alarm in counts)
