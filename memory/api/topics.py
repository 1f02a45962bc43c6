"""Topics over REST: what memories are about, and the memories of one."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from accounts.api.endpoints import Answer, Call, get
from accounts.api.schemas import Page, Query, Result
from memory.api.schemas.memories import Absent, Memory, ProjectPageQuery
from memory.api.schemas.search import Limit
from memory.records.queries.memories import memories_of_topic
from memory.topics import queries
from memory.topics.queries import TopicPlace


class TopicQuery(Query):
    """How much of a topic is asked for."""

    limit: Limit = 10


class Topic(Result):
    """What memories are about."""

    id: UUID
    label: str
    words: tuple[str, ...]
    memories: int
    scope: str
    project: Annotated[str | None, Absent]
    sorted_at: datetime


class TopicMemories(Result):
    """The topic and its memories."""

    topic: Topic
    items: tuple[Memory, ...]


@get("topics", tag="search", answer=Page[Topic])
def list_topics(call: Call, query: ProjectPageQuery) -> Answer:
    """List what memories are about.

    The largest first; with a project, its topics and those of no project. Names and counts are of
    the memories you may see.
    """
    page = queries.topics(
        caller=call.caller, project=query.project, after=call.after(TopicPlace), limit=query.limit
    )
    return Answer(page.items, following=page.next_place)


@get("topics/{id}", tag="search", answer=TopicMemories)
def get_topic(call: Call, query: TopicQuery) -> dict[str, Any]:
    """Look at one topic.

    With its memories, the most central first.
    """
    topic = queries.topic(caller=call.caller, topic_id=call.id)
    memories = memories_of_topic(
        caller=call.caller, topic_id=topic.id, limit=query.limit, now=call.now
    )
    return {"topic": topic, "items": memories}
