"""The tools that read: by a question, or about a file, a name, a memory, a time."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AliasPath, BeforeValidator, Field

from accounts.api.schemas import Choice, Moment, Name, OneOf, Result, Several, fields_of, is_none
from accounts.caller import TokenScope
from memory.api.schemas import search as shapes
from memory.api.sessions import HistoryWords, Said
from memory.api.topics import ThingKind, ThingName
from memory.customization.phases import Phase
from memory.mcp.declaration import (
    Call,
    Limit,
    MemoryId,
    Noticed,
    ProjectArgument,
    ProjectList,
    Results,
    ShownMemory,
    shown_by,
    tool,
)
from memory.records import filters
from memory.records.queries import memories
from memory.search import actions, entity_profile, lookups
from memory.search import context as packing
from memory.search.request import Mode, SearchRequest
from memory.sessions import queries as sessions
from memory.sessions.actions import binding
from memory.text.globs import LONGEST
from memory.topics import queries as topics


class FoundMemory(ShownMemory):
    """A memory that a question found."""

    relevance: float
    explain: dict[str, Any] | None = Field(None, exclude_if=is_none)
    excerpt: str | None = Field(None, exclude_if=is_none)


class FoundMemories(Results[FoundMemory]):
    """What a question found, best first."""

    nothing_relevant: bool
    degraded: tuple[str, ...]


class SearchArguments(shapes.RankedFilters):
    """A question."""

    query: shapes.Question
    states: Several[Annotated[str, OneOf(filters.STATES)]] = Field(
        (),
        max_length=len(filters.STATES),
        description="Also what is not live: archived, superseded, stale, any; or only pinned.",
    )
    limit: Limit = 5
    mode: Annotated[str, OneOf((*Mode, shapes.PATTERN))] = Field(
        Mode.HYBRID.value,
        description="hybrid; keyword: by words alone; pattern: query is a regular expression.",
    )
    phase: Choice[Phase] | None = Field(None, description="Of the work.")
    explain: bool = Field(False, description="Say why each stands there.")


@tool(title="Search team memory", scope=TokenScope.READ, answer=FoundMemories)
def search(call: Call, arguments: SearchArguments) -> dict[str, Any]:
    """Look up what the team already knows: decisions, gotchas, fixes, conventions.

    Use it before you start on an unfamiliar part, when an error looks familiar, and before you
    decide something. Ask in plain words. It says so when nothing is relevant.
    """
    if arguments.mode == shapes.PATTERN:
        filters.check_live(names=arguments.states)
        chosen = shapes.narrowing(arguments, limit=arguments.limit)
        matches = lookups.match(
            caller=call.caller,
            pattern=arguments.query,
            narrowing=binding.in_work(
                caller=call.caller, asked=chosen, everywhere=arguments.everywhere
            ),
            now=call.now,
        )
        found = shown_by(FoundMemory, matches, "excerpt", relevance=1.0)
        return {"results": found, "nothing_relevant": not found, "degraded": ()}
    states = filters.named_states(names=arguments.states)
    request = SearchRequest(**{**shapes.searched(arguments), "states": states})
    placed = binding.in_work(caller=call.caller, asked=request, everywhere=arguments.everywhere)
    answer = actions.search(caller=call.caller, request=placed, now=call.now)
    results = [
        FoundMemory.of(
            hit.memory,
            hit.contradictions,
            relevance=hit.relevance,
            explain=dict(hit.explain) if arguments.explain else None,
        )
        for hit in answer.hits
    ]
    return {
        "results": results,
        "nothing_relevant": answer.nothing_relevant,
        "degraded": answer.degraded,
    }


class CitedMemory(Result):
    """Where a memory of the text can be looked up; the text holds what it says."""

    id: UUID = Field(validation_alias=AliasPath("memory", "id"))
    type: str = Field(validation_alias=AliasPath("memory", "type"))
    citation: str = Field(validation_alias=AliasPath("memory", "citation"))
    relevance: float | None
    contradicts: tuple[UUID, ...]


@fields_of(packing.Context, hidden={"told", "phase", "order", "took_ms", "profile"})
class PackedContext(Result):
    """The text and what it is made of."""

    style: shapes.ChosenStyle | None
    memories: tuple[CitedMemory, ...] = Field(validation_alias="told")
    left_out: tuple[shapes.LeftOutOfContext, ...]


@tool(title="Get context for the work ahead", scope=TokenScope.READ, answer=PackedContext)
def context(call: Call, arguments: shapes.ContextBasics) -> packing.Context:
    """What the team knows that bears on the work ahead, as one text within a token budget.

    Grouped by file, with citations. Call it once when you start a task, with the task in a sentence
    and the phase you are in. `nothing_relevant` says that nothing is known; a style, where the text
    begins with one, is how your answers should read.
    """
    return packing.context(caller=call.caller, request=arguments.placed(call.caller), now=call.now)


class HistoryArguments(HistoryWords, ProjectArgument):
    """Which words are searched in what was said."""

    limit: Limit = 10


class SaidPieces(Noticed):
    """Pieces of turns, the newest first."""

    said: tuple[Said, ...]
    has_more: bool


@tool(
    title="Search what was said in sessions, word for word",
    scope=TokenScope.READ,
    answer=SaidPieces,
)
def search_history(call: Call, arguments: HistoryArguments) -> dict[str, Any]:
    """Finds turns of your own sessions and of shared ones that hold the words, the newest first.

    Use it to look up how something was said; use `search` for what is known.
    """
    page = sessions.search_history(
        caller=call.caller,
        asked=arguments.question(project=arguments.project),
        after=None,
        limit=arguments.limit,
    )
    return {"said": page.items, "has_more": page.next_place is not None}


class AboutFile(shapes.PlaceFilters):
    """Which file is asked about."""

    path: Name = Field(max_length=LONGEST, description="The file's path in the repository.")
    closeness: Choice[lookups.Closeness] = Field(
        lookups.Closeness.NAME,
        description="How far from it: the file, paths that end alike, or its folder.",
    )
    limit: Limit = 10


class MemoryOfFile(ShownMemory):
    """A memory about a file."""

    closeness: lookups.Closeness


@tool(title="What is known about a file", scope=TokenScope.READ, answer=Results[MemoryOfFile])
def about_file(call: Call, arguments: AboutFile) -> dict[str, Any]:
    """What the team knows about a file: its traps and decisions. Call it before you edit one."""
    found = lookups.recall(
        caller=call.caller,
        path=arguments.path,
        closeness=arguments.closeness,
        narrowing=shapes.narrowing(arguments, limit=arguments.limit),
        now=call.now,
    )
    return {"results": shown_by(MemoryOfFile, found, "closeness")}


class AboutName(shapes.PlaceFilters):
    """Which name is asked about."""

    name: ThingName = Field(description="The name, such as AuthService or @maria.")
    kind: ThingKind | None = Field(None, description="What the thing is.")
    close: bool = Field(
        False, description="Also tell other names that are most likely the same thing."
    )
    limit: Limit = 10


class KnownEntity(Result):
    """A thing that memories name."""

    kind: str = Field(validation_alias=AliasPath("thing", "type"))
    name: str = Field(validation_alias=AliasPath("thing", "name"))
    aliases: tuple[str, ...] = Field(validation_alias=AliasPath("thing", "spellings"))
    memories: int = Field(validation_alias=AliasPath("thing", "memories"))
    read_by: Annotated[
        Literal["patterns", "model"],
        BeforeValidator(lambda is_only_read: "model" if is_only_read else "patterns"),
    ] = Field(validation_alias="is_only_read")


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
    named: dict[str, Any] = {
        "caller": call.caller,
        "name": arguments.name,
        "type": arguments.kind,
        "narrowing": shapes.narrowing(arguments, limit=arguments.limit),
    }
    found = entity_profile.about(**named, now=call.now)
    return {
        "entity": found if found.thing else None,
        "close": entity_profile.close_names_of(**named).suggestions if arguments.close else (),
        "neighbors": [one.name for one in found.neighbors],
        "results": [ShownMemory.of(one, found.sides.get(one.id, ())) for one in found.memories],
    }


class SimilarTo(shapes.PlaceFilters, MemoryId):
    """Which memory others are compared with."""

    limit: Limit = 8


class SimilarMemory(ShownMemory):
    """A memory that is like another."""

    similarity: float


class SimilarMemories(Results[SimilarMemory]):
    """Memories that are like another, most alike first."""

    degraded: tuple[str, ...]


@tool(title="Find what is like a memory", scope=TokenScope.READ, answer=SimilarMemories)
def find_similar(call: Call, arguments: SimilarTo) -> dict[str, Any]:
    """Memories that are like one you have the id of: related cases, and doubles to merge."""
    found = lookups.similar(
        caller=call.caller,
        memory_id=arguments.id,
        narrowing=shapes.narrowing(arguments, limit=arguments.limit),
        now=call.now,
    )
    return {"results": shown_by(SimilarMemory, found, "similarity"), "degraded": found.degraded}


class TimelineArguments(shapes.PlaceFilters):
    """When and about what something happened."""

    since: Moment | None = Field(None, description="Happened at that moment or later.")
    until: Moment | None = Field(None, description="Happened before that moment.")
    limit: Limit = 20


class HappenedMemory(ShownMemory):
    """A memory, and when it happened."""

    at: datetime


class Timeline(Results[HappenedMemory]):
    """What happened, oldest first; `more_since` where there is more."""

    more_since: datetime | None


@tool(title="Tell what happened", scope=TokenScope.READ, answer=Timeline)
def get_timeline(call: Call, arguments: TimelineArguments) -> dict[str, Any]:
    """What happened and what was learned, oldest first. Use it to see how something came about.

    When there is more, ask again with `since` set to `more_since`.
    """
    found = lookups.timeline(
        caller=call.caller,
        narrowing=shapes.narrowing(arguments, limit=arguments.limit),
        after=None,
        limit=arguments.limit,
        now=call.now,
    )
    last = found.next_place
    more_since = None if last is None else last[0]
    return {"results": shown_by(HappenedMemory, found, "at"), "more_since": more_since}


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
    types: shapes.Types = ()


@tool(title="List recent memories", scope=TokenScope.READ, answer=Results[ShownMemory])
def list_recent(call: Call, arguments: RecentArguments) -> dict[str, Any]:
    """See what was remembered last, newest first. Use it to catch up when a session begins."""
    page = memories.page(
        caller=call.caller,
        filters=filters.Filters(project=arguments.project, types=arguments.types),
        cursor=None,
        limit=arguments.limit,
        now=call.now,
    )
    return {"results": [ShownMemory.of(one, page.sides.get(one.id, ())) for one in page.items]}
