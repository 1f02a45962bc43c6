"""Who may roll back what in a project.

Own work is any writer's to take back; that of others takes a steward. An agent takes nothing back.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller, TokenScope, is_person
from accounts.errors import FieldError, InvalidInput, NotFound
from accounts.messages import message
from accounts.queries import credentials
from memory.records.models import MemoryLink
from memory.records.queries.memories import find_memory
from memory.records.queries.views import countable
from memory.review.rollback.rules import DEEPEST, MOST_DERIVED
from memory.sessions.models import Session
from memory.sessions.queries import sessions
from memory.taxonomy import LinkKind
from teams import queries as places
from teams.errors import RoleNotSufficient
from teams.permissions import Act, allows, require

CHOOSING: Final = ("person", "token", "session", "ancestor", "since", "until")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is to be rolled back in a project: all that holds of it together, at least one thing.

    `since` and `until` are of the moment at which something was written.
    """

    project: str
    person: UUID | None = None
    token: UUID | None = None
    session: UUID | None = None
    ancestor: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A choice that was checked: its project, the moment it was made, and whose work it is.

    `person` is whose work alone it is, None for anybody's; `derived` what came of the ancestor.
    """

    choice: Choice
    project_id: UUID
    asked_at: datetime
    person: UUID | None
    derived: tuple[UUID, ...] | None
    mine: frozenset[UUID]  # the caller and their tokens: whose own decisions bar nothing


def chosen(*, caller: Caller, choice: Choice, now: datetime) -> Chosen:
    """Check who asks for what. In a unit.

    Raises RoleNotSufficient, InvalidInput for a choice of nothing, and NotFound for a project, a
    session or an ancestor that the caller does not see there.
    """
    _check_choice(choice)
    project = places.find_project(caller=caller, ref=choice.project)
    session = _session(caller, project.id, choice.session)
    derived = _derived(caller, project.id, choice.ancestor)
    tokens = credentials.own_token_ids(caller=caller)
    is_own = caller.user_id is not None and (
        choice.person == caller.user_id
        or (session is not None and session.opened_by == caller.user_id)
        or choice.token in tokens
    )
    person = choice.person
    if not allows(role=caller.role, act=Act.RESTORE):
        require(caller=caller, act=Act.WRITE if is_own else Act.RESTORE)
        person = caller.user_id
    return Chosen(
        choice=replace(choice, project=str(project.id)),
        project_id=project.id,
        asked_at=now,
        person=person,
        derived=derived,
        mine=tokens | ({caller.user_id} if caller.user_id else frozenset()),
    )


def writers(*, caller: Caller, project: str) -> tuple[UUID, ...]:
    """Return who has written what the caller sees of a project. Raises NotFound."""
    with tenancy.unit():
        here = places.find_project(caller=caller, ref=project).id
        rows = countable(caller=caller).filter(project=here, author_user__isnull=False)
        found = rows.order_by("author_user").values_list("author_user", flat=True).distinct()
        return tuple(one for one in found if one is not None)


def may_take_back(*, caller: Caller, opened_by: UUID | None) -> bool:
    """Say whether a caller may roll a session back that they see."""
    is_own = opened_by is not None and opened_by == caller.user_id
    wanted = Act.WRITE if is_own else Act.RESTORE
    return is_person(caller=caller) and allows(role=caller.role, act=wanted)


def check_in_person(*, caller: Caller) -> None:
    """Return for a person, and for a token of the scope admin. Raises RoleNotSufficient."""
    require(caller=caller, act=Act.WRITE)
    if is_person(caller=caller) or TokenScope.ADMIN in caller.scopes:
        return
    raise RoleNotSufficient(
        detail="An agent does not roll back what was remembered.",
        hint="A person does, in the dashboard or with a token of the scope admin.",
    )


def _check_choice(choice: Choice) -> None:
    if all(getattr(choice, name) is None for name in CHOOSING):
        raise InvalidInput(
            detail="Say what is to be rolled back.",
            hint=message("Give at least one of: {names}.", names=CHOOSING),
            errors=(FieldError(pointer="", detail="Nothing is chosen.", code="nothing_chosen"),),
        )
    if choice.since and choice.until and choice.since >= choice.until:
        raise InvalidInput(
            detail="The time ends before it begins.",
            hint="Give an end that is later than the beginning.",
            errors=(
                FieldError(pointer="/until", detail="This is not after `since`.", code="range"),
            ),
        )


def _session(caller: Caller, project_id: UUID, session_id: UUID | None) -> Session | None:
    if session_id is None:
        return None
    row = sessions.find(caller=caller, session_id=session_id)
    if row.project_id != project_id:
        raise sessions.missing()
    return row


def _derived(caller: Caller, project_id: UUID, ancestor: UUID | None) -> tuple[UUID, ...] | None:
    """Return what the caller sees that derives from a memory, step by step, within bounds."""
    if ancestor is None:
        return None
    root = find_memory(caller=caller, memory_id=ancestor)
    if root.project_id != project_id:
        raise NotFound(
            detail="There is no such memory.",
            hint="It may have been deleted, or belong to a scope you cannot see.",
        )
    known, fresh = {root.id}, {root.id}
    seen = countable(caller=caller).filter(project=project_id).order_by().values("id")
    for _ in range(DEEPEST):
        links = MemoryLink.objects.filter(
            target__in=fresh, kind=LinkKind.DERIVE.value, source__in=seen
        )
        found = links.order_by("source_id").values_list("source_id", flat=True).distinct()
        fresh = set(found[:MOST_DERIVED]) - known
        known |= fresh
        if not fresh or len(known) > MOST_DERIVED:
            break
    return tuple(sorted(known - {root.id}))
