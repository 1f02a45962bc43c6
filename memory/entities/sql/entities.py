"""Typed callers of the queries about named things."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from memory import sql_queries
from memory.entities import same_names
from memory.entities.close_names import Known
from memory.entities.names import TYPE_CODES, TYPES
from memory.entities.rules import EntityType
from memory.entities.same_names import Name
from memory.records.models import Memory
from memory.records.verdict_models import ReviewVerdict
from memory.records.verdicts import SAME
from teams import visibility
from teams.visibility import Sight, parameters

FILE: Final = "entities/sql/entities.sql"
ABOUT: Final = (  # what a memory may be about; dates, versions and addresses only stand in it
    EntityType.PERSON,
    EntityType.PROJECT,
    EntityType.ORGANIZATION,
    EntityType.LOCATION,
    EntityType.SYSTEM,
)
MOST_SPELLINGS: Final = 20  # of a thing that are told
PARTS: Final = {"visible": visibility.as_sql(alias="n"), "spellings": str(MOST_SPELLINGS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """What some visible memories name: type, key, usual spelling, how many, every spelling."""

    type: EntityType
    key: str
    name: str
    memories: int
    spellings: tuple[str, ...] = ()
    members: tuple[Name, ...] = ()

    @property
    def names(self) -> tuple[Name, ...]:
        """The names that are this thing, as type codes and keys."""
        return self.members or ((TYPE_CODES[self.type], self.key),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Somebody said that two names are one thing, for an audience that the reader is in."""

    id: UUID
    first: Name
    second: Name
    audience: UUID
    made_by: UUID
    made_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which things are asked for; None lets everything through.

    `begins` are patterns of LIKE; `after`: those behind this one, the most often named first.
    """

    projects: tuple[UUID, ...] | None = None
    type: EntityType | None = None
    keys: tuple[str, ...] | None = None
    begins: tuple[str, ...] | None = None
    after: tuple[int, str, EntityType] | None = None


def write(*, rows: Iterable[Memory]) -> None:
    """Store what new memories name. In a unit."""
    sent = _columns_of(rows)
    if sent["ids"]:
        sql_queries.execute("write", file=FILE, **sent)


def rewrite(*, rows: tuple[Memory, ...]) -> None:
    """Store what memories name now, in the place where they are now. In a unit."""
    sql_queries.execute("forget", file=FILE, ids=[row.id for row in rows])
    write(rows=rows)


def move(*, row: Memory) -> None:
    """Take along what a memory of the same text names to its place of now. In a unit."""
    sql_queries.execute("move", file=FILE, id=row.id, audience=row.audience, project=row.project_id)


def is_only_read(*, thing: Thing, sight: Sight) -> bool:
    """Say whether nothing but a reader of the night found a thing in what is visible. In a unit."""
    types, keys = columns(names=thing.names)
    (row,) = sql_queries.filled(
        "only_read",
        file=FILE,
        parts={"visible": PARTS["visible"]},
        types=types,
        keys=keys,
        **parameters(sight=sight),
    )
    return bool(row[0])


def write_read(*, rows: tuple[Memory, ...], read_by: int) -> None:
    """Store what a reader of the night found, in place of what one found before. In a unit."""
    sql_queries.execute("forget_read", file=FILE, ids=[row.id for row in rows])
    sent = _columns_of(rows)
    if sent["ids"]:
        sql_queries.execute("write_read", file=FILE, read_by=read_by, **sent)


def counts_of(*, memory_ids: tuple[UUID, ...]) -> dict[UUID, int]:
    """Return how many things the patterns found in memories, without those of none. In a unit."""
    return {row[0]: row[1] for row in sql_queries.rows("counts", file=FILE, ids=list(memory_ids))}


def things_of(*, memory_ids: tuple[UUID, ...], sight: Sight) -> dict[UUID, frozenset[str]]:
    """Return the keys of the people, systems and places that visible memories name. In a unit."""
    if not memory_ids:
        return {}
    rows = sql_queries.filled(
        "things",
        file=FILE,
        parts={"visible": PARTS["visible"]},
        ids=list(memory_ids),
        types=[TYPE_CODES[type] for type in ABOUT],
        **parameters(sight=sight),
    )
    return {row[0]: frozenset(row[1]) for row in rows}


def shared_names(*, most: int) -> dict[UUID, tuple[Known, ...]]:
    """Return the names in the memories that the organization or a whole project shares, by whom.

    Those of things that a memory may be about, the most often named first. In a unit.
    """
    rows = sql_queries.rows(
        "shared",
        file=FILE,
        everybody=tenancy.current().organization_id,
        types=[TYPE_CODES[type] for type in ABOUT],
        most=most,
    )
    found: dict[UUID, list[Known]] = defaultdict(list)
    for audience, code, key in rows:
        found[audience].append(Known(type=TYPES[code], key=key))
    return {audience: tuple(names) for audience, names in found.items()}


def merges(*, sight: Sight) -> tuple[Merge, ...]:
    """Return what is said to be one thing, for those whom the reader belongs to. In a unit."""
    rows = ReviewVerdict.objects.filter(
        verdict=SAME, undone_at__isnull=True, audience__in=sight.audiences
    )
    return tuple(
        Merge(
            id=row.id,
            first=(row.before["first"][0], row.before["first"][1]),
            second=(row.before["second"][0], row.before["second"][1]),
            audience=row.audience or row.id,
            made_by=row.decided_by,
            made_at=row.decided_at,
        )
        for row in rows.order_by("decided_at", "id")
    )


def columns(*, names: Iterable[Name]) -> tuple[list[int], list[str]]:
    """Return names as two columns of a query, in an order."""
    every = sorted(names)
    return [code for code, _ in every], [key for _, key in every]


def known(*, wanted: Wanted, limit: int, sight: Sight) -> tuple[Thing, ...]:
    """Return things that visible memories name, the most often named first. In a unit."""
    count, key, type = wanted.after or (None, None, None)
    said = merges(sight=sight)
    numbers = same_names.groups(pairs=((one.first, one.second) for one in said))
    rows = sql_queries.filled(
        "known_together" if numbers else "known",
        file=FILE,
        parts=PARTS,
        same_types=[code for code, _ in numbers],
        same_keys=[name for _, name in numbers],
        same_groups=list(numbers.values()),
        near=_near(wanted, numbers),
        within=None if wanted.projects is None else list(wanted.projects),
        type=None if wanted.type is None else TYPE_CODES[wanted.type],
        keys=None if wanted.keys is None else list(wanted.keys),
        begins=None if wanted.begins is None else list(wanted.begins),
        after_count=count,
        after_key=key,
        after_type=None if type is None else TYPE_CODES[type],
        limit=limit,
        **parameters(sight=sight),
    )
    return tuple(
        Thing(
            type=TYPES[row[0]],
            key=row[1],
            name=row[2],
            memories=row[3],
            spellings=tuple(row[4]),
            members=tuple(_member(text) for text in row[5]) if numbers else (),
        )
        for row in rows
    )


def with_same_names(*, named: Mapping[str, str], sight: Sight) -> dict[str, str]:
    """Add the keys of what is one thing with what is named, by the same words. In a unit.

    `named` are the words of each key in a question.
    """
    found = dict(named)
    if not found:
        return found
    numbers = same_names.groups(pairs=((one.first, one.second) for one in merges(sight=sight)))
    for key, words in named.items():
        own = [name for name in numbers if name[1] == key]
        for _, other in sorted(same_names.together(names=own, numbers=numbers)):
            found.setdefault(other, words)
    return found


def _columns_of(rows: Iterable[Memory]) -> dict[str, list[object]]:
    every = [(row, name) for row in rows for name in row.names]
    return {
        "ids": [row.id for row, _ in every],
        "types": [TYPE_CODES[name.type] for _, name in every],
        "keys": [name.key for _, name in every],
        "names": [name.written for _, name in every],
        "audiences": [row.audience for row, _ in every],
        "projects": [row.project_id for row, _ in every],
    }


def _near(wanted: Wanted, numbers: Mapping[Name, int]) -> list[str] | None:
    """Return all keys that may belong to what is asked for by key, None without keys."""
    if wanted.keys is None:
        return None
    asked = [name for name in numbers if name[1] in wanted.keys]
    every = same_names.together(names=asked, numbers=dict(numbers))
    return [*wanted.keys, *(key for _, key in every)]


def _member(text: str) -> Name:
    code, _, key = text.partition(" ")
    return int(code), key


def neighbors(
    *, thing: Thing, projects: tuple[UUID, ...] | None, limit: int, sight: Sight
) -> tuple[Thing, ...]:
    """Return what is named beside a thing, with in how many visible memories. In a unit."""
    rows = sql_queries.filled(
        "neighbors",
        file=FILE,
        parts=PARTS,
        types=columns(names=thing.names)[0],
        keys=columns(names=thing.names)[1],
        within=None if projects is None else list(projects),
        limit=limit,
        **parameters(sight=sight),
    )
    return tuple(
        Thing(type=TYPES[row[0]], key=row[1], name=row[2], memories=row[3]) for row in rows
    )
