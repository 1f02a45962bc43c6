"""Typed callers of the queries about named things."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol
from uuid import UUID

from accounts import tenancy
from memory import sql_queries
from memory.entities import named_things
from memory.entities.close_names import Known
from memory.entities.named_things import Merge, Name, Thing, Wanted
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


def write(*, rows: Iterable[NamingMemory]) -> None:
    """Store what new memories name. In a unit."""
    sent = _columns_of(rows)
    if sent["ids"]:
        sql_queries.execute("write", file=FILE, **sent)


def rewrite(*, rows: tuple[NamingMemory, ...]) -> None:
    """Store what memories name now, in the place where they are now. In a unit."""
    sql_queries.execute("forget", file=FILE, ids=[row.id for row in rows])
    write(rows=rows)


def move(*, row: NamingMemory) -> None:
    """Take along what a memory of the same text names to its place of now. In a unit."""
    sql_queries.execute("move", file=FILE, id=row.id, audience=row.audience, project=row.project_id)


def count_unread(*, version: int) -> tuple[int, int]:
    """Count the memories that an older version of the patterns has read, and all. In a unit."""
    ((unread, total),) = sql_queries.rows("count_unread", file=FILE, version=version)
    return unread, total


def lock_unread(*, version: int, limit: int) -> tuple[ReadMemory, ...]:
    """Lock memories that an older version has read, but those that somebody holds. In a unit."""
    return _read_memories("lock_unread", version=version, limit=limit)


def mark_read(*, memory_ids: list[UUID], version: int, enriched_by: int) -> None:
    """Say which version of the patterns and which reader have read memories. In a unit."""
    sql_queries.execute(
        "mark_read", file=FILE, ids=memory_ids, version=version, enriched_by=enriched_by
    )


def count_unenriched(*, number: int, limit: int) -> int:
    """Count the active memories that a reader has not read, up to a limit. In a unit."""
    ((count,),) = sql_queries.rows("count_unenriched", file=FILE, number=number, limit=limit)
    return int(count)


def list_unenriched(*, number: int, limit: int) -> list[tuple[UUID, str]]:
    """Return ids and texts of active memories that a reader has not read. In a unit."""
    rows = sql_queries.rows("list_unenriched", file=FILE, number=number, limit=limit)
    return [(id, content) for id, content in rows]


def lock_unenriched(*, memory_ids: tuple[UUID, ...], number: int) -> tuple[ReadMemory, ...]:
    """Lock those of some memories that are still unread and that nobody holds. In a unit."""
    return _read_memories("lock_unenriched", ids=list(memory_ids), number=number)


def mark_enriched(*, memory_ids: list[UUID], number: int) -> None:
    """Say which reader has read memories. In a unit."""
    sql_queries.execute("mark_enriched", file=FILE, ids=memory_ids, number=number)


def _read_memories(name: str, **parameters: Any) -> tuple[ReadMemory, ...]:
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


def write_read(*, rows: tuple[NamingMemory, ...], read_by: int) -> None:
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
    rows = sql_queries.rows("merges", file=FILE, audiences=list(sight.audiences))
    return tuple(
        Merge(
            id=row[0],
            first=(row[1], row[2]),
            second=(row[3], row[4]),
            audience=row[5],
            made_by=row[6],
            made_at=row[7],
        )
        for row in rows
    )


def columns(*, names: Iterable[Name]) -> tuple[list[int], list[str]]:
    """Return names as two columns of a query, in an order."""
    every = sorted(names)
    return [code for code, _ in every], [key for _, key in every]


def find_things(*, wanted: Wanted, limit: int, sight: Sight) -> tuple[Thing, ...]:
    """Return things that visible memories name, the most often named first. In a unit."""
    count, key, type = wanted.after or (None, None, None)
    said = merges(sight=sight)
    numbers = named_things.groups(pairs=((one.first, one.second) for one in said))
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
    """Add to keys that are asked for those said to be one thing with them, by the same words.

    In a unit.
    """
    found = dict(named)
    if not found:
        return found
    numbers = named_things.groups(pairs=((one.first, one.second) for one in merges(sight=sight)))
    for key, words in named.items():
        own = [name for name in numbers if name[1] == key]
        for _, other in sorted(named_things.merged_names(names=own, numbers=numbers)):
            found.setdefault(other, words)
    return found


def _columns_of(rows: Iterable[NamingMemory]) -> dict[str, list[object]]:
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
    every = named_things.merged_names(names=asked, numbers=dict(numbers))
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
