"""The list of memories: what the query box asks for, and what there is to show.

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
from frontend.presenters import score_bar
from frontend.presenters.score_bar import Reason
from memory.records import filters as language
from memory.records.filters import Chip, Filters, states_of
from memory.records.queries import memories
from memory.records.queries.memories import Cursor
from memory.records.queries.relations import Contradiction
from memory.records.queries.views import MemoryView
from memory.search.actions import Hit, search
from memory.search.presentation import Funnel
from memory.search.request import SearchRequest
from memory.text import globs

PAGE_SIZE: Final = 30
SEARCH_SIZE: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The query box and the page of it; `anyway` shows what is not relevant enough, too."""

    text: str
    cursor: Cursor | None
    why: bool
    anyway: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One memory of the list, and why it stands here when it was searched for.

    `is_withheld`: it is not relevant enough to be shown unasked. `contradictions` stand below it:
    no side is shown alone.
    """

    memory: MemoryView
    reason: Reason | None = None
    is_withheld: bool = False
    contradictions: tuple[Contradiction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """How a search went: what each step kept, how many were kept back, what it did without."""

    funnel: Funnel
    withheld: int
    took_ms: float
    missing: tuple[str, ...]
    profile: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What the list shows: rows, how many pass the filters, or what is wrong.

    `searched` is how a search went, None when there was none.
    """

    rows: tuple[Row, ...]
    chips: tuple[Chip, ...] = ()
    total: int | None = None
    next_cursor: str = ""
    searched: Searched | None = None
    error: InvalidInput | None = None


def asked(*, values: Mapping[str, str]) -> Asked:
    """Read the query box from the address; a cursor that is none starts at the beginning."""
    return Asked(
        text=values.get("q", "").strip()[:1000],
        cursor=_cursor(values.get("after", "")),
        why="why" in values,
        anyway="anyway" in values,
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
            return _searched(caller, filters, asked, now)
        return _listed(caller, filters, asked, now)
    except InvalidInput as error:
        return Shown(rows=(), error=error)


def _touches(memory: MemoryView, pattern: str) -> bool:
    return any(
        fnmatchcase(file, pattern) or pattern.rstrip("*") in file for file in memory.related_files
    )


def _globs(filters: Filters) -> tuple[str, ...]:
    """Return a glob for the search that lets through at least what the first pattern does."""
    whole = (globs.bare(path=pattern) for pattern in filters.files if "[" not in pattern)
    return tuple(f"*{pattern}*" for pattern in whole if pattern)[:1]


def _searched(caller: Caller, filters: Filters, asked: Asked, now: datetime) -> Shown:
    request = SearchRequest(
        query=filters.text,
        project=filters.project,
        limit=SEARCH_SIZE,
        types=filters.types,
        tags=filters.tags,
        author=filters.author,
        modules=filters.modules,
        topics=filters.topics,
        states=states_of(filters=filters),
        least_sure=filters.minimum_confidence,
        most_sure=filters.maximum_confidence,
        files=_globs(filters),
        anyway=asked.anyway,
    )
    answer = search(caller=caller, request=request, now=now)
    threshold = answer.funnel.threshold
    rows = tuple(
        _row(hit, threshold)
        for hit in answer.hits
        if all(_touches(hit.memory, pattern) for pattern in filters.files)
    )
    return Shown(
        rows=rows,
        chips=language.chips(filters=filters),
        total=len(rows),
        searched=Searched(
            funnel=answer.funnel,
            withheld=answer.funnel.judged - answer.funnel.shown,
            took_ms=answer.took_ms,
            missing=answer.degraded,
            profile=answer.profile,
        ),
    )


def _row(hit: Hit, threshold: float) -> Row:
    reason = score_bar.of(explain=hit.explain, threshold=threshold)
    return Row(
        memory=hit.memory,
        reason=reason,
        is_withheld=reason.relevance < threshold,
        contradictions=hit.contradictions,
    )


def _listed(caller: Caller, filters: Filters, asked: Asked, now: datetime) -> Shown:
    found = memories.page(
        caller=caller, filters=filters, cursor=asked.cursor, limit=PAGE_SIZE, now=now
    )
    counted = asked.cursor is None and asked.text
    after = found.next_cursor
    return Shown(
        rows=tuple(
            Row(memory=memory, contradictions=found.sides.get(memory.id, ()))
            for memory in found.items
        ),
        chips=language.chips(filters=filters),
        total=memories.count(caller=caller, filters=filters) if counted else None,
        next_cursor="" if after is None else f"{after.created_at.isoformat()}~{after.memory_id}",
    )


def _cursor(text: str) -> Cursor | None:
    moment, _, memory_id = text.partition("~")
    try:
        created_at = datetime.fromisoformat(moment).astimezone(UTC)
        return Cursor(created_at=created_at, memory_id=UUID(memory_id))
    except (ValueError, OverflowError):
        return None
