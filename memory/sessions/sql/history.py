"""Look for words in what was said."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from memory import sql_queries
from teams import visibility
from teams.visibility import Sight

FILE = "sessions/sql/history.sql"
BEFORE: Final = 200  # characters before what was found, ours
LONGEST_PIECE: Final = 1_200  # characters of a turn that are shown, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is looked for, and where; `first` is its first word."""

    query: str
    first: str
    exact: bool
    project: UUID | None
    session: UUID | None
    thread: str | None
    role: str | None
    at: datetime | None
    id: int | None
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRow:
    """A turn that holds it; `piece` is its text from the character `start` on, counted from 1."""

    id: int
    session_id: UUID
    sequence: int
    role: str
    masked: int
    at: datetime
    thread: str
    project: str | None
    agent: str
    length: int
    start: int
    piece: str


def find(*, wanted: Wanted, sight: Sight) -> tuple[FoundRow, ...]:
    """Return turns of sessions that may be seen, newest first. In a unit."""
    rows = sql_queries.filled(
        "history",
        file=FILE,
        parts={"visible": visibility.as_sql(alias="s")},
        query=wanted.query,
        first=wanted.first,
        exact=wanted.exact,
        project=wanted.project,
        session=wanted.session,
        thread=wanted.thread,
        role=wanted.role,
        at=wanted.at,
        id=wanted.id,
        most=wanted.most,
        before=BEFORE,
        length=LONGEST_PIECE,
        **visibility.parameters(sight=sight),
    )
    names = FoundRow.__slots__
    return tuple(FoundRow(**dict(zip(names, row, strict=True))) for row in rows)
