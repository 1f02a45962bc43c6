"""Typed callers of the queries that sort memories into topics."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import numpy as np
from pgvector import HalfVector

from memory import sql_queries
from memory.index.sql import search_rows
from memory.topics.clustering import Before, Topic, Vectors

FILE: Final = "topics/sql/topics.sql"
HEAD: Final = 4  # bytes before the numbers of a half vector as Postgres sends it


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicScope:
    """Where memories are that the same people may see, and how many are live there."""

    audience: UUID
    project_id: UUID | None
    memories: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectRow:
    """A memory as it is read for sorting; `unit` is empty when it has no vector."""

    memory_id: UUID
    version: int
    content: str
    tags: tuple[str, ...]
    files: tuple[str, ...]
    names: tuple[str, ...]
    unit: Vectors


def places() -> tuple[TopicScope, ...]:
    """Return the places that have memories or topics. In a unit."""
    rows = sql_queries.rows("places", file=FILE)
    return tuple(TopicScope(audience=row[0], project_id=row[1], memories=row[2]) for row in rows)


def subjects(*, place: TopicScope, model_id: int, most: int) -> tuple[SubjectRow, ...]:
    """Return what the newest memories of a place are sorted by, by id. In a unit."""
    found = sql_queries.rows("subjects", file=FILE, model=model_id, most=most, **_of(place))
    return tuple(
        SubjectRow(
            memory_id=row[0],
            version=row[1],
            content=row[2],
            tags=tuple(row[3]),
            files=tuple(row[4]),
            names=tuple(row[5] or ()),
            unit=_received(row[6]),
        )
        for row in found
    )


def links(*, place: TopicScope) -> tuple[tuple[UUID, UUID, float], ...]:
    """Return the links between live memories of a place with how sure they are. In a unit."""
    rows = sql_queries.rows("links", file=FILE, **_of(place))
    return tuple((row[0], row[1], float(row[2])) for row in rows)


def before(*, place: TopicScope) -> tuple[Before, ...]:
    """Return the topics of a place as they are. In a unit."""
    rows = sql_queries.rows("before", file=FILE, **_of(place))
    return tuple(
        Before(id=row[0], words=tuple(row[1]), members=frozenset(row[2] or ())) for row in rows
    )


def write(
    *,
    place: TopicScope,
    topics: Sequence[tuple[UUID, Topic]],
    versions: Mapping[UUID, int],
    model_id: int,
    now: datetime,
) -> None:
    """Store the topics of a place in the stead of those before. In a unit.

    `versions`: of all memories that were sorted. One that has changed since is in no topic until it
    joins one by itself; one that came since and had joined one joins anew.
    """
    stated = [json.dumps(topic.words) for _, topic in topics]
    centers = [
        None if topic.center is None else HalfVector(topic.center).to_text() for _, topic in topics
    ]
    members = [(id, member) for id, topic in topics for member in topic.members]
    ids = [member.memory_id for _, member in members]
    sql_queries.rows("hold", file=FILE)  # writers of memories wait from here on
    sql_queries.execute(
        "write_topics",
        file=FILE,
        ids=[id for id, _ in topics],
        words=stated,
        centers=centers,
        reaches=[topic.reach for _, topic in topics],
        model=model_id,
        now=now,
        **_of(place),
    )
    dropped = sql_queries.rows("drop_members", file=FILE, memories=ids, **_of(place))
    sql_queries.execute(
        "write_members",
        file=FILE,
        memories=ids,
        versions=[versions[id] for id in ids],
        topics=[id for id, _ in members],
        holds=[member.holds for _, member in members],
        closenesses=[member.closeness for _, member in members],
        **_of(place),
    )
    sql_queries.execute("drop_topics", file=FILE, ids=[id for id, _ in topics], **_of(place))
    search_rows.follow_topics(memory_ids=tuple(row[0] for row in dropped if row[0] not in versions))


def left_out(*, place: TopicScope, after: UUID, limit: int) -> tuple[UUID, ...]:
    """Return live memories of a place that are in no topic, by id, after one. In a unit."""
    rows = sql_queries.rows("left_out", file=FILE, after=after, limit=limit, **_of(place))
    return tuple(row[0] for row in rows)


def _of(place: TopicScope) -> dict[str, UUID | None]:
    return {"audience": place.audience, "project": place.project_id}


def _received(sent: bytes | memoryview | None) -> Vectors:
    if sent is None:
        return np.zeros(0, dtype=np.float32)
    return np.frombuffer(bytes(sent)[HEAD:], dtype=">f2").astype(np.float32)
