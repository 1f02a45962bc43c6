"""Pause what agents of a project are given, all of them or one; off stays off."""

from collections.abc import Iterable
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import NotFound, wrong_field
from accounts.queries import TokenView, token_ids_of, tokens
from teams.actions.projects import hold_project, tell
from teams.models import Project
from teams.permissions import require
from teams.queries import pauses
from teams.queries.pauses import PAUSED, PAUSED_PEOPLE, PAUSED_TOKENS, Pauses
from teams.queries.people import check_unbound
from teams.roles import Act


def pause(
    *, caller: Caller, ref: str, token_id: UUID | None, paused: bool, mine: bool = False
) -> Pauses:
    """Pause or resume a project, one credential in it, or with `mine` every one of the caller's.

    A project is paused by who manages projects, a credential by whoever sees it among their tokens.
    Raises NotFound, InvalidInput, RoleNotSufficient, NotBoundToProject.
    """
    _check_one(caller, token_id, mine=mine)
    is_whole = token_id is None and not mine
    require(caller=caller, act=Act.MANAGE_PROJECTS if is_whole else Act.WRITE)
    known = () if token_id is None else tokens(caller=caller)
    if token_id is not None:
        _check_known(caller, token_id, known)
    with tenancy.unit():
        row = hold_project(caller=caller, ref=ref)
        if is_whole:
            check_unbound(caller=caller)
            _put_all(row, paused=paused)
        elif token_id is not None:
            owner = next((one.user_id for one in known if one.id == token_id), None)
            _put_token(caller, row, token_id, owner, paused=paused)
        elif caller.user_id is not None:
            _put_person(caller, row, caller.user_id, paused=paused)
        row.save(update_fields=["settings"])
        tell(caller=caller, row=row, kind="project.changed", fields=(PAUSED,))
        return pauses.of_project(project=row)


def _check_one(caller: Caller, token_id: UUID | None, *, mine: bool) -> None:
    if not mine:
        return
    if token_id is not None:
        raise wrong_field(
            pointer="/mine",
            detail="Either every token of yours, or one.",
            hint="Leave `mine` or `token` out.",
            code="together",
        )
    if caller.user_id is None:
        raise wrong_field(
            pointer="/mine",
            detail="This token is nobody's.",
            hint="Name a token, or pause the project.",
            code="nobody",
        )


def _check_known(caller: Caller, token_id: UUID, known: tuple[TokenView, ...]) -> None:
    if token_id != caller.token_id and all(one.id != token_id for one in known):
        raise NotFound(
            detail="There is no such token.", hint="GET /api/v1/tokens lists those you can see."
        )


def _put_all(row: Project, *, paused: bool) -> None:
    kept = {name: value for name, value in row.settings.items() if name != PAUSED}
    row.settings = {**kept, PAUSED: True} if paused else kept


def _put_token(
    caller: Caller, row: Project, token_id: UUID, owner: UUID | None, *, paused: bool
) -> None:
    """Pause or resume one token; the others of a person who is paused stay so, each by itself."""
    named = pauses.paused_tokens(project=row) | {token_id}
    people = pauses.paused_people(project=row)
    if not paused and owner is not None and owner in people:
        named |= token_ids_of(caller=caller, user_id=owner)
        people -= {owner}
    _keep(row, PAUSED_PEOPLE, people)
    _keep(row, PAUSED_TOKENS, named if paused else named - {token_id})


def _put_person(caller: Caller, row: Project, user_id: UUID, *, paused: bool) -> None:
    """Pause or resume every token of a person, those that were paused by themselves too."""
    people = pauses.paused_people(project=row)
    if not paused:
        own = token_ids_of(caller=caller, user_id=user_id)
        _keep(row, PAUSED_TOKENS, pauses.paused_tokens(project=row) - own)
    _keep(row, PAUSED_PEOPLE, people | {user_id} if paused else people - {user_id})


def _keep(row: Project, setting: str, named: Iterable[UUID]) -> None:
    """Put a list among the settings, or none where nobody is named."""
    kept = {name: value for name, value in row.settings.items() if name != setting}
    listed = sorted(str(one) for one in named)
    row.settings = {**kept, setting: listed} if listed else kept
