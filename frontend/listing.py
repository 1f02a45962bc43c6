"""The list of memories: what the query box asks for, and what there is to show (spec 9.2).

Words search, everything else filters. A search ranks by relevance and says why; a filter alone
lists the newest first, page by page. A filter that cannot be understood shows what would be right.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput
from memory.actions.search import SearchRequest, search
from memory.queries import memories
from memory.queries.memories import Cursor
from memory.queries.views import MemoryView
from memory.retrieval import filters as language
from memory.retrieval.filters import Chip, Filters

PAGE_SIZE: Final = 30
SEARCH_SIZE: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The query box and the page of it."""

    text: str
    cursor: Cursor | None
    why: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """What one path of the search gave: its share of the score, and the rank there from 1."""

    name: str
    value: float
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One memory of the list; `relevance` is None when nothing was searched for."""

    memory: MemoryView
    relevance: float | None
    factors: tuple[Factor, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What the list shows: rows, how many pass the filters, what was missing, or what is wrong."""

    rows: tuple[Row, ...]
    chips: tuple[Chip, ...]
    total: int | None
    next_cursor: str
    searched: bool
    took_ms: float
    degraded: bool
    error: InvalidInput | None


def asked(*, values: Mapping[str, str]) -> Asked:
    """Read the query box from the address; a cursor that is none starts at the beginning."""
    return Asked(
        text=values.get("q", "").strip()[:1000],
        cursor=_cursor(values.get("after", "")),
        why="why" in values,
    )


def moment(*, asked: Asked) -> AbstractContextManager[None]:
    """Return the database unit in which all of a list is read; a search opens its own.

    A search asks a model for the vector of the words, which nobody may wait for inside of a unit.
    """
    try:
        searches = bool(language.parse(text=asked.text).text)
    except InvalidInput:
        return nullcontext()
    return nullcontext() if searches else tenancy.unit()


def shown(*, caller: Caller, project: str, asked: Asked, now: datetime) -> Shown:
    """Return what to show for a query. Raises NotFound for a project the caller cannot see."""
    try:
        filters = language.parse(text=asked.text, project=project)
        if filters.text:
            return _searched(caller, filters, now)
        return _listed(caller, filters, asked, now)
    except InvalidInput as error:
        return Shown(
            rows=(), chips=(), total=None, next_cursor="", searched=False, took_ms=0.0,
            degraded=False, error=error,
        )  # fmt: skip


def passes(*, memory: MemoryView, filters: Filters) -> bool:
    """Say whether a found memory also passes the filters that a search does not apply."""
    return (
        memory.status in filters.status
        and set(filters.tags) <= set(memory.tags)
        and (not filters.modules or not set(filters.modules).isdisjoint(memory.related_modules))
        and all(_touches(memory, pattern) for pattern in filters.files)
        and filters.author in {None, memory.source_interface, memory.author_agent}
        and _believed(memory, filters)
    )


def _believed(memory: MemoryView, filters: Filters) -> bool:
    low, high = filters.minimum_confidence, filters.maximum_confidence
    flags = (
        (filters.pinned, memory.pinned),
        (filters.needs_review, memory.needs_review),
        (filters.stale, memory.stale_at is not None),
    )
    return (
        (low is None or memory.confidence >= low)
        and (high is None or memory.confidence <= high)
        and all(wanted is None or wanted == is_so for wanted, is_so in flags)
    )


def _touches(memory: MemoryView, pattern: str) -> bool:
    return any(
        fnmatchcase(file, pattern) or pattern.rstrip("*") in file for file in memory.related_files
    )


def _searched(caller: Caller, filters: Filters, now: datetime) -> Shown:
    request = SearchRequest(
        query=filters.text, project=filters.project, limit=SEARCH_SIZE, types=filters.types
    )
    answer = search(caller=caller, request=request, now=now)
    rows = tuple(
        Row(memory=hit.memory, relevance=hit.relevance, factors=_factors(hit.explain))
        for hit in answer.hits
        if passes(memory=hit.memory, filters=filters)
    )
    return Shown(
        rows=rows,
        chips=language.chips(filters=filters),
        total=len(rows),
        next_cursor="",
        searched=True,
        took_ms=answer.took_ms,
        degraded=bool(answer.degraded),
        error=None,
    )


def _listed(caller: Caller, filters: Filters, asked: Asked, now: datetime) -> Shown:
    found = memories.page(
        caller=caller, filters=filters, cursor=asked.cursor, limit=PAGE_SIZE, now=now
    )
    counted = asked.cursor is None and asked.text
    after = found.next_cursor
    return Shown(
        rows=tuple(Row(memory=memory, relevance=None, factors=()) for memory in found.items),
        chips=language.chips(filters=filters),
        total=memories.count(caller=caller, filters=filters) if counted else None,
        next_cursor="" if after is None else f"{after.created_at.isoformat()}~{after.memory_id}",
        searched=False,
        took_ms=0.0,
        degraded=False,
        error=None,
    )


def _factors(explain: Mapping[str, object]) -> tuple[Factor, ...]:
    paths = explain.get("paths")
    found = paths.items() if isinstance(paths, Mapping) else ()
    return tuple(
        Factor(name=str(name), value=float(part["value"]), rank=int(part["rank"]))
        for name, part in found
    )


def _cursor(text: str) -> Cursor | None:
    moment, _, memory_id = text.partition("~")
    try:
        created_at = datetime.fromisoformat(moment).astimezone(UTC)
        return Cursor(created_at=created_at, memory_id=UUID(memory_id))
    except (ValueError, OverflowError):
        return None
