"""Typed callers of the queries about named things (spec 2.6)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from memory.intake.entities import EntityType
from memory.intake.names import TYPE_CODES, TYPES
from memory.models import Memory
from memory.sql import named
from teams import visibility
from teams.visibility import Sight, parameters

FILE: Final = "entities.sql"
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
    every = [(row, name) for row in rows for name in row.names]
    if not every:
        return
    named.execute(
        "write",
        file=FILE,
        ids=[row.id for row, _ in every],
        types=[TYPE_CODES[name.type] for _, name in every],
        keys=[name.key for _, name in every],
        names=[name.written for _, name in every],
        audiences=[row.audience for row, _ in every],
        projects=[row.project_id for row, _ in every],
    )


def rewrite(*, rows: tuple[Memory, ...]) -> None:
    """Store what memories name now, in the place where they are now. In a unit."""
    named.execute("forget", file=FILE, ids=[row.id for row in rows])
    write(rows=rows)


def things_of(*, memory_ids: tuple[UUID, ...], sight: Sight) -> dict[UUID, frozenset[str]]:
    """Return the keys of the people, systems and places that visible memories name. In a unit."""
    if not memory_ids:
        return {}
    rows = named.filled(
        "things",
        file=FILE,
        parts={"visible": PARTS["visible"]},
        ids=list(memory_ids),
        types=[TYPE_CODES[type] for type in ABOUT],
        **parameters(sight=sight),
    )
    return {row[0]: frozenset(row[1]) for row in rows}


def known(*, wanted: Wanted, limit: int, sight: Sight) -> tuple[Thing, ...]:
    """Return things that visible memories name, the most often named first. In a unit."""
    count, key, type = wanted.after or (None, None, None)
    rows = named.filled(
        "known",
        file=FILE,
        parts=PARTS,
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
        Thing(type=TYPES[row[0]], key=row[1], name=row[2], memories=row[3], spellings=tuple(row[4]))
        for row in rows
    )


def neighbors(
    *, thing: Thing, projects: tuple[UUID, ...] | None, limit: int, sight: Sight
) -> tuple[Thing, ...]:
    """Return what is named beside a thing, with in how many visible memories. In a unit."""
    rows = named.filled(
        "neighbors",
        file=FILE,
        parts=PARTS,
        key=thing.key,
        type=TYPE_CODES[thing.type],
        within=None if projects is None else list(projects),
        limit=limit,
        **parameters(sight=sight),
    )
    return tuple(
        Thing(type=TYPES[row[0]], key=row[1], name=row[2], memories=row[3]) for row in rows
    )
