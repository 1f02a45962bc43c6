"""Topics over REST: what memories are about, and the memories of one."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply, path_id
from accounts.api.schemas import ID, MOMENT, TEXT, WHOLE, maybe, page_of, record, ref, several
from accounts.caller import TokenScope
from memory.api import examples, inputs, output
from memory.records.queries.memories import memories_of_topic
from memory.topics import queries as topics_queries
from memory.topics.queries import TopicPlace, TopicView

_TOPIC: Final[Mapping[str, Any]] = {
    "id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a79",
    "label": "cart · merge · coupon",
    "words": ["cart", "merge", "coupon", "checkout"],
    "memories": 12,
    "scope": "project",
    "project": "shop",
    "sorted_at": "2026-11-20T00:00:00Z",
}
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Topic": record(
        id=ID,
        label=TEXT,
        words=several(TEXT),
        memories=WHOLE,
        scope=TEXT,
        project=maybe(TEXT),
        sorted_at=MOMENT,
    ),
    "TopicPage": page_of("Topic"),
    "TopicMemories": record(topic=ref("Topic"), items=several(ref("Memory"))),
}


def index(ask: Ask) -> Answer:
    """Return a page of topics, the largest first."""
    page = topics_queries.topics(
        caller=ask.caller,
        project=ask.query["project"],
        after=_place(ask.cursor),
        limit=ask.query["limit"],
    )
    last = page.next_place
    written = None if last is None else f"{last.memories}|{last.topic_id}"
    return Answer(body={"items": [shown(one) for one in page.items]}, next_cursor=written)


def look(ask: Ask) -> Answer:
    """Return a topic with its most central memories."""
    found = topics_queries.topic(caller=ask.caller, topic_id=path_id(ask=ask))
    memories = memories_of_topic(
        caller=ask.caller, topic_id=found.id, limit=ask.query["limit"], now=ask.now
    )
    items = [output.memory(one) for one in memories]
    return Answer(body={"topic": shown(found), "items": items})


def shown(topic: TopicView) -> dict[str, Any]:
    """Return a topic as callers see it."""
    return {
        "id": topic.id,
        "label": topic.label,
        "words": topic.words,
        "memories": topic.memories,
        "scope": topic.scope,
        "project": topic.project or None,
        "sorted_at": topic.sorted_at,
    }


def _place(inner: str | None) -> TopicPlace | None:
    if inner is None:
        return None
    memories, _, last = inner.partition("|")
    return TopicPlace(memories=int(memories), topic_id=UUID(last))


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="topics",
        name="list_topics",
        tag="search",
        summary="List what memories are about",
        says=(
            "The largest first; with a project, its topics and those of no project. Names and "
            "counts are of the memories you may see."
        ),
        scope=TokenScope.READ,
        run=index,
        query=(inputs.PROJECT,),
        paged=True,
        replies=(
            Reply(
                status=200,
                says="A page of topics.",
                schema="TopicPage",
                example={"items": [_TOPIC], "next_cursor": None},
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="topics/{id}",
        name="get_topic",
        tag="search",
        summary="Look at one topic",
        says="With its memories, the most central first.",
        scope=TokenScope.READ,
        run=look,
        query=(inputs.LIMIT,),
        replies=(
            Reply(
                status=200,
                says="The topic and its memories.",
                schema="TopicMemories",
                example={"topic": _TOPIC, "items": [examples.MEMORY]},
            ),
        ),
    ),
)
