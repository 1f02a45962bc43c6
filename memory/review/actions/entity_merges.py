"""Say that two names are one thing, or take that back; at night, of what surely is.

For oneself it is anybody's word; for others, the people of a project or of the whole organization,
it is a steward's in person, and so it is to take back what the night said for them. Both names must
stand in memories that the caller may see; the log tells that names were merged, and not which.

The night goes place by place: the organization's memories, and those of each project that everybody
in it shares. Names that stand in one of them are compared with each other alone, and what is said
holds for those who see that place; what a team or a person keeps is left to them. Only what is
certain is said, a few pairs of a place a night; of the others people are asked where they look at a
name (`suggest_names`). Whoever takes one apart is not contradicted in the next night.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import audit as origins
from accounts import jobs, tenancy
from accounts.caller import Caller, TokenScope, is_person
from accounts.errors import Conflict, FieldError, NotFound, RoleNotSufficient, wrong_field
from accounts.messages import message
from memory.entities import close_names, named_things
from memory.entities.close_names import Close
from memory.entities.named_things import Merge, Name, Thing, Wanted
from memory.entities.names import keys_of
from memory.entities.rules import EntityType
from memory.entities.sql import entities
from memory.index.actions.model_switch import INSTALLATION
from memory.records.models import SAME, ReviewVerdict
from memory.records.queries import pending
from memory.taxonomy import Scope
from teams import audit, visibility
from teams.permissions import Act, require
from teams.queries import find_project

SCOPES: Final = (Scope.ORGANIZATION.value, Scope.PROJECT.value, Scope.PERSONAL.value)
JOB: Final = "memory.join_names"
MOST_JOINED: Final = 20  # pairs of a place in a night, ours
NOBODY: Final = UUID(int=0)  # decided it
NIGHT: Final = "night"  # in place of an agent


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two names, in any spelling, and for whom they are one thing: `project` where it is one's."""

    name: str
    same_as: str
    type: str | None = None
    same_type: str | None = None
    scope: str = Scope.PERSONAL.value
    project: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What is one thing now, and by which id that is taken back."""

    merge_id: UUID
    thing: Thing


def merge_names(*, caller: Caller, pair: Pair, now: datetime) -> Merged:
    """Say that two names are one thing.

    Raises NotFound where no visible memory has one of them or the project is not seen, Conflict
    when they are one already, InvalidInput, RoleNotSufficient for names of others too.
    """
    with tenancy.unit():
        audience = _audience(caller, pair)
        first = _named(caller, pair.name, pair.type, "/name")
        second = _named(caller, pair.same_as, pair.same_type, "/same_as")
        if set(first.names) & set(second.names):
            raise Conflict(
                detail="These names are one thing already.", hint="Nothing is left to do."
            )
        made = ReviewVerdict.objects.create(
            verdict=SAME,
            audience=audience,
            decided_by=pending.answerable(caller=caller),
            decided_agent=caller.agent,
            decided_at=now,
            before={"first": list(_own(first)), "second": list(_own(second))},
        )
        _record(caller, "entity.merged", made.id)
        return Merged(merge_id=made.id, thing=_named(caller, pair.name, pair.type, "/name"))


def unmerge_names(*, caller: Caller, merge_id: UUID, now: datetime) -> None:
    """Take back that two names are one thing; all is told as before.

    Raises NotFound for one the caller is not told of, RoleNotSufficient.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        made = _told(caller, merge_id)
        if made.audience != caller.user_id:
            _check_for_others(caller)
        ReviewVerdict.objects.filter(pk=made.id).update(undone_at=now)
        _record(caller, "entity.unmerged", made.id)


def scope_of(*, merge: Merge, caller: Caller) -> str:
    """Return for whom two names are one thing."""
    if merge.audience == caller.organization_id:
        return Scope.ORGANIZATION.value
    return (Scope.PERSONAL if merge.audience == caller.user_id else Scope.PROJECT).value


def _audience(caller: Caller, pair: Pair) -> UUID:
    require(caller=caller, act=Act.WRITE)
    if pair.scope == Scope.PERSONAL and caller.user_id is not None:
        return caller.user_id
    if pair.scope == Scope.ORGANIZATION:
        _check_for_others(caller)
        return caller.organization_id
    if pair.scope == Scope.PROJECT and pair.project:
        _check_for_others(caller)
        return find_project(caller=caller, ref=pair.project).id
    raise wrong_field(
        pointer="/scope",
        detail="Names are merged for the organization, a project, or the person who asks.",
        hint="Use organization, project with the name of one, or personal.",
        code="scope",
    )


