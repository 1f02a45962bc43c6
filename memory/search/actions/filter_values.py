"""What the ways to ask without words are narrowed by: the filters of a search, checked alike."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from accounts.caller import Caller
from memory.search import query
from memory.search.actions import request as search_request
from memory.search.actions.request import SearchRequest
from memory.search.sql.candidates import Question

NO_WORDS: Final = "anything"


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """The filters of a search; empty ones let everything through."""

    project: str | None = None
    projects: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    author: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    limit: int = 10


def check(*, narrowing: Narrowing) -> None:
    """Raise InvalidInput naming every wrong field."""
    search_request.check(request=_request(narrowing))


def question(*, caller: Caller, narrowing: Narrowing) -> Question:
    """Return the filters as the database takes them. In a unit.

    Raises NotFound for a project the caller cannot see.
    """
    request = _request(narrowing)
    return search_request.question(
        request=request,
        place=search_request.place(caller=caller, request=request),
        asked=query.understand(text=request.query),
        embedded=None,
    )


def _request(narrowing: Narrowing) -> SearchRequest:
    return SearchRequest(
        query=NO_WORDS,
        project=narrowing.project,
        projects=narrowing.projects,
        types=narrowing.types,
        tags=narrowing.tags,
        files=narrowing.files,
        topics=narrowing.topics,
        author=narrowing.author,
        since=narrowing.since,
        until=narrowing.until,
        as_of=narrowing.as_of,
        limit=narrowing.limit,
    )
