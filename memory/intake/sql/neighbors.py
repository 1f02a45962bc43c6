"""Typed callers of what intake asks about the neighbors of a candidate."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from memory import sql_queries
from memory.entities.names import TYPE_CODES
from memory.entities.sql.entities import ABOUT

FILE: Final = "intake/sql/neighbors.sql"
SUBJECT_TYPES: Final = tuple(TYPE_CODES[type] for type in ABOUT)

Close = tuple[tuple[UUID, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where vectors are compared: an audience and a project, in one model."""

    model_id: int
    audience: UUID
    project_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Center:
    """The nearest center of a topic: its cosine, and whether the topic reaches so far."""

    topic_id: UUID
    cosine: float
    reaches: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRow:
    """A memory as integration reads it; `subjects` are its topic, names, files and tags.

    `is_doubtful`: it waits for a person, is tainted or stale.
    """

    id: UUID
    content: str
    type: str
    authority: int
    governance: int
    tags: tuple[str, ...]
    pinned: bool
    audience: UUID
    valid_from: datetime
    subjects: frozenset[str]
    version: int
    is_doubtful: bool


def newest(*, spot: Spot, query: str, window: int, least: float) -> Close:
    """Return the close ones among the newest entries, the closest first. In a unit."""
    rows = sql_queries.rows(
        "newest", file=FILE, query=query, window=window, least=least, **_of(spot)
    )
    return tuple((row[0], float(row[1])) for row in rows)


def nearest_of_many(
    *, memory_ids: tuple[UUID, ...], limit: int, least: float
) -> dict[UUID, dict[UUID, float]]:
    """Return by memory the nearest ones of its place and its counterpart. In a unit."""
    rows = sql_queries.rows(
        "nearest_of_many", file=FILE, ids=list(memory_ids), limit=limit, least=least
    )
    found: dict[UUID, dict[UUID, float]] = {}
    for memory_id, other, cosine in rows:
        found.setdefault(memory_id, {})[other] = cosine
    return found


def center(*, spot: Spot, query: str) -> Center | None:
    """Return the nearest center of the place, None where it has no topics. In a unit."""
    rows = sql_queries.rows("center", file=FILE, query=query, **_of(spot))
    return Center(topic_id=rows[0][0], cosine=rows[0][1], reaches=rows[0][2]) if rows else None


def known(*, memory_ids: tuple[UUID, ...]) -> tuple[KnownRow, ...]:
    """Return what integration asks of active memories, by id. In a unit."""
    if not memory_ids:
        return ()
    rows = sql_queries.rows("known", file=FILE, ids=list(memory_ids), types=list(SUBJECT_TYPES))
    return tuple(
        KnownRow(
            id=row[0],
            content=row[1],
            type=row[2],
            authority=row[3],
            governance=row[4],
            tags=tuple(row[5]),
            pinned=row[6],
            audience=row[7],
            valid_from=row[8],
            subjects=subjects(
                topic_id=row[10],
                names=tuple(row[11] or ()),
                files=tuple(row[9]),
                tags=tuple(row[5]),
            ),
            version=row[12],
            is_doubtful=row[13],
        )
        for row in rows
    )


def subjects(
    *,
    topic_id: UUID | None,
    names: tuple[str, ...],
    files: tuple[str, ...],
    tags: tuple[str, ...],
) -> frozenset[str]:
    """Return what a memory is about, as marks that others may share."""
    topic = () if topic_id is None else (f"topic {topic_id}",)
    return frozenset(
        (
            *topic,
            *(f"name {name}" for name in names),
            *(f"file {file}" for file in files),
            *(f"tag {tag.lower()}" for tag in tags),
        )
    )


def _of(spot: Spot) -> dict[str, int | UUID | None]:
    return {"model": spot.model_id, "audience": spot.audience, "project": spot.project_id}
