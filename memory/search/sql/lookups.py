"""Typed callers of the other ways to ask: by pattern, by likeness, by file, in time."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.utils import DataError, OperationalError
from psycopg import errors as postgres

from memory import sql_queries
from memory.entities.sql import entities
from memory.entities.sql.entities import Thing
from memory.search.patterns import Pattern
from memory.search.sql.candidates import Question
from memory.taxonomy import MemoryType, type_row
from memory.text import globs as text_globs
from teams import visibility
from teams.visibility import Sight, parameters

FILE: Final = "search/sql/lookups.sql"
EXACTLY: Final = 'm.content COLLATE "C"'
OF_ITS_FOLDER: Final = 2  # how close what is about a file's folder is
ANY_CASE: Final = 'lower(m.content COLLATE "C")'
NOTHING: Final[Mapping[str, str]] = {}
_OF_VECTORS: Final = frozenset({"similar", "similar_words"})
_TYPES: Final = {type_row(type=item).code: item.value for item in MemoryType}


class PatternRefused(Exception):
    """Postgres cannot read a regular expression; says why."""


class TookTooLong(Exception):
    """A statement was stopped because its time was over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """A memory whose text is matched, and where first: positions from 0, the end behind it."""

    memory_id: UUID
    start: int
    end: int
    content: str


def matching(
    *, pattern: Pattern, question: Question, limit: int, milliseconds: int, sight: Sight
) -> tuple[Matched, ...]:
    """Return the newest memories that a regular expression matches. In a unit.

    Raises PatternRefused, TookTooLong; the unit is over with either.
    """
    sql_queries.rows("be_quick", file=FILE, milliseconds=str(milliseconds))
    try:
        rows = _rows(
            "matching",
            question,
            sight,
            parts={"literal": ANY_CASE if pattern.ignores_case else EXACTLY},
            pattern=pattern.text,
            flags=pattern.flags,
            literal=f"%{_plain(pattern.literal)}%",
            limit=limit,
        )
    except DataError as error:
        raise PatternRefused(_said(error)) from error
    except OperationalError as error:
        if not isinstance(error.__cause__, postgres.QueryCanceled):
            raise
        raise TookTooLong(f"stopped after {milliseconds} ms") from error
    sql_queries.execute("take_time", file=FILE)
    return tuple(
        Matched(memory_id=row[0], start=row[1] - 1, end=row[2] - 1, content=row[3]) for row in rows
    )


def similar(
    *, memory_id: UUID, question: Question, limit: int, sight: Sight
) -> tuple[tuple[UUID, float], ...]:
    """Return the nearest memories with their cosines, none when it has no vector. In a unit."""
    rows = _rows("similar", question, sight, memory_id=memory_id, limit=limit)
    return tuple((row[0], row[1]) for row in rows)


def similar_words(
    *, memory_id: UUID, question: Question, limit: int, sight: Sight
) -> tuple[tuple[UUID, float], ...]:
    """Return the memories that share most words, with the share of its own, 0..1. In a unit."""
    rows = _rows("similar_words", question, sight, memory_id=memory_id, limit=limit)
    return tuple((row[0], min(1.0, row[1])) for row in rows)


def about_file(
    *, path: str, closeness: int, question: Question, limit: int, sight: Sight
) -> tuple[tuple[UUID, int], ...]:
    """Return memories about a path, closest first: 0 it, 1 one that ends alike, 2 its folder.

    In a unit.
    """
    (found,) = about_files(
        files=(path,), closeness=closeness, question=question, limit=limit, sight=sight
    )
    return found


