"""Read topics: which there are, one, and those that a filter names.

A topic is of one audience and project, so who may see it may see all of its memories; the others
are not told that it exists. It is called by its first words of those that at least two of its live
memories have.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import numpy as np
import orjson
from pgvector import HalfVector

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import NotFound
from accounts.identifiers import as_uuid
from accounts.pages import Page, page_of
from graph.algorithms import Edge
from memory import sql_queries
from memory.index import queries as index_queries
from memory.taxonomy import Scope
from memory.text.text import check_text
from memory.topics.clustering import LEAST_HOLDERS, Before, Subject, Topic, Vectors, words_of
from teams import queries as teams_queries
from teams import visibility

FILE: Final = "topics/sql/topics.sql"
IN_LABEL: Final = 3  # words of a topic that it is called by
APART: Final = " · "  # between them
MOST_CALLED: Final = 200  # topics that a filter may name


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicView:
    """A topic as a caller sees it; `project` is the slug, empty when it is of none."""

    id: UUID
    label: str
    words: tuple[str, ...]
    memories: int
    scope: Scope
    project: str
    sorted_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NearTopic:
    """The topic that a question is nearest to, and its cosine with the center."""

    topic: TopicView
    closeness: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPlace:
    """A place in the order of topics: behind this one."""

    memories: int
    topic_id: UUID


def topics(
    *, caller: Caller, project: str | None, after: TopicPlace | None, limit: int
) -> Page[TopicView, TopicPlace]:
    """Return topics of a project and of none, or all, the largest first.

    Raises NotFound for a project the caller cannot see.
    """
    with tenancy.unit():
        within = [teams_queries.find_project(caller=caller, ref=project).id] if project else None
        found = _list_topics(caller, within=within, after=after, limit=limit + 1)
    return page_of(
        found=found,
        limit=limit,
        place=lambda last: TopicPlace(memories=last.memories, topic_id=last.id),
    )


def topic(*, caller: Caller, topic_id: UUID) -> TopicView:
    """Return one topic. Raises NotFound, also for one the caller may not see."""
    with tenancy.unit():
        found = _list_topics(caller, ids=[topic_id], limit=1)
    if not found:
        raise NotFound(
            detail="There is no such topic.",
            hint="Its memories may have been sorted anew, or belong to a scope you cannot see.",
        )
    return found[0]


def near_topic(*, caller: Caller, told: str | None) -> NearTopic | None:
    """Read the topic that a question is nearest to, as the function `nearest_topic` tells it."""
    if told is None:
        return None
    (id, audience, project_id, *more, sorted_at), closeness = orjson.loads(told)
    ids = (id and UUID(id) for id in (id, audience, project_id))
    topic = _view(caller, (*ids, *more, datetime.fromisoformat(sorted_at)))
    return NearTopic(topic=topic, closeness=round(closeness, 4))


def named_by(*, caller: Caller, refs: tuple[str, ...]) -> tuple[UUID, ...]:
    """Return the topics that are meant by ids or by words they are called by. In a unit.

    A topic is meant by words when all of them are told of it; nothing that is not there is.
    """
    ids, wanted = _read_refs(refs)
    sight = visibility.sight_of(caller=caller)
    rows = sql_queries.filled(
        "called",
        file=FILE,
        parts=_visible("t"),
        ids=list(ids),
        words=json.dumps([sorted(words) for words in wanted]),
        limit=MOST_CALLED,
        **visibility.parameters(sight=sight),
    )
    found = _list_topics(caller, ids=[row[0] for row in rows], limit=MOST_CALLED)
    called = {one.id: {word.lower() for word in one.words} for one in found}
    return tuple(
        id for id, words in called.items() if id in ids or any(asked <= words for asked in wanted)
    )


def _read_refs(refs: tuple[str, ...]) -> tuple[set[UUID], set[frozenset[str]]]:
    """Return the ids among what topics are called by, and the words of each that is none."""
    ids: set[UUID] = set()
    wanted: set[frozenset[str]] = set()
    for ref in refs:
        if check_text(text=ref):
            continue
        if (id := as_uuid(text=ref)) is not None:
            ids.add(id)
        elif words := frozenset(ref.replace("·", " ").lower().split()):
            wanted.add(words)
    return ids, wanted


def _visible(alias: str) -> dict[str, str]:
    return {"visible": visibility.as_sql(alias=alias)}


def _list_topics(
    caller: Caller,
    *,
    within: list[UUID] | None = None,
    ids: list[UUID] | None = None,
    after: TopicPlace | None = None,
    limit: int,
) -> tuple[TopicView, ...]:
    sight = visibility.sight_of(caller=caller)
    rows = sql_queries.filled(
        "told",
        file=FILE,
        parts=_visible("t"),
        within=within,
        ids=ids,
        holders=LEAST_HOLDERS,
        after_count=None if after is None else after.memories,
        after_id=None if after is None else after.topic_id,
        limit=limit,
        **visibility.parameters(sight=sight),
    )
    return tuple(_view(caller, row) for row in rows)


def _view(caller: Caller, row: tuple[Any, ...]) -> TopicView:
    """Make a view of a row of `told`; only words that enough memories have are told."""
    id, audience, project_id, slug, words, memories, held, sorted_at = row
    counted = zip(words, held, strict=False)
    kept = tuple(word for word, holders in counted if holders >= LEAST_HOLDERS)
    scopes = {
        project_id: Scope.PROJECT,
        caller.user_id: Scope.PERSONAL,
        caller.organization_id: Scope.ORGANIZATION,
    }
    return TopicView(
        id=id,
        label=APART.join(kept[:IN_LABEL]),
        words=kept,
        memories=memories,
        scope=scopes.get(audience, Scope.TEAM),
        project=slug or "",
        sorted_at=sorted_at,
    )


TAG: Final = 0.5  # of a shared tag beside a shared file or name; default, not measured
HEAD: Final = 4  # bytes before the numbers of a half vector as Postgres sends it


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicScope:
    """Where memories are that the same people may see, and how many are live there."""

    audience: UUID
    project_id: UUID | None
    memories: int = 0


def places() -> tuple[TopicScope, ...]:
    """Return the places that have memories or topics. In a unit."""
    rows = sql_queries.rows("places", file=FILE)
    return tuple(TopicScope(audience=row[0], project_id=row[1], memories=row[2]) for row in rows)


def subject_rows(*, place: TopicScope, model_id: int, most: int) -> list[tuple[Any, ...]]:
    """Return id, version, text, tags, files, names and vector of the newest memories of a place.

    By id. In a unit.
    """
    return sql_queries.rows("subjects", file=FILE, model=model_id, most=most, **_of(place))


def subjects_of(*, rows: Sequence[tuple[Any, ...]]) -> tuple[tuple[Subject, ...], Vectors]:
    """Return such rows as they are sorted, and unit vectors; zeros for what has none."""
    subjects = tuple(
        Subject(
            memory_id=id,
            words=words_of(text=content),
            marks={
                **{f"tag {tag}": TAG for tag in tags},
                **{f"file {file}": 1.0 for file in files},
                **{f"name {name}": 1.0 for name in names or ()},
            },
        )
        for id, _, content, tags, files, names, _ in rows
    )
    sent = [np.frombuffer(bytes(row[-1] or b"")[HEAD:], dtype=">f2") for row in rows]
    vectors = np.zeros((len(rows), max([1, *map(len, sent)])), dtype=np.float32)
    for number, unit in enumerate(sent):
        length = float(np.linalg.norm(unit.astype(np.float32)))
        if length:
            vectors[number] = unit.astype(np.float32) / length
    return subjects, vectors


def links(*, place: TopicScope, memory_ids: Iterable[UUID]) -> tuple[Edge, ...]:
    """Return the links between some memories of a place, by their positions, with how sure they
    are. In a unit."""
    position = {id: number for number, id in enumerate(memory_ids)}
    return tuple(
        (position[source], position[target], float(confidence))
        for source, target, confidence in sql_queries.rows("links", file=FILE, **_of(place))
        if source in position and target in position
    )


def before(*, place: TopicScope) -> tuple[Before, ...]:
    """Return the topics of a place as they are. In a unit."""
    rows = sql_queries.rows("before", file=FILE, **_of(place))
    return tuple(
        Before(id=id, words=tuple(words), members=frozenset(members or ()))
        for id, words, members in rows
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
    ids = [id for id, _ in topics]
    centers = [
        None if topic.center is None else HalfVector(topic.center).to_text() for _, topic in topics
    ]
    sql_queries.rows("hold", file=FILE)  # writers of memories wait from here on
    sql_queries.execute(
        "write_topics",
        file=FILE,
        ids=ids,
        words=[json.dumps(topic.words) for _, topic in topics],
        centers=centers,
        reaches=[topic.reach for _, topic in topics],
        model=model_id,
        now=now,
        **_of(place),
    )
    dropped = _write_members(place, topics, versions)
    sql_queries.execute("drop_topics", file=FILE, ids=ids, **_of(place))
    index_queries.follow_topics(
        memory_ids=tuple(row[0] for row in dropped if row[0] not in versions)
    )


def _write_members(
    place: TopicScope, topics: Sequence[tuple[UUID, Topic]], versions: Mapping[UUID, int]
) -> list[tuple[Any, ...]]:
    """Put memories into their topics; return rows of those that are in none any more."""
    members = [(id, member) for id, topic in topics for member in topic.members]
    ids = [member.memory_id for _, member in members]
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
    return dropped


def left_out(*, place: TopicScope, after: UUID, limit: int) -> tuple[UUID, ...]:
    """Return live memories of a place that are in no topic, by id, after one. In a unit."""
    rows = sql_queries.rows("left_out", file=FILE, after=after, limit=limit, **_of(place))
    return tuple(row[0] for row in rows)


def _of(place: TopicScope) -> dict[str, UUID | None]:
    return {"audience": place.audience, "project": place.project_id}