def _check_for_others(caller: Caller) -> None:
    """Return for a steward in person: no agent says for others what is one thing."""
    require(caller=caller, act=Act.MERGE)
    if is_person(caller=caller) or TokenScope.ADMIN in caller.scopes:
        return
    raise RoleNotSufficient(
        detail="An agent does not say for others that names are one thing.",
        hint="A person decides, in the dashboard or with a token of the scope admin.",
    )


def _named(caller: Caller, name: str, type: str | None, pointer: str) -> Thing:
    wanted = Wanted(type=EntityType(type) if type else None, keys=keys_of(name=name))
    sight = visibility.sight_of(caller=caller)
    found = entities.known(wanted=wanted, limit=1, sight=sight)
    if not found:
        detail = message("No memory that you may see has this name.")
        raise NotFound(
            detail=detail,
            hint="GET /api/v1/entities lists the names there are.",
            errors=(FieldError(pointer=pointer, detail=detail, code="unknown"),),
        )
    return found[0]


def _told(caller: Caller, merge_id: UUID) -> Merge:
    """Return a merge whose names the caller both sees."""
    sight = visibility.sight_of(caller=caller)
    said = entities.merges(sight=sight)
    made = next((one for one in said if one.id == merge_id), None)
    if made is not None:
        wanted = Wanted(keys=(made.first[1],))
        for thing in entities.known(wanted=wanted, limit=9, sight=sight):
            if {made.first, made.second} <= set(thing.names):
                return made
    raise NotFound(detail="There is no such merge of names.", hint="It may be taken back already.")


def _own(thing: Thing) -> Name:
    """Return the name that a thing is told by."""
    return next(name for name in thing.names if name[1] == thing.key)


def _record(caller: Caller, act: str, merge_id: UUID) -> None:
    audit.append(act=act, object_type="entity", object_id=str(merge_id), caller=caller)


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """What came of it: places and names looked at, and pairs that are one thing now."""

    places: int
    names: int
    joined: int


def queue_join_names() -> None:
    """Queue the joining of the organization's names, once however often it is asked for."""
    with tenancy.unit():
        jobs.enqueue(JOB, payload={}, key="names")


def join_names(*, now: datetime) -> Joined:
    """Join the names of each place that surely are one thing."""
    with tenancy.unit():
        places = entities.shared_names(most=close_names.MOST_NAMES)
    joined = 0
    for audience, names in places.items():
        found = close_names.pairs(names=names)
        sure = tuple(one for one in found if one.is_sure)
        joined += _join(audience, sure, now) if sure else 0
    return Joined(places=len(places), names=sum(map(len, places.values())), joined=joined)


def _join(audience: UUID, pairs: tuple[Close, ...], now: datetime) -> int:
    """Say that pairs are one thing, but those of which somebody said that or took it back."""
    with tenancy.unit():
        places = {audience, tenancy.current().organization_id}
        said = tuple(ReviewVerdict.objects.filter(verdict=SAME, audience__in=places))
        held = [_pair(row) for row in said if row.undone_at is None]
        undone = {frozenset(_pair(row)) for row in said if row.undone_at is not None}
        new = _chosen(pairs, held, undone - set(map(frozenset, held)))
        for one in new:
            _say(audience, one, now)
    return len(new)


def _chosen(
    pairs: tuple[Close, ...], held: list[tuple[Name, Name]], undone: set[frozenset[Name]]
) -> tuple[Close, ...]:
    """Choose the pairs to say: none that follows from others, none that joins what was taken apart.

    Whatever a pair connects becomes one thing, so both are asked of the whole groups.
    """
    chosen: list[Close] = []
    numbers = named_things.groups(pairs=held)
    for one in pairs:
        group = numbers.get(one.first)
        if group is not None and group == numbers.get(one.second):
            continue
        whole = named_things.together(names=(one.first, one.second), numbers=numbers)
        if any(pair <= whole for pair in undone):
            continue
        chosen.append(one)
        if len(chosen) == MOST_JOINED:
            break
        told = ((new.first, new.second) for new in chosen)
        numbers = named_things.groups(pairs=(*held, *told))
    return tuple(chosen)


def _pair(row: ReviewVerdict) -> tuple[Name, Name]:
    first, second = row.before["first"], row.before["second"]
    return (first[0], first[1]), (second[0], second[1])


def _say(audience: UUID, one: Close, now: datetime) -> None:
    made = ReviewVerdict.objects.create(
        verdict=SAME,
        audience=audience,
        decided_by=NOBODY,
        decided_agent=NIGHT,
        decided_at=now,
        before={"first": list(one.first), "second": list(one.second)},
    )
    audit.append(
        act="entity.merged",
        object_type="entity",
        object_id=str(made.id),
        caller=origins.Person(user_id=None, source_interface=INSTALLATION),
    )
