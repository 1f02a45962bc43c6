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
from frontend.presenters.memory_rows import Row
from memory.records import filters as language
from memory.records.filters import Chip, Filters, states_of
from memory.records.queries import memories
from memory.records.queries.memories import Cursor
from memory.search.actions import SearchAnswer, search
from memory.search.request import SearchRequest
from memory.text import globs

PAGE_SIZE: Final = 30
SEARCH_SIZE: Final = 50
LONGEST_QUERY: Final = 1_000  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuery:
    """The query box and the page of it; `anyway` shows what is not relevant enough, too."""

    text: str
    cursor: Cursor | None
    why: bool
    anyway: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryList:
    """What the list shows: rows, how many pass the filters, or what is wrong.

    `answer` is how a search went, None when there was none; `withheld` of its hits are not
    relevant enough to be shown unasked.
    """

    rows: tuple[Row, ...] = ()
    chips: tuple[Chip, ...] = ()
    total: int | None = None
    next_cursor: str = ""
    answer: SearchAnswer | None = None
    withheld: int = 0
    error: InvalidInput | None = None


def query_of(*, values: Mapping[str, str]) -> ListQuery:
    """Read the query box from the address; a cursor that is none starts at the beginning."""
    at, _, memory_id = values.get("after", "").partition("~")
    try:
        created_at = datetime.fromisoformat(at).astimezone(UTC)
        cursor = Cursor(created_at=created_at, memory_id=UUID(memory_id))
    except (ValueError, OverflowError):
        cursor = None
    text = values.get("q", "").strip()[:LONGEST_QUERY]
    return ListQuery(text=text, cursor=cursor, why="why" in values, anyway="anyway" in values)


def read_unit(*, asked: ListQuery) -> AbstractContextManager[None]:
    """Return the database unit in which all of a list is read; a search opens its own.

    A search asks a model for the vector of the words, which nobody may wait for inside of a unit.
    """
    try:
        searches = bool(language.parse(text=asked.text).text)
    except InvalidInput:
        return nullcontext()
    return nullcontext() if searches else tenancy.unit()


def list_memories(*, caller: Caller, project: str, asked: ListQuery, now: datetime) -> MemoryList:
    """Return what to show for a query. Raises NotFound for a project the caller cannot see."""
    try:
        filters = language.parse(text=asked.text, project=project)
        if filters.text:
            return _search(caller, filters, asked, now)
        return _page(caller, filters, asked, now)
    except InvalidInput as error:
        return MemoryList(error=error)


def _search(caller: Caller, filters: Filters, asked: ListQuery, now: datetime) -> MemoryList:
    whole = (globs.bare(path=pattern) for pattern in filters.files if "[" not in pattern)
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
        # a glob that lets through at least what the first pattern does
        files=tuple(f"*{pattern}*" for pattern in whole if pattern)[:1],
        anyway=asked.anyway,
    )
    answer = search(caller=caller, request=request, now=now)
    rows = tuple(
        Row(
            memory=hit.memory,
            contradictions=hit.contradictions,
            explain=hit.explain,
            threshold=answer.funnel.threshold,
        )
        for hit in answer.hits
        if all(_touches(hit.memory.related_files, pattern) for pattern in filters.files)
    )
    return MemoryList(
        rows=rows,
        chips=language.chips(filters=filters),
        total=len(rows),
        answer=answer,
        withheld=answer.funnel.judged - answer.funnel.shown,
    )


def _touches(files: tuple[str, ...], pattern: str) -> bool:
    return any(fnmatchcase(file, pattern) or pattern.rstrip("*") in file for file in files)


def _page(caller: Caller, filters: Filters, asked: ListQuery, now: datetime) -> MemoryList:
    found = memories.page(
        caller=caller, filters=filters, cursor=asked.cursor, limit=PAGE_SIZE, now=now
    )
    is_counted = asked.cursor is None and asked.text
    after = found.next_cursor
    return MemoryList(
        rows=tuple(
            Row(memory=memory, contradictions=found.sides.get(memory.id, ()))
            for memory in found.items
        ),
        chips=language.chips(filters=filters),
        total=memories.count(caller=caller, filters=filters) if is_counted else None,
        next_cursor="" if after is None else f"{after.created_at.isoformat()}~{after.memory_id}",
    )
