"""Tell what memories name, and what is known about one such thing.

Everything rests on the memories that the caller may see: what none of them names does not exist,
and its spellings and counts are theirs.
"""

import re
import time
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from memory.entities import names
from memory.entities import rules as patterns
from memory.entities.rules import EntityType
from memory.entities.sql import entities
from memory.entities.sql.entities import Merge, Thing, Wanted
from memory.records.queries import relations
from memory.records.queries.relations import Sides
from memory.records.queries.views import MemoryView
from memory.search import request
from memory.search.queries import Question, list_of_thing
from memory.search.request import Narrowing
from memory.text import globs
from memory.text.text import check_text
from teams import visibility
from teams.permissions import Act, require

MOST_QUOTES: Final = 3  # sentences of a summary; ours
LONGEST_QUOTE: Final = 300  # characters
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+|\n+")
MOST_NEIGHBORS: Final = 10  # of a thing that are told; ours
TYPES: Final = tuple(item.value for item in EntityType)

__all__ = ["TYPES", "Place", "Profile", "Thing", "Things", "about", "known"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place in the order of things: behind this one."""

    memories: int
    key: str
    type: EntityType


@dataclass(frozen=True, slots=True, kw_only=True)
class Things:
    """A page of things, the most often named first, and where the next page begins."""

    items: tuple[Thing, ...]
    next_place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A sentence of a memory that says something of a thing."""

    text: str
    memory: MemoryView


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What is known about a thing: it, what is named beside it, and memories that name it.

    `merges` are those of its names that the caller sees both of; `quotes` its summary, in the words
    of its memories; `sides` what contradicts one of them, by its id; `is_only_read` says that a
    reader of the night alone found it.

    `thing` is None, and the rest empty, where no memory that the caller may see names it.
    """

    thing: Thing | None
    neighbors: tuple[Thing, ...] = ()
    merges: tuple[Merge, ...] = ()
    quotes: tuple[Quote, ...] = ()
    memories: tuple[MemoryView, ...] = ()
    sides: Sides = field(default_factory=dict)
    is_only_read: bool = False
    took_ms: float = 0.0


def known(
    *,
    caller: Caller,
    begins: str,
    type: str | None,
    narrowing: Narrowing,
    after: Place | None,
    limit: int,
) -> Things:
    """Tell what memories name, of a type, beginning like `begins`; of the projects of a narrowing.

    Raises InvalidInput, NotFound for a project the caller cannot see.
    """
    require(caller=caller, act=Act.READ)
    check_name(name=begins)
    with tenancy.unit():
        question = request.narrowed_question(caller=caller, narrowing=narrowing)
        wanted = Wanted(
            projects=question.projects,
            type=EntityType(type) if type else None,
            begins=_beginnings(begins),
            after=None if after is None else (after.memories, after.key, after.type),
        )
        sight = visibility.sight_of(caller=caller)
        found = entities.known(wanted=wanted, limit=limit + 1, sight=sight)
    told = found[:limit]
    if len(found) == len(told):
        return Things(items=told, next_place=None)
    last = told[-1]
    place = Place(memories=last.memories, key=last.key, type=last.type)
    return Things(items=told, next_place=place)


def about(
    *, caller: Caller, name: str, type: str | None, narrowing: Narrowing, now: datetime
) -> Profile:
    """Tell what is known about a thing, in any spelling of its name, the most often named first.

    Raises InvalidInput, NotFound for a project the caller cannot see.
    """
    started = time.perf_counter()
    require(caller=caller, act=Act.READ)
    request.check_narrowing(narrowing=narrowing)
    check_name(name=name)
    with tenancy.unit():
        question = request.narrowed_question(caller=caller, narrowing=narrowing)
        wanted = Wanted(
            projects=question.projects,
            type=EntityType(type) if type else None,
            keys=keys_of(name=name),
        )
        profile = _profile(caller, wanted, question, narrowing.limit, now)
    took_ms = round((time.perf_counter() - started) * 1_000, 2)
    return replace(profile, took_ms=took_ms)


def _profile(
    caller: Caller, wanted: Wanted, question: Question, limit: int, now: datetime
) -> Profile:
    sight = visibility.sight_of(caller=caller)
    thing = next(iter(entities.known(wanted=wanted, limit=1, sight=sight)), None)
    if thing is None:
        return Profile(thing=None)
    beside = entities.neighbors(
        thing=thing, projects=wanted.projects, limit=MOST_NEIGHBORS, sight=sight
    )
    ids = list_of_thing(thing=thing, question=question, limit=limit, sight=sight)
    views, sides = relations.give_out_together(memory_ids=ids, sight=sight, now=now)
    memories = tuple(views[one] for one in ids if one in views)
    said = entities.merges(sight=sight) if thing.members else ()
    own = set(thing.names)
    return Profile(
        thing=thing,
        neighbors=beside,
        merges=tuple(one for one in said if {one.first, one.second} <= own),
        quotes=_quotes(thing, memories),
        memories=memories,
        sides=sides,
        is_only_read=entities.is_only_read(thing=thing, sight=sight),
    )


def _quotes(thing: Thing, memories: tuple[MemoryView, ...]) -> tuple[Quote, ...]:
    """Return what the most important memories say of a thing: the first sentence that names it."""
    spelled = tuple(text.casefold() for text in (thing.name, *thing.spellings))
    found: list[Quote] = []
    for memory in memories:
        said = (
            one
            for one in _SENTENCES.split(memory.content)
            if any(text in one.casefold() for text in spelled)
        )
        first = next(said, None)
        if first is not None and len(found) < MOST_QUOTES:
            found.append(Quote(text=first.strip()[:LONGEST_QUOTE], memory=memory))
    return tuple(found)


def keys_of(*, name: str) -> tuple[str, ...]:
    """Return the keys that a name may have, whatever kind of thing it is of."""
    spans = patterns.find_entities(text=name)
    of_kinds = (names.key_of(kind=span.kind, text=span.text) for span in spans)
    every = (names.word_key(text=name.strip().lstrip("@#`")), name.strip().casefold(), *of_kinds)
    return tuple(key for key in dict.fromkeys(every) if key)


def _beginnings(begins: str) -> tuple[str, ...] | None:
    """Return the patterns of LIKE for keys that begin with a text; None for an empty one."""
    plain = begins.strip().lstrip("@#`")
    every = dict.fromkeys((names.word_key(text=plain), plain.casefold()))
    quoted = tuple("".join(globs.LITERAL.get(sign, sign) for sign in key) for key in every if key)
    return tuple(f"{key}%" for key in quoted) or None


def check_name(*, name: str) -> None:
    """Return for what can be a name. Raises InvalidInput."""
    if len(name) <= names.LONGEST and not check_text(text=name):
        return
    raise wrong_field(
        pointer="/name",
        detail="This is not a name.",
        hint="Name a thing like AuthService.",
        code="name",
    )
