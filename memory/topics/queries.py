"""Read topics: which there are, one, and those that a filter names.

A topic is of one audience and project, so who may see it may see all of its memories; the others
are not told that it exists. It is called by its first words of those that at least two of its live
memories have.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import NotFound
from accounts.identifiers import as_uuid
from memory import sql_queries
from memory.index.sql.search_rows import prefix_text
from memory.providers.contracts import Vectors
from memory.taxonomy import Scope
from memory.text.text import check_text
from memory.topics.clustering import LEAST_HOLDERS
from teams import queries as places
from teams import visibility
from teams.visibility import parameters

FILE: Final = "topics/sql/topics.sql"
IN_LABEL: Final = 3  # words of a topic that it is called by
APART: Final = " · "  # between them
MOST_CALLED: Final = 200  # topics that a filter may name
NEAR: Final = 5  # of which the first one that is told counts


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPage:
    """A page of topics, the largest first, and where the next page begins."""

    items: tuple[TopicView, ...]
    next_place: TopicPlace | None


def topics(
    *, caller: Caller, project: str | None, after: TopicPlace | None, limit: int
) -> TopicPage:
    """Return topics of a project and of none, or all, the largest first.

    Raises NotFound for a project the caller cannot see.
    """
    with tenancy.unit():
        within = [places.find_project(caller=caller, ref=project).id] if project else None
        found = _list_topics(caller, within=within, after=after, limit=limit + 1)
    told = found[:limit]
    if len(found) == len(told):
        return TopicPage(items=told, next_place=None)
    last = told[-1]
    return TopicPage(items=told, next_place=TopicPlace(memories=last.memories, topic_id=last.id))


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


def nearest(
    *, caller: Caller, model: str, vector: Vectors, projects: tuple[UUID, ...] | None
) -> NearTopic | None:
    """Return the topic that a question's vector is nearest to, None where none reaches so far.

    In a unit.
    """
    sight = visibility.sight_of(caller=caller)
    within = None if projects is None else list(projects)
    rows = sql_queries.filled(
        "nearest_topic",
        file=FILE,
        parts=_visible("t"),
        query=prefix_text(vector=vector),
        model=model,
        within=within,
        limit=NEAR,
        **parameters(sight=sight),
    )
    if not rows:
        return None
    told = {one.id: one for one in _list_topics(caller, ids=[row[0] for row in rows], limit=NEAR)}
    near = ((told[id], cosine) for id, cosine in rows if id in told)
    return next((NearTopic(topic=one, closeness=round(cosine, 4)) for one, cosine in near), None)


def named_by(*, caller: Caller, refs: tuple[str, ...]) -> tuple[UUID, ...]:
    """Return the topics that are meant by ids or by words they are called by. In a unit.

    A topic is meant by words when all of them are told of it; nothing that is not there is.
    """
    readable = tuple(ref for ref in refs if not check_text(text=ref))
    ids = {id for ref in readable if (id := as_uuid(text=ref)) is not None}
    wanted = {frozenset(_words(ref)) for ref in readable if as_uuid(text=ref) is None}
    sight = visibility.sight_of(caller=caller)
    rows = sql_queries.filled(
        "called",
        file=FILE,
        parts=_visible("t"),
        ids=list(ids),
        words=json.dumps([sorted(words) for words in wanted if words]),
        limit=MOST_CALLED,
        **parameters(sight=sight),
    )
    found = _list_topics(caller, ids=[row[0] for row in rows], limit=MOST_CALLED)
    called = {one.id: {word.lower() for word in one.words} for one in found}
    return tuple(
        id
        for id, words in called.items()
        if id in ids or any(asked and asked <= words for asked in wanted)
    )


def _visible(alias: str) -> dict[str, str]:
    return {"visible": visibility.as_sql(alias=alias)}


def _words(ref: str) -> tuple[str, ...]:
    return tuple(ref.replace("·", " ").lower().split())


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
        **parameters(sight=sight),
    )
    scopes = {caller.user_id: Scope.PERSONAL, caller.organization_id: Scope.ORGANIZATION}
    found = []
    for id, audience, project_id, slug, words, memories, held, sorted_at in rows:
        counted = zip(words, held, strict=False)
        kept = tuple(word for word, holders in counted if holders >= LEAST_HOLDERS)
        of_project = {project_id: Scope.PROJECT, **scopes}
        found.append(
            TopicView(
                id=id,
                label=APART.join(kept[:IN_LABEL]),
                words=kept,
                memories=memories,
                scope=of_project.get(audience, Scope.TEAM),
                project=slug or "",
                sorted_at=sorted_at,
            )
        )
    return tuple(found)
