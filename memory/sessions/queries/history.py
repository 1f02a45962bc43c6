"""Search what was said, verbatim: one's own sessions and those shared with one.

Nothing is ranked and nothing is left out: whoever looks for words gets the turns that hold them,
newest first. A person remembers that something was said, and how; `search` is for meanings.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from memory import sql_queries
from memory.sessions.queries import sessions
from memory.text.text import check_text
from teams import queries as places
from teams import visibility
from teams.permissions import Act, require

LONGEST_QUERY: Final = 400  # characters; default, not measured
_WORD: Final = re.compile(r"[^\W_]+")
FILE: Final = "sessions/sql/sessions.sql"
BEFORE: Final = 200  # characters before what was found; default, not measured
LONGEST_PIECE: Final = 1_200  # characters of a turn that are shown; default, not measured


class How(StrEnum):
    """Whether the words may stand anywhere in a turn, or exactly so beside each other."""

    WORDS = "words"
    EXACT = "exact"


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPlace:
    """Where a page ended."""

    at: datetime
    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryQuestion:
    """What to look for, and in which project, session, thread; said by whom."""

    query: str
    how: How = How.WORDS
    project: str | None = None
    session_id: UUID | None = None
    thread: str | None = None
    role: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryHit:
    """A turn that holds it: `text` from its character `start` on; `whole` has so many."""

    session_id: UUID
    sequence: int
    role: str
    masked: int
    at: datetime
    thread: str
    project: str | None
    agent: str
    whole: int
    start: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPage:
    """Turns, newest first, and where the next page begins (None: this is the last)."""

    items: tuple[HistoryHit, ...]
    next_place: HistoryPlace | None


def search_history(
    *, caller: Caller, asked: HistoryQuestion, after: HistoryPlace | None, limit: int
) -> HistoryPage:
    """Return turns that hold what is asked. Letters are compared without regard to their case.

    Raises InvalidInput for a question without a word, NotFound for a project or session that the
    caller may not see.
    """
    require(caller=caller, act=Act.READ)
    first = _first_word(asked.query)
    with tenancy.unit():
        project = session = None
        if asked.project is not None:
            project = places.find_project(caller=caller, ref=asked.project).id
        if asked.session_id is not None:
            session = sessions.find(caller=caller, session_id=asked.session_id).id
        rows = sql_queries.filled(
            "history",
            file=FILE,
            parts={"visible": visibility.as_sql(alias="s")},
            query=asked.query,
            first=first,
            exact=asked.how is How.EXACT,
            project=project,
            session=session,
            thread=asked.thread,
            role=asked.role,
            at=None if after is None else after.at,
            id=None if after is None else after.id,
            most=limit + 1,
            before=BEFORE,
            length=LONGEST_PIECE,
            **visibility.parameters(sight=visibility.sight_of(caller=caller)),
        )
    shown = tuple(
        HistoryHit(**dict(zip(HistoryHit.__slots__, row[1:], strict=True))) for row in rows[:limit]
    )
    place = HistoryPlace(at=shown[-1].at, id=rows[limit - 1][0]) if len(rows) > limit else None
    return HistoryPage(items=shown, next_place=place)


def _first_word(query: str) -> str:
    """Return the first word of a question. Raises InvalidInput where it has none."""
    if check_text(text=query):
        raise wrong_field(
            pointer="/query", detail="The text has characters that cannot be stored.", code="text"
        )
    word = _WORD.search(query)
    if word is None:
        raise wrong_field(
            pointer="/query",
            detail="The query has no word in it.",
            hint="Signs alone are not looked for; name a word that stands beside them.",
            code="words",
        )
    return word.group()