def about_files(
    *, files: tuple[str, ...], closeness: int, question: Question, limit: int, sight: Sight
) -> tuple[tuple[tuple[UUID, int], ...], ...]:
    """Return for each file, in their order, what `about_file` does, in one statement. In a unit."""
    called = "TRUE" if closeness >= OF_ITS_FOLDER else sql_queries.text("called", file=FILE)
    rows = _rows(
        "about_files",
        question,
        sight,
        parts={"called": called},
        paths=list(files),
        closeness=closeness,
        limit=limit,
    )
    found: dict[int, list[tuple[UUID, int]]] = {place: [] for place in range(1, len(files) + 1)}
    for place, memory_id, close in rows:
        found[place].append((memory_id, close))
    return tuple(tuple(of_one) for of_one in found.values())


def of_thing(*, thing: Thing, question: Question, limit: int, sight: Sight) -> tuple[UUID, ...]:
    """Return the memories that name a thing, the most important first. In a unit."""
    types, keys = entities.columns(names=thing.names)
    rows = _rows("of_thing", question, sight, named_types=types, named_keys=keys, limit=limit)
    return tuple(row[0] for row in rows)


def of_modules(
    *, modules: tuple[str, ...], question: Question, limit: int, sight: Sight
) -> tuple[UUID, ...]:
    """Return the memories of some modules, the most important first. In a unit."""
    rows = _rows("of_modules", question, sight, named_modules=list(modules), limit=limit)
    return tuple(row[0] for row in rows)


def standing(*, question: Question, limit: int, sight: Sight) -> tuple[UUID, ...]:
    """Return what stands whatever the task, the firmest first, then the latest reflection. In a
    unit."""
    rows = _rows("standing", question, sight, limit=limit)
    return tuple(dict.fromkeys(row[0] for row in rows))


def timeline(
    *,
    question: Question,
    start: datetime | None,
    end: datetime | None,
    after: tuple[datetime, UUID] | None,
    limit: int,
    sight: Sight,
) -> tuple[tuple[UUID, datetime], ...]:
    """Return memories with when they happened, oldest first, behind a place. In a unit."""
    after_at, after_id = after or (None, None)
    rows = _rows(
        "timeline",
        question,
        sight,
        start=start,
        end=end,
        after_at=after_at,
        after_id=after_id,
        limit=limit,
    )
    return tuple((row[0], row[1]) for row in rows)


def _rows(
    name: str, question: Question, sight: Sight, *, parts: Mapping[str, str] = NOTHING, **more: Any
) -> list[tuple[Any, ...]]:
    globs = [text_globs.like(glob=file) for file in question.files if text_globs.is_glob(text=file)]
    codes = question.type_codes
    return sql_queries.filled(
        name,
        file=FILE,
        parts={**_parts(name), **parts},
        projects=None if question.projects is None else list(question.projects),
        codes=None if codes is None else list(codes),
        types=None if codes is None else [_TYPES[code] for code in codes],
        moment=question.moment,
        since=question.since,
        until=question.until,
        is_narrowed=bool(question.tags or question.author or question.files)
        or question.topics is not None,
        topics=None if question.topics is None else list(question.topics),
        tags=list(question.tags),
        authors=[question.author] if question.author else [],
        in_files=bool(question.files),
        files=[file for file in question.files if not text_globs.is_glob(text=file)],
        globs=globs,
        **more,
        **parameters(sight=sight),
    )


def _parts(name: str) -> dict[str, str]:
    """Return the pieces of a query; visibility stands in each of them for the row it reads."""
    chosen = sql_queries.text("chosen", file=FILE)
    if name in _OF_VECTORS:
        return {"chosen": chosen, "visible": visibility.as_sql(alias="v")}
    visible = visibility.as_sql(alias="m")
    narrowed = sql_queries.text("narrowed", file=FILE)
    return {"narrowed": narrowed.replace("{visible}", visible).replace("{chosen}", chosen)}


def _plain(text: str) -> str:
    """Return a text for LIKE in which nothing stands for anything else."""
    return "".join(text_globs.LITERAL.get(sign, sign) for sign in text)


def _said(error: DataError) -> str:
    cause = error.__cause__
    if not isinstance(cause, postgres.InvalidRegularExpression):
        raise error
    return str(cause.diag.message_primary).removeprefix("invalid regular expression: ")
