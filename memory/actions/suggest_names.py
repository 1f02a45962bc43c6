"""Suggest which other names are most likely the same thing (spec 2.6).

Compared are names of memories that the caller may see, so nobody learns of a name by a suggestion;
what is named beside both is what the caller sees of it. Nothing is stored: who says that the two
are one thing stores that.
"""

from dataclasses import dataclass
from typing import Final

from accounts import tenancy
from accounts.caller import Caller
from memory.actions import narrowing as narrowings
from memory.actions.entities import MOST_NEIGHBORS
from memory.actions.narrowing import Narrowing
from memory.intake import close_names
from memory.intake.close_names import Known, Reason
from memory.intake.entities import EntityType
from memory.retrieval import paths
from memory.sql import entities
from memory.sql.entities import Thing, Wanted
from teams import visibility
from teams.permissions import require
from teams.roles import Act
from teams.visibility import Sight

MOST_COMPARED: Final = 200  # names that begin alike, the most often named; ours
MOST: Final = 5  # suggestions; ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """Another thing that is most likely the same, and why."""

    thing: Thing
    reason: Reason


def suggest_names(*, caller: Caller, thing: Thing, narrowing: Narrowing) -> tuple[Suggestion, ...]:
    """Return things that are most likely the same as one that the caller sees, the surest first.

    Raises NotFound for a project the caller cannot see.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        projects = narrowings.question(caller=caller, narrowing=narrowing).projects
        sight = visibility.sight_of(caller=caller)
        wanted = Wanted(projects=projects, type=thing.type, begins=_beginning(thing))
        found = entities.known(wanted=wanted, limit=MOST_COMPARED, sight=sight)
        others = [one for one in found if not set(one.names) & set(thing.names)]
        likely = [one for one in others if _is_likely(thing, one)]
        beside = _beside(thing, wanted, sight) if likely else frozenset()
        compared = ((one, _reason(thing, one, beside, wanted, sight)) for one in likely)
        told = [Suggestion(thing=one, reason=why) for one, why in compared if why is not None]
    order = tuple(Reason)
    return tuple(sorted(told, key=lambda one: order.index(one.reason)))[:MOST]


def _beginning(thing: Thing) -> tuple[str, ...]:
    letters = 1 if thing.type is EntityType.PERSON else close_names.BEGINNING
    begins = thing.key[:letters]
    return ("".join(paths.LITERAL.get(sign, sign) for sign in begins) + "%",)


def _is_likely(thing: Thing, other: Thing) -> bool:
    """Say whether two would be one if they were named beside the same things."""
    same = frozenset(str(number) for number in range(close_names.SHARED))
    first, second = _known(thing, same), _known(other, same)
    return close_names.compare(first=first, second=second) is not None


def _reason(
    thing: Thing, other: Thing, beside: frozenset[str], wanted: Wanted, sight: Sight
) -> Reason | None:
    theirs = _beside(other, wanted, sight)
    found = close_names.compare(first=_known(thing, beside), second=_known(other, theirs))
    return None if found is None else found.reason


def _beside(thing: Thing, wanted: Wanted, sight: Sight) -> frozenset[str]:
    found = entities.neighbors(
        thing=thing, projects=wanted.projects, limit=MOST_NEIGHBORS, sight=sight
    )
    return frozenset(one.key for one in found)


def _known(thing: Thing, beside: frozenset[str]) -> Known:
    return Known(type=thing.type, key=thing.key, beside=beside)
