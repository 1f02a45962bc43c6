"""Ways to ask without words over REST: what is alike, about a file, in time."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply, path_id
from accounts.caller import TokenScope
from memory.api import examples, inputs, output
from memory.search.lookups import Closeness, Moment, Recall, Similar, recall, similar, timeline


def alike(ask: Ask) -> Answer:
    """Return what is like a memory."""
    found = similar(
        caller=ask.caller,
        memory_id=path_id(ask=ask),
        narrowing=inputs.narrowing(given=ask.query),
        now=ask.now,
    )
    return Answer(body=_similar(found))


def about(ask: Ask) -> Answer:
    """Return what is known about a file."""
    found = recall(
        caller=ask.caller,
        path=ask.query["path"],
        closeness=Closeness(ask.query["closeness"]),
        narrowing=inputs.narrowing(given=ask.query),
        now=ask.now,
    )
    return Answer(body=_recalled(found))


def story(ask: Ask) -> Answer:
    """Return a page of what happened, oldest first."""
    given = {name: value for name, value in ask.query.items() if name != "limit"}
    told = timeline(
        caller=ask.caller,
        narrowing=inputs.narrowing(given=given),
        after=_moment(ask.cursor),
        limit=ask.query["limit"],
        now=ask.now,
    )
    items = [
        {"memory": output.together(one.memory, told.sides.get(one.memory.id, ())), "at": one.at}
        for one in told.items
    ]
    last = told.next_moment
    written = None if last is None else f"{last.at.isoformat()}|{last.memory_id}"
    return Answer(body={"items": items}, next_cursor=written)


def _similar(found: Similar) -> dict[str, Any]:
    """Return what is like a memory."""
    return {
        "items": [
            {
                "memory": output.together(one.memory, found.sides.get(one.memory.id, ())),
                "similarity": one.similarity,
            }
            for one in found.items
        ],
        "degraded": found.degraded,
        "took_ms": found.took_ms,
    }


def _recalled(found: Recall) -> dict[str, Any]:
    """Return what is known about a file."""
    return {
        "items": [
            {
                "memory": output.together(one.memory, found.sides.get(one.memory.id, ())),
                "closeness": one.closeness,
            }
            for one in found.items
        ],
        "took_ms": found.took_ms,
    }


def _moment(inner: str | None) -> Moment | None:
    if inner is None:
        return None
    at, _, last = inner.partition("|")
    return Moment(at=datetime.fromisoformat(at), memory_id=UUID(last))


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="memories/{id}/similar",
        name="list_similar",
        tag="search",
        summary="Find what is like a memory",
        says="Nearest by meaning; by words, and `degraded` says so, while it has no vector.",
        scope=TokenScope.READ,
        run=alike,
        query=(*inputs.NARROWING, inputs.LIMIT),
        replies=(
            Reply(status=200, says="Most alike first.", schema="Similar", example=examples.SIMILAR),
        ),
    ),
    Endpoint(
        method="GET",
        path="files/memories",
        name="recall_file",
        tag="search",
        summary="Recall what is known about a file",
        says="Of the very path first, then of paths that end alike, then of its folder.",
        scope=TokenScope.READ,
        run=about,
        query=(inputs.PATH, inputs.CLOSENESS, *inputs.NARROWING, inputs.LIMIT),
        replies=(
            Reply(status=200, says="Closest first.", schema="Recall", example=examples.RECALL),
        ),
    ),
    Endpoint(
        method="GET",
        path="timeline",
        name="timeline",
        tag="search",
        summary="Tell what happened",
        says=(
            "Oldest first, by when it happened, or else by when it was learned; `since` and "
            "`until` are about that moment."
        ),
        scope=TokenScope.READ,
        run=story,
        query=inputs.STORY,
        paged=True,
        replies=(
            Reply(
                status=200,
                says="A page of what happened.",
                schema="TimelinePage",
                example=examples.TIMELINE,
            ),
        ),
    ),
)
