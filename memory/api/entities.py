"""Named things over REST: what memories name, and what is known about one of it."""

from collections.abc import Mapping
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply, path_id
from accounts.api.schemas import ID, NUMBER, TEXT, WHOLE, maybe, page_of, record, ref, several
from accounts.api.shapes import Field, Record, Text
from accounts.caller import Caller, TokenScope
from memory.api import examples, inputs, output
from memory.entities.close_names import Reason
from memory.entities.named_things import Thing
from memory.entities.rules import EntityType
from memory.review.actions.entity_merges import SCOPES, Pair, merge_names, scope_of, unmerge_names
from memory.search import entity_profile
from memory.search.entity_profile import TYPES, Place, Profile, close_names_of
from memory.search.request import Narrowing

KIND: Final = Field(
    name="kind", shape=Text(largest=12, choices=TYPES), says="What the thing is.", default=None
)
BEGINS: Final = Field(
    name="q", shape=Text(largest=120), says="How its name begins, in any spelling.", default=""
)
NAME: Final = Field(
    name="name",
    shape=Text(largest=120, smallest=1),
    says="The name of a thing, in any spelling.",
    required=True,
)
_KIND: Final = Text(largest=12, choices=TYPES)
SAME: Final = Record(
    name="SameNames",
    fields=(
        NAME,
        Field(
            name="same_as",
            shape=Text(largest=120, smallest=1),
            says="The other name of it, in any spelling.",
            required=True,
        ),
        Field(name="kind", shape=_KIND, says="What the first one is."),
        Field(name="same_kind", shape=_KIND, says="What the other one is."),
        Field(
            name="scope",
            shape=Text(largest=12, choices=SCOPES),
            says="For whom: the person who asks, or others, which is a steward's word in person.",
            default="personal",
        ),
        Field(
            name="project",
            shape=inputs.PROJECT.shape,
            says="The project, by name or id, where the scope is project.",
        ),
    ),
)
READ_BY: Final = {False: "patterns", True: "model"}
_BESIDE: Final[Mapping[str, Any]] = {"kind": "system", "name": "kubernetes", "memories": 3}
_THING: Final[Mapping[str, Any]] = {
    "kind": "system",
    "name": "AuthService",
    "aliases": ["AuthService", "auth-service"],
    "memories": 7,
}
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Entity": record(kind=TEXT, name=TEXT, aliases=several(TEXT), memories=WHOLE),
    "EntityPage": page_of("Entity"),
    "EntityClose": record(
        entity=maybe(ref("Entity")),
        items=several(record(entity=ref("Entity"), reason={"type": "string", "enum": [*Reason]})),
    ),
    "EntityMerged": record(merge_id=ID, entity=ref("Entity")),
    "EntityUnmerged": record(merge_id=ID),
    "EntityProfile": record(
        entity=maybe(ref("Entity")),
        summary=several(record(text=TEXT, memory_id=ID)),
        merges=several(record(id=ID, names=several(TEXT), scope=TEXT)),
        neighbors=several(record(kind=TEXT, name=TEXT, memories=WHOLE)),
        items=several(ref("Memory")),
        read_by=maybe({"type": "string", "enum": list(READ_BY.values())}),
        took_ms=NUMBER,
    ),
}


def index(ask: Ask) -> Answer:
    """Return a page of what memories name, the most often named first."""
    page = entity_profile.known(
        caller=ask.caller,
        begins=ask.query["q"],
        type=ask.query["kind"],
        narrowing=Narrowing(project=ask.query["project"]),
        after=_place(ask.cursor),
        limit=ask.query["limit"],
    )
    last = page.next_place
    written = None if last is None else f"{last.memories}|{last.type}|{last.key}"
    return Answer(body={"items": [_thing(one) for one in page.items]}, next_cursor=written)


def profile(ask: Ask) -> Answer:
    """Return what is known about a thing."""
    found = entity_profile.about(
        caller=ask.caller,
        name=ask.query["name"],
        type=ask.query["kind"],
        narrowing=inputs.narrowing(given=ask.query),
        now=ask.now,
    )
    return Answer(body=_profile(found, ask.caller))


def close(ask: Ask) -> Answer:
    """Return what is most likely the same as a thing."""
    found = close_names_of(
        caller=ask.caller,
        name=ask.query["name"],
        type=ask.query["kind"],
        narrowing=Narrowing(project=ask.query["project"]),
    )
    body = {
        "entity": None if found.thing is None else _thing(found.thing),
        "items": [{"entity": _thing(one.thing), "reason": one.reason} for one in found.suggestions],
    }
    return Answer(body=body)


