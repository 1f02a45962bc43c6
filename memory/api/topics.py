"""What memories are about, over REST: topics, and the things that memories name."""

from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import AliasPath, Field

from accounts.api.endpoints import Answer, Call, delete, get, post
from accounts.api.schemas import Body, Name, OneOf, Page, Query, Result, fields_of
from memory.api.schemas.memories import (
    Absent,
    Memory,
    ProjectPageQuery,
    ProjectQuery,
    Slug,
    with_sides,
)
from memory.api.schemas.search import AddressFilters, Limit, narrowing
from memory.entities.close_names import Reason
from memory.entities.rules import EntityType
from memory.records.queries.memories import memories_of_topic
from memory.review.actions import entity_merges
from memory.search import entity_profile
from memory.search.request import Narrowing
from memory.topics import queries


class TopicQuery(Query):
    """How much of a topic is asked for."""

    limit: Limit = 10


@fields_of(queries.TopicView)
class Topic(Result):
    """What memories are about."""

    scope: str
    project: Annotated[str | None, Absent]


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
        caller=call.caller,
        project=query.project,
        after=call.after(queries.TopicPlace),
        limit=query.limit,
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


READ_BY: Final = {False: "patterns", True: "model"}
ThingKind = Annotated[str, OneOf(entity_profile.TYPES)]
ThingName = Annotated[Name, Field(max_length=120)]


class EntityListQuery(ProjectPageQuery):
    """Which things to list."""

    q: str = Field("", max_length=120, description="How its name begins, in any spelling.")
    kind: ThingKind | None = Field(None, description="What the thing is.")


class EntityQuery(Query):
    """Which thing is asked about."""

    name: ThingName = Field(description="The name of a thing, in any spelling.")
    kind: ThingKind | None = Field(None, description="What the thing is.")


class EntityMemoryQuery(EntityQuery, AddressFilters):
    """Which memories of a thing are asked for."""

    limit: Limit = 10


class CloseEntityQuery(EntityQuery, ProjectQuery):
    """Of which thing other names are asked for."""


class SameNames(Body):
    """Two names of one thing."""

    name: ThingName = Field(
        description="The name of a thing, in any spelling.", examples=["AuthService"]
    )
    same_as: ThingName = Field(
        description="The other name of it, in any spelling.", examples=["auth-svc"]
    )
    kind: ThingKind | None = Field(None, description="What the first one is.")
    same_kind: ThingKind | None = Field(None, description="What the other one is.")
    scope: Annotated[str, OneOf(entity_merges.SCOPES)] = Field(
        "personal",
        description=(
            "For whom: the person who asks, or others, which is a steward's word in person."
        ),
        examples=["organization"],
    )
    project: Slug | None = Field(
        None, description="The project, by name or id, where the scope is project."
    )


class EntityBeside(Result):
    """A thing that is named beside another."""

    kind: str = Field(validation_alias="type")
    name: str
    memories: int


class Entity(EntityBeside):
    """A thing in every spelling."""

    aliases: tuple[str, ...] = Field(validation_alias="spellings")


class CloseEntity(Result):
    """A thing that may be the same, and why."""

    entity: Entity = Field(validation_alias="thing")
    reason: Reason


class CloseEntities(Result):
    """The thing, null where no memory that you may see names it, and the others."""

    entity: Entity | None = Field(validation_alias="thing")
    items: tuple[CloseEntity, ...] = Field(validation_alias="suggestions")


class MergedEntity(Result):
    """The thing under all of its names."""

    merge_id: UUID
    entity: Entity = Field(validation_alias="thing")


class UnmergedEntity(Result):
    """It is taken back."""

    merge_id: UUID


class EntityQuote(Result):
    """What a memory says of a thing."""

    text: str
    memory_id: UUID = Field(validation_alias=AliasPath("memory", "id"))


class EntityMerge(Result):
    """Two names that were said to be one thing."""

    id: UUID
    names: tuple[str, ...]
    scope: str


class EntityProfile(Result):
    """What is known about a thing: the most important memories first."""

    entity: Entity | None
    summary: tuple[EntityQuote, ...]
    merges: tuple[EntityMerge, ...]
    neighbors: tuple[EntityBeside, ...]
    items: tuple[Memory, ...]
    read_by: Literal["patterns", "model"] | None
    took_ms: float


@get("entities", tag="search", answer=Page[Entity])
def list_entities(call: Call, query: EntityListQuery) -> Answer:
    """List what memories name.

    People, systems and other things, the most often named first. Names, aliases and counts are
    those of the memories you may see.
    """
    items, last = entity_profile.list_things(
        caller=call.caller,
        begins=query.q,
        type=query.kind,
        narrowing=Narrowing(project=query.project),
        after=call.after(tuple[int, str, EntityType]),
        limit=query.limit,
    )
    return Answer(items, following=last)


@get("entities/memories", tag="search", answer=EntityProfile)
def about_entity(call: Call, query: EntityMemoryQuery) -> dict[str, Any]:
    """Tell what is known about a thing.

    The thing in every spelling, what is named beside it, and the memories that name it. `entity` is
    null where no memory that you may see names it.
    """
    found = entity_profile.about(
        caller=call.caller,
        name=query.name,
        type=query.kind,
        narrowing=narrowing(query, limit=query.limit),
        now=call.now,
    )
    merges = [
        {
            "id": one.id,
            "names": (one.first[1], one.second[1]),
            "scope": entity_merges.scope_of(merge=one, caller=call.caller),
        }
        for one in found.merges
    ]
    return {
        "entity": found.thing,
        "summary": found.quotes,
        "merges": merges,
        "neighbors": found.neighbors,
        "items": [with_sides(one, found.sides.get(one.id, ())) for one in found.memories],
        "read_by": None if found.thing is None else READ_BY[found.is_only_read],
        "took_ms": found.took_ms,
    }


@get("entities/close", tag="search", answer=CloseEntities)
def close_entities(call: Call, query: CloseEntityQuery) -> object:
    """Suggest which other names are the same thing.

    The surest first, at most five, of names that memories you may see hold; `reason` says why.
    `POST entities/merges` says that two are one. It compares up to 200 names that begin alike, so
    ask when somebody looks, not at each step.
    """
    return entity_profile.close_names_of(
        caller=call.caller,
        name=query.name,
        type=query.kind,
        narrowing=Narrowing(project=query.project),
    )


@post("entities/merges", tag="search", answer=MergedEntity)
def merge_entities(call: Call, body: SameNames) -> object:
    """Say that two names are one thing.

    Lists, profiles and searches take them for one from now on, for those whom it is said for. A
    name that somebody sees no memory of stays unknown to them.
    """
    pair = entity_merges.MergePair(
        name=body.name,
        same_as=body.same_as,
        type=body.kind,
        same_type=body.same_kind,
        scope=body.scope,
        project=body.project,
    )
    return entity_merges.merge_names(caller=call.caller, pair=pair, now=call.now)


@delete("entities/merges/{id}", tag="search", answer=UnmergedEntity)
def unmerge_entities(call: Call) -> dict[str, UUID]:
    """Take back that two names are one thing.

    All is told as before.
    """
    entity_merges.unmerge_names(caller=call.caller, merge_id=call.id, now=call.now)
    return {"merge_id": call.id}
