"""The tools that answer a question: memories, context for a piece of work, what was said."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import AliasPath, Field

from accounts.api.schemas import Choice, OneOf, Result, Several, is_none
from accounts.caller import TokenScope
from memory.api.schemas.search import (
    PATTERN,
    ChosenStyle,
    ContextBasics,
    LeftOutOfContext,
    Question,
    RankedFilters,
    narrowing,
    searched,
)
from memory.api.turns import HistoryWords, Said
from memory.customization.phases import Phase
from memory.mcp.declaration import Call, Limit, Noticed, ProjectArgument, ShownMemory, tool
from memory.records import filters
from memory.records.filters import STATES
from memory.search import actions, lookups
from memory.search import context as packing
from memory.search.request import Mode, SearchRequest
from memory.sessions import queries as sessions


class FoundMemory(ShownMemory):
    """A memory that a question found."""

    relevance: float
    explain: dict[str, Any] | None = Field(None, exclude_if=is_none)
    excerpt: str | None = Field(None, exclude_if=is_none)


class FoundMemories(Noticed):
    """What a question found, best first."""

    results: tuple[FoundMemory, ...]
    nothing_relevant: bool
    degraded: tuple[str, ...]


class SearchArguments(RankedFilters):
    """A question."""

    query: Question
    states: Several[Annotated[str, OneOf(STATES)]] = Field(
        (),
        max_length=len(STATES),
        description="Also what is not live: archived, superseded, stale, any; or only pinned.",
    )
    limit: Limit = 8
    mode: Annotated[str, OneOf((*Mode, PATTERN))] = Field(
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
    if arguments.mode == PATTERN:
        filters.check_live(names=arguments.states)
        matches = lookups.match(
            caller=call.caller,
            pattern=arguments.query,
            narrowing=narrowing(arguments, limit=arguments.limit),
            now=call.now,
        )
        found = [
            FoundMemory.of(one, matches.sides.get(one.id, ()), relevance=1.0, excerpt=excerpt)
            for one, excerpt in matches.items
        ]
        return {"results": found, "nothing_relevant": not found, "degraded": ()}
    states = filters.named_states(names=arguments.states)
    request = SearchRequest(**{**searched(arguments), "states": states})
    answer = actions.search(caller=call.caller, request=request, now=call.now)
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


class PackedContext(Result):
    """The text and what it is made of."""

    text: str
    style: ChosenStyle | None
    memories: tuple[CitedMemory, ...] = Field(validation_alias="told")
    left_out: tuple[LeftOutOfContext, ...]
    tokens: int
    budget_tokens: int
    hint: str
    nothing_relevant: bool
    degraded: tuple[str, ...]


@tool(title="Get context for the work ahead", scope=TokenScope.READ, answer=PackedContext)
def context(call: Call, arguments: ContextBasics) -> packing.Context:
    """What the team knows that bears on the work ahead, as one text within a token budget.

    Grouped by file, with citations. Call it once when you start a task, with the task in a sentence
    and the phase you are in. `nothing_relevant` says that nothing is known; a style, where the text
    begins with one, is how your answers should read.
    """
    return packing.context(caller=call.caller, request=arguments.request(), now=call.now)


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