def merge(ask: Ask) -> Answer:
    """Say that two names are one thing."""
    pair = Pair(
        name=ask.body["name"],
        same_as=ask.body["same_as"],
        type=ask.body["kind"],
        same_type=ask.body["same_kind"],
        scope=ask.body["scope"],
        project=ask.body["project"],
    )
    made = merge_names(caller=ask.caller, pair=pair, now=ask.now)
    return Answer(body={"merge_id": made.merge_id, "entity": _thing(made.thing)})


def unmerge(ask: Ask) -> Answer:
    """Take back that two names are one thing."""
    merge_id = path_id(ask=ask)
    unmerge_names(caller=ask.caller, merge_id=merge_id, now=ask.now)
    return Answer(body={"merge_id": merge_id})


def _profile(found: Profile, caller: Caller) -> dict[str, Any]:
    return {
        "entity": None if found.thing is None else _thing(found.thing),
        "summary": [{"text": one.text, "memory_id": one.memory.id} for one in found.quotes],
        "merges": [
            {
                "id": one.id,
                "names": [one.first[1], one.second[1]],
                "scope": scope_of(merge=one, caller=caller),
            }
            for one in found.merges
        ],
        "neighbors": [_beside(one) for one in found.neighbors],
        "items": [output.together(one, found.sides.get(one.id, ())) for one in found.memories],
        "read_by": None if found.thing is None else READ_BY[found.is_only_read],
        "took_ms": found.took_ms,
    }


def _thing(thing: Thing) -> dict[str, Any]:
    return {**_beside(thing), "aliases": thing.spellings}


def _beside(thing: Thing) -> dict[str, Any]:
    return {"kind": thing.type, "name": thing.name, "memories": thing.memories}


def _place(inner: str | None) -> Place | None:
    if inner is None:
        return None
    memories, type, key = inner.split("|", 2)
    return Place(memories=int(memories), key=key, type=EntityType(type))


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="entities",
        name="list_entities",
        tag="search",
        summary="List what memories name",
        says=(
            "People, systems and other things, the most often named first. Names, aliases and "
            "counts are those of the memories you may see."
        ),
        scope=TokenScope.READ,
        run=index,
        query=(inputs.PROJECT, BEGINS, KIND),
        paged=True,
        replies=(
            Reply(
                status=200,
                says="A page of things.",
                schema="EntityPage",
                example={"items": [_THING], "next_cursor": None},
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="entities/memories",
        name="about_entity",
        tag="search",
        summary="Tell what is known about a thing",
        says=(
            "The thing in every spelling, what is named beside it, and the memories that name it. "
            "`entity` is null where no memory that you may see names it."
        ),
        scope=TokenScope.READ,
        run=profile,
        query=(NAME, KIND, *inputs.NARROWING, inputs.LIMIT),
        replies=(
            Reply(
                status=200,
                says="The most important memories first.",
                schema="EntityProfile",
                example={
                    "entity": _THING,
                    "summary": [],
                    "merges": [],
                    "neighbors": [_BESIDE],
                    "items": [examples.MEMORY],
                    "read_by": "patterns",
                    "took_ms": 3.1,
                },
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="entities/close",
        name="close_entities",
        tag="search",
        summary="Suggest which other names are the same thing",
        says=(
            "The surest first, at most five, of names that memories you may see hold; `reason` "
            "says why. `POST entities/merges` says that two are one. It compares up to 200 names "
            "that begin alike, so ask when somebody looks, not at each step."
        ),
        scope=TokenScope.READ,
        run=close,
        query=(NAME, KIND, inputs.PROJECT),
        replies=(
            Reply(
                status=200,
                says="The thing, null where no memory that you may see names it, and the others.",
                schema="EntityClose",
                example={
                    "entity": _THING,
                    "items": [{"entity": {**_THING, "name": "AuthServce"}, "reason": "misspelled"}],
                },
            ),
        ),
    ),
    Endpoint(
        method="POST",
        path="entities/merges",
        name="merge_entities",
        tag="search",
        summary="Say that two names are one thing",
        says=(
            "Lists, profiles and searches take them for one from now on, for those whom it is "
            "said for. A name that somebody sees no memory of stays unknown to them."
        ),
        scope=TokenScope.WRITE,
        run=merge,
        body=SAME,
        example={"name": "AuthService", "same_as": "auth-svc", "scope": "organization"},
        idempotent=True,
        replies=(
            Reply(
                status=200,
                says="The thing under all of its names.",
                schema="EntityMerged",
                example={"merge_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a79", "entity": _THING},
            ),
        ),
    ),
    Endpoint(
        method="DELETE",
        path="entities/merges/{id}",
        name="unmerge_entities",
        tag="search",
        summary="Take back that two names are one thing",
        says="All is told as before.",
        scope=TokenScope.WRITE,
        run=unmerge,
        replies=(
            Reply(
                status=200,
                says="It is taken back.",
                schema="EntityUnmerged",
                example={"merge_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a79"},
            ),
        ),
    ),
)
