"""Reading memories over REST: a page, one, and how one changed."""

from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply, path_id
from accounts.api.shapes import Field, Fraction, Several, Text, Truth
from accounts.caller import TokenScope
from accounts.errors import wrong_field
from memory.api import examples, inputs, output
from memory.records import filters as query_box
from memory.records.filters import Filters
from memory.records.queries import memories
from memory.records.queries.memories import Cursor

FIELDS: Final = (
    inputs.PROJECT,
    Field(name="q", shape=Text(largest=2_000), says="Filters as in the dashboard's query box."),
    Field(name="types", shape=Several(of=inputs.TYPE, largest=28), says="Only these types."),
    Field(name="status", shape=Several(of=inputs.STATUS, largest=3), says="Default: active."),
    Field(name="tags", shape=inputs.TAGS, says="With all of these tags."),
    Field(name="files", shape=inputs.FILES, says="About these paths; end with * for a folder."),
    Field(name="modules", shape=inputs.MODULES, says="About one of these modules."),
    Field(
        name="topics",
        shape=Several(of=Text(largest=200, smallest=1), largest=64),
        says="In one of these topics, by id or by words of its name.",
    ),
    Field(name="author", shape=Text(largest=120, smallest=1), says="By this tool or agent."),
    Field(name="minimum_confidence", shape=Fraction(), says="At least this sure."),
    Field(name="maximum_confidence", shape=Fraction(), says="At most this sure."),
    Field(name="pinned", shape=Truth(), says="Pinned or not."),
    Field(name="needs_review", shape=Truth(), says="Waiting for a person or not."),
    Field(name="stale", shape=Truth(), says="Stale or not."),
)
DIRECT: Final = tuple(field.name for field in FIELDS if field.name not in {"project", "q"})


def index(ask: Ask) -> Answer:
    """Return a page of memories, newest first."""
    page = memories.page(
        caller=ask.caller,
        filters=_filters(ask.query),
        cursor=_cursor(ask.cursor),
        limit=ask.query["limit"],
        now=ask.now,
    )
    return Answer(
        body={"items": [output.together(view, page.sides.get(view.id, ())) for view in page.items]},
        next_cursor=_written(page.next_cursor),
    )


def look(ask: Ask) -> Answer:
    """Return one memory with its version as ETag."""
    view, others = memories.get_together(caller=ask.caller, memory_id=path_id(ask=ask), now=ask.now)
    return Answer(body=output.together(view, others), version=view.version)


def history(ask: Ask) -> Answer:
    """Return all versions of a memory, the present one first."""
    versions = memories.history(caller=ask.caller, memory_id=path_id(ask=ask))
    return Answer(body={"items": [output.version(view) for view in versions]})


def _filters(query: Any) -> Filters:
    filters = query_box.parse(text=query["q"] or "", project=query["project"])
    if filters.text:
        detail = "A list has no order of relevance, so it takes filters and no words."
        hint = "POST /api/v1/search looks for words."
        raise wrong_field(pointer="/q", detail=detail, hint=hint, code="words")
    given = {name: query[name] for name in DIRECT if query[name] is not None}
    return replace(filters, **given)


def _written(cursor: Cursor | None) -> str | None:
    return None if cursor is None else f"{cursor.created_at.isoformat()}|{cursor.memory_id}"


def _cursor(inner: str | None) -> Cursor | None:
    if inner is None:
        return None
    moment, _, last = inner.partition("|")
    return Cursor(created_at=datetime.fromisoformat(moment), memory_id=UUID(last))


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="memories",
        name="list_memories",
        tag="memories",
        summary="List memories",
        says="Newest first. Lists in the query are separated by commas.",
        scope=TokenScope.READ,
        run=index,
        query=FIELDS,
        paged=True,
        replies=(
            Reply(
                status=200,
                says="A page of memories.",
                schema="MemoryPage",
                example={"items": [examples.MEMORY], "next_cursor": None},
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="memories/{id}",
        name="get_memory",
        tag="memories",
        summary="Look at one memory",
        scope=TokenScope.READ,
        run=look,
        replies=(Reply(status=200, says="The memory.", schema="Memory", example=examples.MEMORY),),
    ),
    Endpoint(
        method="GET",
        path="memories/{id}/history",
        name="list_versions",
        tag="memories",
        summary="See how a memory changed",
        scope=TokenScope.READ,
        run=history,
        replies=(
            Reply(
                status=200,
                says="Its versions, the present one first.",
                schema="Versions",
                example=examples.VERSIONS,
            ),
        ),
    ),
)
