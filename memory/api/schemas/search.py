"""What is looked for in memories, and what is found."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import AliasPath, BaseModel, BeforeValidator, Field

from accounts.api import schemas
from accounts.caller import Caller
from memory.api.schemas.memories import Contradicting, Kind, Memory, Slug
from memory.customization.phases import Phase
from memory.customization.style import Fit
from memory.records import filters
from memory.search import context, presentation
from memory.search.lookups import Closeness
from memory.search.refinement import Rerank
from memory.search.request import (
    LARGEST_FILTER,
    LARGEST_LIMIT,
    LONGEST_QUERY,
    PROFILES,
    Mode,
    Narrowing,
    SearchRequest,
)
from memory.sessions.actions import binding
from memory.taxonomy import MemoryType

PATTERN: Final = "pattern"
MOST_IN_ADDRESS: Final = 32  # values of one filter: a server reads addresses of up to 64 kB
USUAL_LIMIT: Final = 10
MOST_TOPICS: Final = 64  # as in lists and over MCP
PROJECTS: Final = "Only these projects, by slug or id."
TAGS: Final = "With all of these tags."
FILES: Final = "About one of these: paths, ends of paths, or globs."
NOT_SEARCHED: Final = frozenset({"phase", "modules"})  # of a context, where they mean another thing
Words = schemas.Several[Annotated[schemas.Name, Field(max_length=400)]]
Topics = Annotated[
    schemas.Several[Annotated[schemas.Name, Field(max_length=200)]],
    Field(
        max_length=MOST_TOPICS, description="In one of these topics, by id or by words of its name."
    ),
]
Types = Annotated[
    schemas.Several[Kind], Field(max_length=len(MemoryType), description="Only these types.")
]
Limit = Annotated[int, Field(ge=1, le=LARGEST_LIMIT, description="How many at most.")]
Question = Annotated[
    schemas.Name, Field(max_length=LONGEST_QUERY, description="What to look for, in words.")
]


OptionalQuestion = Annotated[
    str, Field(max_length=LONGEST_QUERY, description="What to look for, in words, where it is.")
]


class CommonFilters(schemas.Sent):
    """What memories are narrowed to, in an address and in a body alike."""

    project: Slug | None = Field(None, description="A project's slug or id.", examples=["shop"])
    types: Types = ()
    topics: Topics = ()
    author: schemas.Name | None = Field(
        None, max_length=120, description="A person's id, an agent or a tool."
    )


class Times(schemas.Sent):
    """When something was learned."""

    since: schemas.Moment | None = Field(None, description="Learned at that moment or later.")
    until: schemas.Moment | None = Field(None, description="Learned before that moment.")
    as_of: schemas.Moment | None = Field(None, description="What was known at that moment.")


def _several(most: int, description: str) -> Any:
    return Field((), max_length=most, description=description)


class AddressFilters(CommonFilters, schemas.Query):
    """What a list of memories is narrowed to, in an address."""

    projects: schemas.Several[Slug] = _several(MOST_IN_ADDRESS, PROJECTS)
    tags: schemas.Several[Slug] = _several(MOST_IN_ADDRESS, TAGS)
    files: Words = _several(MOST_IN_ADDRESS, FILES)


class SimilarQuery(AddressFilters):
    """What may be like a memory."""

    limit: Limit = USUAL_LIMIT


class RecallQuery(AddressFilters):
    """Which file is asked about."""

    path: schemas.Name = Field(max_length=400, description="The path of a file.")
    closeness: schemas.Choice[Closeness] = Field(
        Closeness.NAME,
        description="How far from the file: it, paths that end alike, or its folder.",
    )
    limit: Limit = USUAL_LIMIT


class TimelineQuery(Times, AddressFilters, schemas.PageQuery):
    """When and about what something happened."""


class PlaceFilters(CommonFilters, schemas.Body):
    """What memories are narrowed to, times apart; also for tools."""

    projects: schemas.Several[Slug] = _several(LARGEST_FILTER, PROJECTS)
    tags: schemas.Several[Slug] = _several(LARGEST_FILTER, TAGS)
    files: Words = _several(LARGEST_FILTER, FILES)


class Filters(Times, PlaceFilters):
    """What a search is narrowed to."""


Everywhere = Annotated[
    bool,
    Field(
        description="Also what your running session wrote, and what applies elsewhere in the work."
    ),
]


class RankedFilters(Filters):
    """What a search is narrowed to, and how it ranks."""

    everywhere: Everywhere = False

    profile: Annotated[str, schemas.OneOf(PROFILES)] | None = Field(
        None, description="How to rank."
    )
    rerank: schemas.Choice[Rerank] = Field(
        Rerank.USUAL,
        description=(
            "Whether a second model puts the best results in order; usual: turns of conversations."
        ),
    )
    threshold: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Least relevance: of the best result of a search, of each in a pack; 0: any.",
    )


class Search(RankedFilters):
    """A search."""

    query: Question = Field(examples=["stale prices in tests"])
    states: schemas.Several[Annotated[str, schemas.OneOf(filters.STATES)]] = Field(
        (),
        max_length=len(filters.STATES),
        description=("Memories in these states; else those that are live. `any` is every one."),
    )
    limit: Limit = Field(USUAL_LIMIT, examples=[5])
    mode: Annotated[str, schemas.OneOf((*Mode, PATTERN))] = Field(
        Mode.HYBRID.value,
        description=(
            "How to look: by meaning and words, by words alone, or by a regular expression."
        ),
    )
    phase: schemas.Choice[Phase] | None = Field(None, description="Raises the phase's types.")
    hyde: bool = Field(False, description="Whether a model may write what is missing.")
    asked_at: schemas.Moment | None = Field(
        None, description="What yesterday or last Tuesday is relative to; now when left out."
    )
    explain: bool = Field(False, description="Whether each result says why it stands there.")
    organize: bool = Field(
        False,
        description=(
            "Whether results stand in their story's order, each with what it is linked with."
        ),
    )

    def request(self) -> SearchRequest:
        """Return the value of it."""
        return SearchRequest(
            **{**searched(self), "states": filters.named_states(names=self.states)}
        )


class ContextBasics(RankedFilters):
    """What a context is packed for; also for tools."""

    query: Question = Field(examples=["clear the price cache in the cart tests"])
    phase: schemas.Name | None = Field(
        None,
        max_length=40,
        description="The phase of work, or its own name.",
        examples=["implement"],
    )
    methodology: schemas.Name | None = Field(
        None, max_length=40, description="Whose names of phases are used."
    )
    budget_tokens: int | None = Field(
        None,
        ge=1,
        le=context.LARGEST_BUDGET,
        description="Tokens the text may take; the phase's own when left out.",
        examples=[1500],
    )
    topic: schemas.Name | None = Field(
        None,
        max_length=LONGEST_QUERY,
        description="What the session is about, for the style of answers; else the query says it.",
    )
    style: bool = Field(True, description="Whether the style that fits begins the text.")

    def request(self) -> context.ContextRequest:
        """Return the value of it."""
        return context.ContextRequest(
            search=self.wanted(),
            phase=self.phase,
            methodology=self.methodology,
            budget_tokens=self.budget_tokens,
            topic=self.topic,
            style=self.style,
        )

    def placed(self, caller: Caller) -> context.ContextRequest:
        """Return the value of it, with where its caller works."""
        request = self.request()
        search = binding.in_work(
            caller=caller, asked=request.search, near=self.near, everywhere=self.everywhere
        )
        return replace(request, search=search)

    @property
    def near(self) -> tuple[str, ...]:
        """The files and modules that it names beside the query."""
        return ()

    def wanted(self) -> SearchRequest:
        """Return the search behind it."""
        given = searched(self)
        return SearchRequest(**{name: given[name] for name in given if name not in NOT_SEARCHED})


def narrowing(given: BaseModel, *, limit: int = USUAL_LIMIT) -> Narrowing:
    """Return the value of filters that were sent."""
    names = Narrowing.__dataclass_fields__.keys() - {"limit"}
    sent = {name: value for name, value in given if name in names and value is not None}
    return Narrowing(**sent, limit=limit)


def searched(given: BaseModel) -> dict[str, Any]:
    """Return what a search takes of what was sent."""
    return {name: value for name, value in given if name in SearchRequest.__dataclass_fields__}


class Boost(schemas.Result):
    """What files shared with the best results added to a score."""

    shared_files: int
    value: float


class Reranked(schemas.Result):
    """What the second model thought of a result."""

    rank_before: int
    score: float


class Relevance(schemas.Result):
    """How relevant a result is, and why."""

    value: float
    threshold: float
    calibration: str
    signs: dict[str, Any]
    parts: dict[str, Any]


class Explanation(schemas.Result):
    """Why a result stands where it stands, as `memory.search.presentation` makes it."""

    score: float
    parts: dict[str, Any]
    multipliers: dict[str, Any]
    fusion: float
    paths: dict[str, Any]
    boost: Boost | None
    rerank: Reranked | None
    relevance: Relevance


class LinkedMemory(schemas.Result):
    """A memory that a result is linked with."""

    id: UUID = Field(validation_alias="other_id")
    type: str
    citation: str
    kind: str
    outgoing: bool


class SearchResult(schemas.Result):
    """A memory that was found; some fields are there only where they were asked for."""

    memory: Memory
    relevance: float
    explain: Explanation | None = Field(None, exclude_if=schemas.is_none)
    excerpt: str | None = Field(None, exclude_if=schemas.is_none)
    neighbors: tuple[LinkedMemory, ...] | None = Field(None, exclude_if=schemas.is_none)
    see_also: tuple[LinkedMemory, ...] | None = Field(None, exclude_if=schemas.is_none)
    contradictions: tuple[Contradicting, ...] | None = Field(None, exclude_if=schemas.is_none)


class NearestTopic(schemas.Result):
    """The topic that a question is nearest to."""

    id: UUID = Field(validation_alias=AliasPath("topic", "id"))
    label: str = Field(validation_alias=AliasPath("topic", "label"))
    closeness: float


@schemas.fields_of(presentation.Funnel)
class Funnel(schemas.Result):
    """How many memories each step of a search kept."""

    paths: dict[str, Any]


class SearchResults(schemas.Result):
    """The results, best first."""

    results: tuple[SearchResult, ...]
    nothing_relevant: bool
    degraded: tuple[str, ...]
    took_ms: float
    profile: str
    order: presentation.Order | None = Field(None, exclude_if=schemas.is_none)
    hint: str | None = Field(None, exclude_if=schemas.is_none)
    made_up: str | None = Field(None, exclude_if=schemas.is_none)
    topic: NearestTopic | None = Field(None, exclude_if=schemas.is_none)
    funnel: Funnel | None = Field(None, exclude_if=schemas.is_none)


class SimilarMemory(schemas.Result):
    """A memory that is like another."""

    memory: Memory
    similarity: float


class SimilarMemories(schemas.Result):
    """Most alike first."""

    items: tuple[SimilarMemory, ...]
    degraded: tuple[str, ...]
    took_ms: float


class RecalledMemory(schemas.Result):
    """A memory about a file."""

    memory: Memory
    closeness: Closeness


class Recalled(schemas.Result):
    """Closest first."""

    items: tuple[RecalledMemory, ...]
    took_ms: float


class Happened(schemas.Result):
    """A memory, and when it happened."""

    memory: Memory
    at: datetime


class ChosenStyle(schemas.Result):
    """The style that a context begins with, or only names where it would take too much."""

    name: str = Field(validation_alias=AliasPath("composed", "style", "name"))
    reason: Fit = Field(validation_alias=AliasPath("composed", "fit"))
    topic: str = Field(validation_alias=AliasPath("composed", "topic"))
    told: Annotated[bool, BeforeValidator(bool)] = Field(validation_alias="text")


class StyleOfContext(ChosenStyle):
    """The style of a context, with its id."""

    id: UUID = Field(validation_alias=AliasPath("composed", "style", "id"))


class MemoryOfContext(schemas.Result):
    """A memory of a context."""

    memory: Memory
    id: UUID = Field(validation_alias=AliasPath("memory", "id"))
    relevance: float | None
    contradicts: tuple[UUID, ...]


class LeftOutOfContext(schemas.Result):
    """A memory that was found and is not in a context."""

    id: UUID = Field(validation_alias=AliasPath("memory", "id"))
    type: str = Field(validation_alias=AliasPath("memory", "type"))
    citation: str = Field(validation_alias=AliasPath("memory", "citation"))
    reason: context.Reason
    stands_for_it: UUID | None


@schemas.fields_of(context.Context, hidden={"told"})
class Context(schemas.Result):
    """The text and what it is made of."""

    memories: tuple[MemoryOfContext, ...] = Field(validation_alias="told")
    left_out: tuple[LeftOutOfContext, ...]
    style: StyleOfContext | None
