"""The tools that ask without a question: about a file, a name or a memory, lists, a timeline."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import AliasPath, Field

from accounts.api.schemas import Choice, Moment, Name, Result, Several
from accounts.caller import TokenScope
from memory.api.entities import ThingKind, ThingName
from memory.api.schemas.memories import Kind
from memory.api.schemas.search import PlaceFilters, narrowing
from memory.mcp.declaration import (
    Call,
    Limit,
    MemoryId,
    Noticed,
    ProjectArgument,
    ProjectList,
    ShownMemories,
    ShownMemory,
    tool,
)
from memory.records.filters import Filters
from memory.records.queries import memories
from memory.search import entity_profile, lookups
from memory.search.lookups import Closeness
from memory.taxonomy import MemoryType
from memory.text.globs import LONGEST
from memory.topics import queries as topics


class AboutFile(PlaceFilters):
    """Which file is asked about."""

    path: Name = Field(max_length=LONGEST, description="The file's path in the repository.")
    closeness: Choice[Closeness] = Field(
        Closeness.NAME,
        description="How far from it: the file, paths that end alike, or its folder.",
    )
    limit: Limit = 10


class MemoryOfFile(ShownMemory):
    """A memory about a file."""

    closeness: Closeness


class MemoriesOfFile(Noticed):
    """Memories about a file, closest first."""

    results: tuple[MemoryOfFile, ...]


@tool(title="What is known about a file", scope=TokenScope.READ, answer=MemoriesOfFile)
def about_file(call: Call, arguments: AboutFile) -> dict[str, Any]:
    """What the team knows about a file: its traps and decisions. Call it before you edit one."""
    found = lookups.recall(
        caller=call.caller,
        path=arguments.path,
        closeness=arguments.closeness,
        narrowing=narrowing(arguments, limit=arguments.limit),
        now=call.now,
    )
    results = [
        MemoryOfFile.of(one, found.sides.get(one.id, ()), closeness=closeness)
        for one, closeness in found.items
    ]
    return {"results": results}


class AboutName(PlaceFilters):
    """Which name is asked about."""

    name: ThingName = Field(description="The name, such as AuthService or @maria.")
    kind: ThingKind | None = Field(None, description="What the thing is.")
    close: bool = Field(
        False, description="Also tell other names that are most likely the same thing."
    )
    limit: Limit = 10


class KnownEntity(Result):
    """A thing that memories name."""

    kind: str
    name: str
    aliases: tuple[str, ...]
    memories: int
    read_by: Literal["patterns", "model"]


class CloseName(Result):
    """Another name that is most likely the same thing, and why."""

    name: str = Field(validation_alias=AliasPath("thing", "name"))
    memories: int = Field(validation_alias=AliasPath("thing", "memories"))
    reason: str


class EntityInfo(Noticed):
    """What is known about a thing; null where no memory names it."""

    entity: KnownEntity | None
    close: tuple[CloseName, ...]
    neighbors: tuple[str, ...]
    results: tuple[ShownMemory, ...]


@tool(title="What is known about a named thing", scope=TokenScope.READ, answer=EntityInfo)
def get_entity_info(call: Call, arguments: AboutName) -> dict[str, Any]:
    """Everything known about one person, service, tool, error code or other name.

    In any spelling. Use it when you know the name; `search` when you know the question.
    """
    kept = narrowing(arguments, limit=arguments.limit)
    found = entity_profile.about(
        caller=call.caller,
        name=arguments.name,
        type=arguments.kind,
        narrowing=kept,
        now=call.now,
    )
    thing = found.thing
    entity = None
    if thing is not None:
        entity = {
            "kind": thing.type,
            "name": thing.name,
            "aliases": thing.spellings,
            "memories": thing.memories,
            "read_by": "model" if found.is_only_read else "patterns",
        }
    close = None
    if arguments.close:
        close = entity_profile.close_names_of(
            caller=call.caller, name=arguments.name, type=arguments.kind, narrowing=kept
        )
    return {
        "entity": entity,
        "close": () if close is None else close.suggestions,
        "neighbors": [one.name for one in found.neighbors],
        "results": [ShownMemory.of(one, found.sides.get(one.id, ())) for one in found.memories],
    }


class SimilarTo(PlaceFilters, MemoryId):
    """Which memory others are compared with."""

    limit: Limit = 8


class SimilarMemory(ShownMemory):
    """A memory that is like another."""

    similarity: float


class SimilarMemories(Noticed):
    """Memories that are like another, most alike first."""

    results: tuple[SimilarMemory, ...]
    degraded: tuple[str, ...]


@tool(title="Find what is like a memory", scope=TokenScope.READ, answer=SimilarMemories)
def find_similar(call: Call, arguments: SimilarTo) -> dict[str, Any]:
    """Memories that are like one you have the id of: related cases, and doubles to merge."""
    found = lookups.similar(
        caller=call.caller,
        memory_id=arguments.id,
        narrowing=narrowing(arguments, limit=arguments.limit),
        now=call.now,
    )
    results = [
        SimilarMemory.of(one, found.sides.get(one.id, ()), similarity=similarity)
        for one, similarity in found.items
    ]
    return {"results": results, "degraded": found.degraded}


class TimelineArguments(PlaceFilters):
    """When and about what something happened."""

    since: Moment | None = Field(None, description="Happened at that moment or later.")
    until: Moment | None = Field(None, description="Happened before that moment.")
    limit: Limit = 20


class HappenedMemory(ShownMemory):
    """A memory, and when it happened."""

    at: datetime


class Timeline(Noticed):
    """What happened, oldest first; `more_since` where there is more."""

    results: tuple[HappenedMemory, ...]
    more_since: datetime | None


@tool(title="Tell what happened", scope=TokenScope.READ, answer=Timeline)
def get_timeline(call: Call, arguments: TimelineArguments) -> dict[str, Any]:
    """What happened and what was learned, oldest first. Use it to see how something came about.

    When there is more, ask again with `since` set to `more_since`.
    """
    found = lookups.timeline(
        caller=call.caller,
        narrowing=narrowing(arguments, limit=arguments.limit),
        after=None,
        limit=arguments.limit,
        now=call.now,
    )
    results = [
        HappenedMemory.of(one, found.sides.get(one.id, ()), at=at) for one, at in found.items
    ]
    last = found.next_place
    return {"results": results, "more_since": None if last is None else last[0]}


class ShownTopic(Result):
    """What memories are about."""

    id: UUID
    topic: str = Field(validation_alias="label")
    words: tuple[str, ...]
    memories: int
    project: str | None


class ShownTopics(Noticed):
    """Topics, the largest first."""

    topics: tuple[ShownTopic, ...]


@tool(title="What the memories are about", scope=TokenScope.READ, answer=ShownTopics)
def list_topics(call: Call, arguments: ProjectList) -> dict[str, Any]:
    """The topics of the team's memories, the largest first, with how many memories each has.

    Use it to see what is known at all; `search` takes a topic in `topics`.
    """
    page = topics.topics(
        caller=call.caller, project=arguments.project, after=None, limit=arguments.limit
    )
    return {"topics": page.items}


class OneMemory(Noticed):
    """A memory."""

    memory: ShownMemory


@tool(title="Read one memory", scope=TokenScope.READ, answer=OneMemory)
def get(call: Call, arguments: MemoryId) -> dict[str, Any]:
    """Read one memory in full when you have its id, for instance from a citation."""
    view, sides = memories.get_together(caller=call.caller, memory_id=arguments.id, now=call.now)
    return {"memory": ShownMemory.of(view, sides)}


class RecentArguments(ProjectArgument):
    """Which memories are listed."""

    limit: Limit = 10
    types: Several[Kind] = Field(
        (), max_length=len(MemoryType), description="Only these types of memory."
    )


@tool(title="List recent memories", scope=TokenScope.READ, answer=ShownMemories)
def list_recent(call: Call, arguments: RecentArguments) -> dict[str, Any]:
    """See what was remembered last, newest first. Use it to catch up when a session begins."""
    page = memories.page(
        caller=call.caller,
        filters=Filters(project=arguments.project, types=arguments.types),
        cursor=None,
        limit=arguments.limit,
        now=call.now,
    )
    return {"results": [ShownMemory.of(one, page.sides.get(one.id, ())) for one in page.items]}
