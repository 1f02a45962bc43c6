"""Find what is like a memory: nearest by meaning, by words while it has no vector."""

import time
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.records.queries import memories, relations
from memory.records.queries.relations import Sides
from memory.records.queries.views import MemoryView
from memory.search.actions import filter_values as narrowings
from memory.search.actions.filter_values import Narrowing
from memory.search.sql import lookups
from memory.search.sql.candidates import Question
from teams import visibility
from teams.permissions import Act, require
from teams.visibility import Sight

NO_VECTORS: Final = "no_vectors"

Nearest = tuple[tuple[UUID, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """A memory and how alike it is: a cosine, or the share of words where there is no vector."""

    memory: MemoryView
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar:
    """What is like a memory, most alike first; `degraded` says when only words were compared.

    `sides`: what contradicts one of them, by its id.
    """

    items: tuple[Alike, ...]
    sides: Sides
    degraded: tuple[str, ...]
    took_ms: float


def similar(*, caller: Caller, memory_id: UUID, narrowing: Narrowing, now: datetime) -> Similar:
    """Find what is like a memory that the caller may see.

    Raises NotFound for another one, and for a project the caller cannot see; InvalidInput.
    """
    started = time.perf_counter()
    require(caller=caller, act=Act.READ)
    narrowings.check(narrowing=narrowing)
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        memories.find_memory(caller=caller, memory_id=memory_id)
        question = narrowings.question(caller=caller, narrowing=narrowing)
        has_vector, near = _near(memory_id, question, narrowing.limit, sight)
        ids = tuple(one for one, _ in near)
        views, sides = relations.give_out_together(memory_ids=ids, sight=sight, now=now)
    items = tuple(
        Alike(memory=views[one], similarity=round(value, 4)) for one, value in near if one in views
    )
    return Similar(
        items=items,
        sides=sides,
        degraded=() if has_vector else (NO_VECTORS,),
        took_ms=round((time.perf_counter() - started) * 1_000, 2),
    )


def _near(memory_id: UUID, question: Question, limit: int, sight: Sight) -> tuple[bool, Nearest]:
    """Return whether vectors were compared, and what is nearest."""
    found = lookups.similar(memory_id=memory_id, question=question, limit=limit, sight=sight)
    if found:
        return True, found
    by_words = lookups.similar_words(
        memory_id=memory_id, question=question, limit=limit, sight=sight
    )
    return not by_words, by_words
