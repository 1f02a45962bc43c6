"""Typed callers of the queries about named things, and names that are said to be one as groups.

What is said is a list of pairs; a group is what they connect. Nothing is lost by joining, because a
pair that is taken back leaves the groups that the others make.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, Final, Protocol
from uuid import UUID

from django.db.models import Count

from accounts import tenancy
from memory import sql_queries
from memory.entities.close_names import Known, Name
from memory.entities.models import Mention
from memory.entities.names import TYPE_CODES, TYPES
from memory.entities.names import Name as ReadName
from memory.entities.rules import EntityType
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


def groups(*, pairs: Iterable[tuple[Name, Name]]) -> dict[Name, int]:
    """Return the number of the group of each name in a pair; numbers follow the pairs' order."""
    found: dict[Name, int] = {}
    for first, second in pairs:
        numbers = {found[name] for name in (first, second) if name in found}
        number = min(numbers, default=len(found))
        joined = [name for name, old in found.items() if old in numbers]
        found |= dict.fromkeys((*joined, first, second), number)
    return found


def merged_names(*, names: Iterable[Name], numbers: dict[Name, int]) -> frozenset[Name]:
    """Return all names of the groups that some names are in, and those that are in none."""
    asked = frozenset(names)
    wanted = {numbers[name] for name in asked if name in numbers}
    return asked | {name for name, number in numbers.items() if number in wanted}


class NamingMemory(Protocol):
    """A memory as the names in it are stored: whose it is, of which project, what it names."""

    id: UUID
    audience: UUID
    project_id: UUID | None
    names: tuple[ReadName, ...]


@dataclass(slots=True, kw_only=True)
class ReadMemory:
    """A memory whose names are read again: its text, and what was found in it."""

    id: UUID
    content: str
    audience: UUID
    project_id: UUID | None
    names: tuple[ReadName, ...] = ()


def write(*, rows: Iterable[NamingMemory], read_by: int = 0) -> None:
    """Store what memories name, found by the patterns or by a reader of the night. In a unit."""
    Mention.objects.bulk_create(
        [
            Mention(
                memory_id=row.id,
                type_code=TYPE_CODES[name.type],
                key=name.key,
                name=name.written,
                audience=row.audience,
                project_id=row.project_id,
                read_by=read_by,
            )
            for row in rows
            for name in row.names
        ],
        ignore_conflicts=read_by > 0,  # with what the patterns found
    )


def rewrite(*, rows: tuple[NamingMemory, ...], read_by: int = 0) -> None:
    """Store what memories name now, in the place where they are now. In a unit.

    With a reader of the night, in place of what one found before.
    """
    found = Mention.objects.filter(memory__in=[row.id for row in rows])
    (found.filter(read_by__gt=0) if read_by else found).delete()
    write(rows=rows, read_by=read_by)


def move(*, row: NamingMemory) -> None:
    """Take along what a memory of the same text names to its place of now. In a unit."""
    found = Mention.objects.filter(memory=row.id)
    found.update(audience=row.audience, project_id=row.project_id)


def count_unread(*, version: int) -> tuple[int, int]:
    """Count the memories that an older version of the patterns has read, and all. In a unit."""
    ((unread, total),) = sql_queries.rows("count_unread", file=FILE, version=version)
    return unread, total


def count_unenriched(*, number: int, limit: int) -> int:
    """Count the active memories that a reader has not read, up to a limit. In a unit."""
    ((count,),) = sql_queries.rows("count_unenriched", file=FILE, number=number, limit=limit)
    return int(count)


def lock_memories(name: str, **parameters: Any) -> tuple[ReadMemory, ...]:
    """Lock memories by a query, but those that somebody holds. In a unit."""
    rows = sql_queries.rows(name, file=FILE, **parameters)
    return tuple(
        ReadMemory(id=id, content=content, audience=audience, project_id=project_id)
        for id, content, audience, project_id in rows
    )


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


def counts_of(*, memory_ids: tuple[UUID, ...]) -> dict[UUID, int]:
    """Count the things that the patterns found in memories, where any. In a unit."""
    found = Mention.objects.filter(memory__in=memory_ids, read_by=0).values_list("memory")
    return dict(found.annotate(names=Count("key")).order_by())


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
    rows = sql_queries.rows("merges", file=FILE, audiences=list(sight.audiences))
    names = ("id", "first", "second", "audience", "made_by", "made_at")
    pairs = ((id, (a, b), (c, d), *rest) for id, a, b, c, d, *rest in rows)
    return tuple(Merge(**dict(zip(names, row, strict=True))) for row in pairs)


def columns(*, names: Iterable[Name]) -> tuple[list[int], list[str]]:
    """Return names as two columns of a query, in an order."""
    every = sorted(names)
    return [code for code, _ in every], [key for _, key in every]


def find_things(
    *,
    limit: int,
    sight: Sight,
    projects: Collection[UUID] | None = None,
    type: EntityType | None = None,
    keys: tuple[str, ...] | None = None,
    begins: tuple[str, ...] | None = None,
    after: tuple[int, str, EntityType] | None = None,
) -> tuple[Thing, ...]:
    """Return things that visible memories name, the most often named first. In a unit.

    None lets everything through. `begins` are patterns of LIKE; `after`: those behind this one.
    """
    after_count, after_key, after_type = after or (None, None, None)
    numbers = _groups_of(sight)
    asked = near = None
    if keys is not None:
        asked = list(keys)
        near = [*keys, *_keys_together(keys, numbers)]
    rows = sql_queries.filled(
        "known_together" if numbers else "known",
        file=FILE,
        parts=PARTS,
        same_types=[code for code, _ in numbers],
        same_keys=[name for _, name in numbers],
        same_groups=list(numbers.values()),
        near=near,
        within=None if projects is None else list(projects),
        type=type and TYPE_CODES[type],
        keys=asked,
        begins=None if begins is None else list(begins),
        after_count=after_count,
        after_key=after_key,
        after_type=after_type and TYPE_CODES[after_type],
        limit=limit,
        **parameters(sight=sight),
    )
    return _read_things(rows)


def _read_things(rows: list[tuple[Any, ...]]) -> tuple[Thing, ...]:
    """Read the rows of things, with their members where names are said to be one."""
    return tuple(
        Thing(
            type=TYPES[code],
            key=key,
            name=name,
            memories=memories,
            spellings=tuple(spellings),
            members=tuple(
                (int(code), key) for code, _, key in (one.partition(" ") for one in chain(*members))
            ),
        )
        for code, key, name, memories, spellings, *members in rows
    )


def _keys_together(keys: tuple[str, ...], numbers: dict[Name, int]) -> list[str]:
    """Return the keys of all names that may belong to what is asked for by keys, in order."""
    own = [name for name in numbers if name[1] in keys]
    return [key for _, key in sorted(merged_names(names=own, numbers=numbers))]


def _groups_of(sight: Sight) -> dict[Name, int]:
    return groups(pairs=((one.first, one.second) for one in merges(sight=sight)))


def neighbors(
    *, thing: Thing, projects: Collection[UUID] | None, limit: int, sight: Sight
) -> tuple[Thing, ...]:
    """Return what is named beside a thing, with in how many visible memories. In a unit."""
    types, keys = columns(names=thing.names)
    rows = sql_queries.filled(
        "neighbors",
        file=FILE,
        parts=PARTS,
        types=types,
        keys=keys,
        within=None if projects is None else list(projects),
        limit=limit,
        **parameters(sight=sight),
    )
    return tuple(
        Thing(type=TYPES[row[0]], key=row[1], name=row[2], memories=row[3]) for row in rows
    )
