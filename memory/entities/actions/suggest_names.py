"""Suggest which other names are most likely the same thing.

Compared are names of memories that the caller may see, so nobody learns of a name by a suggestion;
what is named beside both is what the caller sees of it. That is read for a few names only, and for
none where the names by themselves say enough. Nothing is stored: who says that the two are one
thing stores that.
"""

from dataclasses import dataclass
from itertools import product
from typing import Final

from accounts import tenancy
from accounts.caller import Caller
from memory.entities import close_names
from memory.entities.actions.entities import MOST_NEIGHBORS, check_name, keys_of
from memory.entities.close_names import Known, Reason
from memory.entities.rules import EntityType
from memory.entities.sql import entities
from memory.entities.sql.entities import Thing, Wanted
from memory.search import request
from memory.search.request import Narrowing
from memory.text import globs
from teams import visibility
from teams.permissions import Act, require
from teams.visibility import Sight

MOST_COMPARED: Final = 200  # names that begin alike, the most often named; ours
MOST_LOOKED_BESIDE: Final = 20  # names of which is read what is beside them; ours
MOST: Final = 5  # suggestions; ours


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
        if len(told) < MOST:
            left = [one for one in others if one not in {said.thing for said in told}]
            told += _by_company(thing, left, wanted, sight)
    order = tuple(Reason)
    return tuple(sorted(told, key=lambda one: order.index(one.reason)))[:MOST]


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
