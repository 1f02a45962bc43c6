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
from typing import Any, Final
from uuid import UUID

from accounts import audit as origins
from accounts import jobs, tenancy
from accounts.caller import Caller, decides_in_person
from accounts.errors import Conflict, FieldError, NotFound, RoleNotSufficient, wrong_field
from accounts.messages import message
from memory.entities import close_names, names, rules
from memory.entities import queries as entities
from memory.index.actions.model_switch import INSTALLATION
from memory.records.models import SAME, ReviewVerdict
from memory.records.queries import pending
from memory.taxonomy import Scope
from teams import audit, visibility
from teams import queries as places
from teams.permissions import Act, require

SCOPES: Final = (Scope.ORGANIZATION.value, Scope.PROJECT.value, Scope.PERSONAL.value)
JOB: Final = "memory.join_names"
MOST_JOINED: Final = 20  # pairs of a place in a night; default, not measured
NOBODY: Final = UUID(int=0)  # decided it
NIGHT: Final = "night"  # in place of an agent
NamePair = tuple[close_names.Name, close_names.Name]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePair:
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
    thing: entities.Thing


def merge_names(*, caller: Caller, pair: MergePair, now: datetime) -> Merged:
    """Say that two names are one thing.

    Raises NotFound where no visible memory has one of them or the project is not seen, Conflict
    when they are one already, InvalidInput, RoleNotSufficient for names of others too.
    """
    with tenancy.unit():
        audience = _audience(caller, pair)
        first = _find_thing(caller, pair.name, pair.type, "/name")
        second = _find_thing(caller, pair.same_as, pair.same_type, "/same_as")
        if set(first.names) & set(second.names):
            raise Conflict(detail="These names are already merged.", hint="No action is needed.")
        spelled = [  # the name that each thing is known by
            next(name for name in thing.names if name[1] == thing.key) for thing in (first, second)
        ]
        made = _store_merge(
            audience,
            (spelled[0], spelled[1]),
            decided_by=pending.answerable(caller=caller),
            decided_agent=caller.agent,
            decided_at=now,
        )
        _record(caller, "entity.merged", made)
        thing = _find_thing(caller, pair.name, pair.type, "/name")
        return Merged(merge_id=made, thing=thing)


def unmerge_names(*, caller: Caller, merge_id: UUID, now: datetime) -> None:
    """Take back that two names are one thing.

    Raises NotFound for one of which the caller does not see both names, RoleNotSufficient.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        made = next((one for one in entities.merges(sight=sight) if one.id == merge_id), None)
        seen: tuple[entities.Thing, ...] = ()
        if made is not None:
            seen = entities.find_things(keys=(made.first[1],), limit=9, sight=sight)
        if made is None or not any({made.first, made.second} <= set(one.names) for one in seen):
            raise NotFound(
                detail="There is no such merge of names.", hint="It may have been undone already."
            )
        if made.audience != caller.user_id:
            _check_for_others(caller)
        ReviewVerdict.objects.filter(pk=made.id).update(undone_at=now)
        _record(caller, "entity.unmerged", made.id)


def scope_of(*, merge: entities.Merge, caller: Caller) -> str:
    """Return for whom two names are one thing."""
    if merge.audience == caller.organization_id:
        return Scope.ORGANIZATION.value
    return (Scope.PERSONAL if merge.audience == caller.user_id else Scope.PROJECT).value


def queue_join_names() -> None:
    """Queue the joining of the organization's names, once however often it is asked for."""
    with tenancy.unit():
        jobs.enqueue(JOB, payload={}, key="names")


def join_names(*, now: datetime) -> dict[str, int]:
    """Join the names of each place that surely are one thing; count places, names and pairs.

    Not those of which somebody said that, or took it back.
    """
    with tenancy.unit():
        shared = entities.shared_names(most=close_names.MOST_NAMES)
    joined = 0
    for audience, known in shared.items():
        sure = close_names.sure_pairs(names=known)
        if not sure:
            continue
        with tenancy.unit():
            reach = {audience, tenancy.current().organization_id}
            said = tuple(ReviewVerdict.objects.filter(verdict=SAME, audience__in=reach))
            held = [_names_of(row) for row in said if row.undone_at is None]
            undone = {frozenset(_names_of(row)) for row in said if row.undone_at is not None}
            for pair in _choose(sure, held, undone - set(map(frozenset, held))):
                made = _store_merge(
                    audience, pair, decided_by=NOBODY, decided_agent=NIGHT, decided_at=now
                )
                night = origins.Person(user_id=None, source_interface=INSTALLATION)
                _record(night, "entity.merged", made)
                joined += 1
    names = sum(map(len, shared.values()))
    return {"places": len(shared), "names": names, "joined": joined}


def _audience(caller: Caller, pair: MergePair) -> UUID:
    require(caller=caller, act=Act.WRITE)
    if pair.scope == Scope.PERSONAL and caller.user_id is not None:
        return caller.user_id
    if pair.scope == Scope.ORGANIZATION:
        _check_for_others(caller)
        return caller.organization_id
    if pair.scope == Scope.PROJECT and pair.project:
        _check_for_others(caller)
        return places.find_project(caller=caller, ref=pair.project).id
    raise wrong_field(
        pointer="/scope",
        detail="Names are merged for the organization, a project, or the person who asks.",
        hint="Use organization, project with the name of one, or personal.",
        code="scope",
    )


def _check_for_others(caller: Caller) -> None:
    """Return for a steward in person: no agent says for others what is one thing."""
    require(caller=caller, act=Act.MERGE)
    if not decides_in_person(caller=caller):
        raise RoleNotSufficient(
            detail="An agent cannot merge names for other people.",
            hint="A person decides, in the dashboard or with a token of the scope review.",
        )


def _find_thing(caller: Caller, name: str, type: str | None, pointer: str) -> entities.Thing:
    found = entities.find_things(
        type=rules.EntityType(type) if type else None,
        keys=names.keys_of(name=name),
        limit=1,
        sight=visibility.sight_of(caller=caller),
    )
    if not found:
        detail = message("No memory that you may see has this name.")
        raise NotFound(
            detail=detail,
            hint="GET /api/v1/entities lists the names there are.",
            errors=(FieldError(pointer=pointer, detail=detail, code="unknown"),),
        )
    return found[0]


def _store_merge(audience: UUID, pair: NamePair, **decided: Any) -> UUID:
    before = {"first": list(pair[0]), "second": list(pair[1])}
    made = ReviewVerdict.objects.create(verdict=SAME, audience=audience, before=before, **decided)
    return made.id


def _record(caller: origins.Actor, act: str, merge_id: UUID) -> None:
    audit.append(act, "entity", str(merge_id), caller=caller)


def _names_of(row: ReviewVerdict) -> NamePair:
    first, second = row.before["first"], row.before["second"]
    return (first[0], first[1]), (second[0], second[1])


def _choose(
    sure: tuple[NamePair, ...],
    held: list[NamePair],
    undone: set[frozenset[close_names.Name]],
) -> list[NamePair]:
    """Choose the pairs to join: none that follows from others, none of what was taken apart.

    Whatever a pair connects becomes one thing, so both are asked of the whole groups.
    """
    chosen: list[NamePair] = []
    numbers = entities.groups(pairs=held)
    for first, second in sure:
        group = numbers.get(first)
        if group is not None and group == numbers.get(second):
            continue
        whole = entities.merged_names(names=(first, second), numbers=numbers)
        if any(pair <= whole for pair in undone):
            continue
        chosen.append((first, second))
        if len(chosen) == MOST_JOINED:
            break
        numbers = entities.groups(pairs=(*held, *chosen))
    return chosen
