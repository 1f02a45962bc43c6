"""Say that two names are one thing, or take that back.

For oneself it is anybody's word; for others, the people of a project or of the whole organization,
it is a steward's in person, and so it is to take back what the night said for them. Both names must
stand in memories that the caller may see; the log tells that names were merged, and not which.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller, TokenScope, is_person
from accounts.errors import Conflict, FieldError, NotFound, RoleNotSufficient, wrong_field
from accounts.messages import message
from memory.entities.actions.entities import keys_of
from memory.entities.rules import EntityType
from memory.entities.same_names import Name
from memory.entities.sql import entities
from memory.entities.sql.entities import Merge, Thing, Wanted
from memory.records.queries import pending
from memory.records.verdict_models import ReviewVerdict
from memory.records.verdicts import SAME
from memory.taxonomy import Scope
from teams import audit, visibility
from teams.permissions import Act, require
from teams.queries import find_project

SCOPES: Final = (Scope.ORGANIZATION.value, Scope.PROJECT.value, Scope.PERSONAL.value)


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
