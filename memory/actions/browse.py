"""Browse: the list behind the query box, ranked if it has words, newest first if it has none."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts.caller import Caller
from memory.actions.search import LARGEST_LIMIT, SearchRequest, search
from memory.queries import memories
from memory.queries.memories import Cursor
from memory.queries.views import MemoryView
from memory.retrieval.filters import Filters
from teams.permissions import require
from teams.roles import Act

RANKED: Final = LARGEST_LIMIT  # results considered when the box has words


@dataclass(frozen=True, slots=True, kw_only=True)
class Browsed:
    """A page of memories; `reasons` explains the order of a ranked one, by memory."""

    items: tuple[MemoryView, ...]
    next_cursor: Cursor | None
    reasons: Mapping[UUID, Mapping[str, Any]]
    degraded: tuple[str, ...] = ()
    took_ms: float | None = None


def browse(
    *, caller: Caller, filters: Filters, cursor: Cursor | None, limit: int, now: datetime
) -> Browsed:
    """List memories. Raises NotFound for a project the caller cannot see."""
    require(caller=caller, act=Act.READ)
    if not filters.text:
        page = memories.page(caller=caller, filters=filters, cursor=cursor, limit=limit, now=now)
        return Browsed(items=page.items, next_cursor=page.next_cursor, reasons={})
    request = SearchRequest(
        query=filters.text, project=filters.project, limit=RANKED, types=filters.types
    )
    answer = search(caller=caller, request=request, now=now)
    found = tuple(hit.memory.id for hit in answer.hits)
    kept = memories.kept_by(caller=caller, filters=replace(filters, text=""), memory_ids=found)
    hits = [hit for hit in answer.hits if hit.memory.id in kept][:limit]
    return Browsed(
        items=tuple(hit.memory for hit in hits),
        next_cursor=None,
        reasons={hit.memory.id: {"relevance": hit.relevance, **hit.explain} for hit in hits},
        degraded=answer.degraded,
        took_ms=answer.took_ms,
    )
