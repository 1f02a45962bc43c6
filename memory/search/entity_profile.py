"""What memories name: a list of things, what is known of one, and which may be the same.

Everything rests on the memories that the caller may see: what none of them names does not exist,
and its spellings and counts are theirs. So nobody learns of a name by a suggestion; what is named
beside two things is what the caller sees of it, and is read for a few names only, and for none
where the names by themselves say enough. Nothing is stored: who says that two are one thing does
(`memory.review.actions.entity_merges`).
"""

import re
import time
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import product
from typing import Final

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from memory.entities import close_names, names
from memory.entities.close_names import Known, Reason
from memory.entities.named_things import Merge, Thing, Wanted
from memory.entities.names import keys_of
from memory.entities.rules import EntityType
from memory.entities.sql import entities
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
from teams.visibility import Sight

MOST_QUOTES: Final = 3  # sentences of a summary; ours
LONGEST_QUOTE: Final = 300  # characters
MOST_NEIGHBORS: Final = 10  # of a thing that are told; ours
MOST_COMPARED: Final = 200  # names that begin alike, the most often named; ours
MOST_LOOKED_BESIDE: Final = 20  # names of which is read what is beside them; ours
MOST_SUGGESTED: Final = 5  # suggestions; ours
TYPES: Final = tuple(item.value for item in EntityType)
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+|\n+")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """Another thing that is most likely the same, and why."""

    thing: Thing
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseNames:
    """A thing, None where no memory that one may see names it, and what is most likely it."""

    thing: Thing | None
    suggestions: tuple[Suggestion, ...] = ()


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


def _beginnings(begins: str) -> tuple[str, ...] | None:
    """Return the patterns of LIKE for keys that begin with a text; None for an empty one."""
    plain = begins.strip().lstrip("@#`")
    every = dict.fromkeys((names.word_key(text=plain), plain.casefold()))
    quoted = tuple("".join(globs.LITERAL.get(sign, sign) for sign in key) for key in every if key)
    return tuple(f"{key}%" for key in quoted) or None


def close_names_of(
    *, caller: Caller, name: str, type: str | None, narrowing: Narrowing
) -> CloseNames:
    """Return what is most likely the same as the thing of a name, in any spelling.

    Raises InvalidInput, NotFound for a project the caller cannot see.
    """
    require(caller=caller, act=Act.READ)
    check_name(name=name)
    with tenancy.unit():
        wanted = Wanted(
            projects=request.narrowed_question(caller=caller, narrowing=narrowing).projects,
            type=EntityType(type) if type else None,
            keys=keys_of(name=name),
        )
        sight = visibility.sight_of(caller=caller)
        thing = next(iter(entities.known(wanted=wanted, limit=1, sight=sight)), None)
    if thing is None:
        return CloseNames(thing=None)
    told = suggest_names(caller=caller, thing=thing, narrowing=narrowing)
    return CloseNames(thing=thing, suggestions=told)


def suggest_names(*, caller: Caller, thing: Thing, narrowing: Narrowing) -> tuple[Suggestion, ...]:
    """Return things that are most likely the same as one that the caller sees, the surest first.

    Raises NotFound for a project the caller cannot see.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        projects = request.narrowed_question(caller=caller, narrowing=narrowing).projects
        sight = visibility.sight_of(caller=caller)
        wanted = Wanted(projects=projects, type=thing.type, begins=_beginning(thing))
        found = entities.known(wanted=wanted, limit=MOST_COMPARED, sight=sight)
        others = [one for one in found if not set(one.names) & set(thing.names)]
        told = _by_themselves(thing, others)
        if len(told) < MOST_SUGGESTED:
            left = [one for one in others if one not in {said.thing for said in told}]
            told += _by_company(thing, left, wanted, sight)
    order = tuple(Reason)
    return tuple(sorted(told, key=lambda one: order.index(one.reason)))[:MOST_SUGGESTED]


def _beginning(thing: Thing) -> tuple[str, ...]:
    """Return the patterns of LIKE for keys that begin with these letters, words apart anywhere."""
    letters = close_names.beginning(type=thing.type, key=thing.key) or thing.key[:1]
    first, *rest = (globs.LITERAL.get(sign, sign) for sign in letters)
    ways = product(*((sign, f" {sign}") for sign in rest))
    return tuple("".join((first, *way, "%")) for way in ways)


def _by_themselves(thing: Thing, others: list[Thing]) -> list[Suggestion]:
    """Return what is suggested whatever is named beside it."""
    nothing: frozenset[str] = frozenset()
    compared = ((one, _reason(thing, one, nothing, nothing)) for one in others)
    return [Suggestion(thing=one, reason=why) for one, why in compared if why is not None]


def _by_company(
    thing: Thing, others: list[Thing], wanted: Wanted, sight: Sight
) -> list[Suggestion]:
    """Return what is suggested because both are named beside the same things."""
    same = frozenset(str(number) for number in range(close_names.SHARED))
    likely = [one for one in others if _reason(thing, one, same, same) is not None]
    beside = _beside(thing, wanted, sight) if likely else frozenset()
    compared = (
        (one, _reason(thing, one, beside, _beside(one, wanted, sight)))
        for one in likely[:MOST_LOOKED_BESIDE]
    )
    return [Suggestion(thing=one, reason=why) for one, why in compared if why is not None]


def _reason(
    thing: Thing, other: Thing, beside: frozenset[str], theirs: frozenset[str]
) -> Reason | None:
    found = close_names.compare(first=_known(thing, beside), second=_known(other, theirs))
    return None if found is None else found.reason


def _beside(thing: Thing, wanted: Wanted, sight: Sight) -> frozenset[str]:
    found = entities.neighbors(
        thing=thing, projects=wanted.projects, limit=MOST_NEIGHBORS, sight=sight
    )
    return frozenset(one.key for one in found)


def _known(thing: Thing, beside: frozenset[str]) -> Known:
    return Known(type=thing.type, key=thing.key, beside=beside)


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
