"""What memories name: a list of things, what is known of one, and which may be the same.

Everything rests on the memories that the caller may see: what none of them names does not exist,
and its spellings and counts are theirs. So nobody learns of a name by a suggestion; what is named
beside two things is what the caller sees of it, and is read for a few names only, and for none
where the names by themselves say enough. Nothing is stored: who says that two are one thing does
(`memory.review.actions.entity_merges`).
"""

import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime
from itertools import product
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from memory.entities import close_names, names
from memory.entities import queries as entities
from memory.entities.queries import Merge, Thing
from memory.entities.rules import EntityType
from memory.records.queries import views as memory_views
from memory.search import queries, request
from memory.text import globs
from memory.text.text import check_text
from teams import visibility
from teams.permissions import Act, require

# Defaults, not measured:
MOST_QUOTES: Final = 3  # sentences of a summary
LONGEST_QUOTE: Final = 300  # characters
MOST_NEIGHBORS: Final = 10  # of a thing that are told
MOST_COMPARED: Final = 200  # names that begin alike, the most often named
MOST_LOOKED_BESIDE: Final = 20  # names of which is read what is beside them
MOST_SUGGESTED: Final = 5  # suggestions
TYPES: Final = tuple(item.value for item in EntityType)
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+|\n+")

Place = tuple[int, str, EntityType]  # in the list of things: its memories, key and type


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A sentence of a memory that says something of a thing."""

    text: str
    memory: memory_views.MemoryView


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
    memories: tuple[memory_views.MemoryView, ...] = ()
    sides: memory_views.Sides = field(default_factory=dict)
    is_only_read: bool = False
    took_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """Another thing that is most likely the same, and why."""

    thing: Thing
    reason: close_names.Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseNames:
    """A thing, None where no memory that one may see names it, and what is most likely it."""

    thing: Thing | None
    suggestions: tuple[Suggestion, ...] = ()


def list_things(
    *,
    caller: Caller,
    begins: str,
    type: str | None,
    narrowing: request.Narrowing,
    after: Place | None,
    limit: int,
) -> tuple[tuple[Thing, ...], Place | None]:
    """Return a page of what memories name, the most often named first, and its last place.

    Of a type, beginning like `begins`, in the projects of a narrowing. The place is None where no
    more follow. Raises InvalidInput, NotFound for a project the caller cannot see.
    """
    require(caller=caller, act=Act.READ)
    check_name(name=begins)
    plain = begins.strip().lstrip("@#`")
    keys = dict.fromkeys((names.word_key(text=plain), plain.casefold()))
    with tenancy.unit():
        found = entities.find_things(
            projects=request.narrowed_question(caller=caller, narrowing=narrowing)["projects"],
            type=EntityType(type) if type else None,
            begins=tuple(f"{_literal(key)}%" for key in keys if key) or None,
            after=after,
            limit=limit + 1,
            sight=visibility.sight_of(caller=caller),
        )
    if len(found) <= limit:
        return found, None
    last = found[limit - 1]
    return found[:limit], (last.memories, last.key, last.type)


def about(
    *, caller: Caller, name: str, type: str | None, narrowing: request.Narrowing, now: datetime
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
        sight = visibility.sight_of(caller=caller)
        thing = _find_thing(name, type, question, sight)
        if thing is None:
            return Profile(thing=None)
        neighbors = entities.neighbors(
            thing=thing, projects=question["projects"], limit=MOST_NEIGHBORS, sight=sight
        )
        ids = queries.list_of_thing(thing=thing, question=question, limit=narrowing.limit)
        views, sides = memory_views.give_out_together(memory_ids=ids, sight=sight, now=now)
        merges = entities.merges(sight=sight) if thing.members else ()
        is_only_read = entities.is_only_read(thing=thing, sight=sight)
    memories = tuple(views[one] for one in ids if one in views)
    return Profile(
        thing=thing,
        neighbors=neighbors,
        merges=tuple(one for one in merges if {one.first, one.second} <= set(thing.names)),
        quotes=_quotes(thing, memories),
        memories=memories,
        sides=sides,
        is_only_read=is_only_read,
        took_ms=round((time.perf_counter() - started) * 1_000, 2),
    )


def _find_thing(
    name: str, type: str | None, question: queries.Question, sight: visibility.Sight
) -> Thing | None:
    """Return the thing of a name in any spelling, the most often named one of several."""
    found = entities.find_things(
        projects=question["projects"],
        type=EntityType(type) if type else None,
        keys=names.keys_of(name=name),
        limit=1,
        sight=sight,
    )
    return found[0] if found else None


def _quotes(thing: Thing, memories: tuple[memory_views.MemoryView, ...]) -> tuple[Quote, ...]:
    """Return what the most important memories say of a thing: the first sentence that names it."""
    spelled = tuple(text.casefold() for text in (thing.name, *thing.spellings))
    found = []
    for memory in memories:
        for sentence in _SENTENCES.split(memory.content):
            if any(text in sentence.casefold() for text in spelled):
                found.append(Quote(text=sentence.strip()[:LONGEST_QUOTE], memory=memory))
                break
    return tuple(found[:MOST_QUOTES])


def close_names_of(
    *, caller: Caller, name: str, type: str | None, narrowing: request.Narrowing
) -> CloseNames:
    """Return what is most likely the same as the thing of a name, in any spelling.

    Raises InvalidInput, NotFound for a project the caller cannot see.
    """
    require(caller=caller, act=Act.READ)
    check_name(name=name)
    with tenancy.unit():
        question = request.narrowed_question(caller=caller, narrowing=narrowing)
        thing = _find_thing(name, type, question, visibility.sight_of(caller=caller))
    if thing is None:
        return CloseNames(thing=None)
    suggestions = suggest_names(caller=caller, thing=thing, narrowing=narrowing)
    return CloseNames(thing=thing, suggestions=suggestions)


def suggest_names(
    *, caller: Caller, thing: Thing, narrowing: request.Narrowing
) -> tuple[Suggestion, ...]:
    """Return things that are most likely the same as one that the caller sees, the surest first.

    First what the names say by themselves; where that is little, what is named beside the same
    things. Raises NotFound for a project the caller cannot see.
    """
    require(caller=caller, act=Act.READ)
    letters = close_names.beginning(type=thing.type, key=thing.key) or thing.key[:1]
    first, *rest = map(_literal, letters)
    ways = product(*((sign, f" {sign}") for sign in rest))  # words may be apart anywhere
    with tenancy.unit():
        projects = request.narrowed_question(caller=caller, narrowing=narrowing)["projects"]
        sight = visibility.sight_of(caller=caller)
        found = entities.find_things(
            projects=projects,
            type=thing.type,
            begins=tuple("".join((first, *way, "%")) for way in ways),
            limit=MOST_COMPARED,
            sight=sight,
        )
        others = [one for one in found if not set(one.names) & set(thing.names)]
        suggestions = _compare(thing, others, lambda _: frozenset())
        if len(suggestions) < MOST_SUGGESTED:
            sure = [one.thing for one in suggestions]
            unsure = [one for one in others if one not in sure]
            suggestions += _compare_company(thing, unsure, projects, sight)
    order = tuple(close_names.Reason)
    return tuple(sorted(suggestions, key=lambda one: order.index(one.reason)))[:MOST_SUGGESTED]


def _compare_company(
    thing: Thing, others: list[Thing], projects: Collection[UUID] | None, sight: visibility.Sight
) -> list[Suggestion]:
    """Compare what is named beside things, of those that would be one if that were the same."""

    def company_of(one: Thing) -> frozenset[str]:
        near = entities.neighbors(thing=one, projects=projects, limit=MOST_NEIGHBORS, sight=sight)
        return frozenset(other.key for other in near)

    same = frozenset(str(number) for number in range(close_names.SHARED))
    likely = _compare(thing, others, lambda _: same)
    looked_at = [one.thing for one in likely[:MOST_LOOKED_BESIDE]]
    return _compare(thing, looked_at, company_of) if likely else []


def _compare(
    thing: Thing, others: list[Thing], beside: Callable[[Thing], frozenset[str]]
) -> list[Suggestion]:
    """Return which of the others is suggested, given the keys of what is named beside each."""
    first = close_names.Known(type=thing.type, key=thing.key, beside=beside(thing))
    suggestions = []
    for one in others:
        second = close_names.Known(type=one.type, key=one.key, beside=beside(one))
        reason = close_names.compare(first=first, second=second)
        if reason is not None:
            suggestions.append(Suggestion(thing=one, reason=reason))
    return suggestions


def check_name(*, name: str) -> None:
    """Raise InvalidInput for what cannot be a name."""
    if len(name) > names.LONGEST or check_text(text=name):
        raise wrong_field(
            pointer="/name",
            detail="This is not a name.",
            hint="Name a thing like AuthService.",
            code="name",
        )


def _literal(text: str) -> str:
    """Return a text as LIKE takes it literally."""
    return "".join(globs.LITERAL.get(sign, sign) for sign in text)
