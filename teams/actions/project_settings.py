"""What a project compares, which hooks it has, and who of its agents is paused."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, NotFound, wrong_field
from accounts.messages import message
from accounts.queries.credentials import list_tokens, token_ids_of
from teams.actions.projects import hold_project, tell
from teams.models import Project
from teams.permissions import Act, require
from teams.queries import (
    EXPERIMENTS,
    MOST_TOGETHER,
    PAUSED,
    PAUSED_PEOPLE,
    PAUSED_TOKENS,
    PERCENTS,
    SWITCHED,
    USUAL_EXPERIMENTS,
    Experiments,
    Hook,
    Hooks,
    Pauses,
    check_unbound,
    experiments_in,
    hooks_in,
    is_within,
    paused_people,
    paused_tokens,
    pauses_in,
)


def change_experiments(*, caller: Caller, ref: str, changed: Mapping[str, Any]) -> Experiments:
    """Change some of what a project compares; the rest stays as it is.

    Sessions keep the group they have. Raises InvalidInput naming the field, NotFound,
    RoleNotSufficient, NotBoundToProject.
    """
    require(caller=caller, act=Act.MANAGE_PROJECTS)
    _check_experiments(changed)
    with tenancy.unit():
        row = hold_project(caller=caller, ref=ref)
        check_unbound(caller=caller)
        found = replace(experiments_in(project=row), **changed)
        if found.control_percent + found.passive_percent > MOST_TOGETHER:
            detail = message(
                "Both smaller groups together take at most {most:g} percent.", most=MOST_TOGETHER
            )
            raise wrong_field(
                pointer="/passive_percent",
                detail=detail,
                hint="The others are given everything, and there must be some of them.",
                code="range",
            )
        usual = asdict(USUAL_EXPERIMENTS)
        other = {name: one for name, one in asdict(found).items() if one != usual[name]}
        _keep(row, EXPERIMENTS, other)
        row.save(update_fields=["settings"])
        tell(caller=caller, row=row, kind="project.changed", fields=(EXPERIMENTS,))
        return experiments_in(project=row)


def _check_experiments(changed: Mapping[str, Any]) -> None:
    if not changed:
        raise InvalidInput(
            detail="There is nothing to change.",
            hint=message("Send one of: {names}.", names=("enabled", *PERCENTS)),
        )
    for name, (least, most) in PERCENTS.items():
        if name in changed and not is_within(value=changed[name], bounds=(least, most)):
            raise wrong_field(
                pointer=f"/{name}",
                detail=message("Use a number from {least:g} to {most:g}.", least=least, most=most),
                hint="It is a share of the sessions, in percent.",
                code="range",
            )


def switch_hooks(*, caller: Caller, ref: str, switched: Mapping[Hook, bool]) -> Hooks:
    """Switch some hooks of a project on or off; the others stay as they are.

    Raises InvalidInput where nothing is named, NotFound, RoleNotSufficient, NotBoundToProject.
    """
    require(caller=caller, act=Act.MANAGE_PROJECTS)
    if not switched:
        raise InvalidInput(
            detail="There is nothing to change.",
            hint=message("Send one of: {names}.", names=tuple(Hook)),
        )
    with tenancy.unit():
        row = hold_project(caller=caller, ref=ref)
        check_unbound(caller=caller)
        usual = hooks_in(project=None)
        now = {**hooks_in(project=row), **switched}
        other = {hook.value: is_on for hook, is_on in now.items() if is_on != usual[hook]}
        _keep(row, SWITCHED, other)
        row.save(update_fields=["settings"])
        tell(caller=caller, row=row, kind="project.changed", fields=(SWITCHED,))
        return hooks_in(project=row)


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
    known = () if token_id is None else list_tokens(caller=caller)
    if token_id not in {None, caller.token_id} and all(one.id != token_id for one in known):
        raise NotFound(
            detail="There is no such token.", hint="GET /api/v1/tokens lists those you can see."
        )
    with tenancy.unit():
        row = hold_project(caller=caller, ref=ref)
        if is_whole:
            check_unbound(caller=caller)
            _keep(row, PAUSED, paused)
        elif token_id is not None:
            owner = next((one.user_id for one in known if one.id == token_id), None)
            _put_token(caller, row, token_id, owner, paused=paused)
        elif caller.user_id is not None:
            _put_person(caller, row, caller.user_id, paused=paused)
        row.save(update_fields=["settings"])
        tell(caller=caller, row=row, kind="project.changed", fields=(PAUSED,))
        return pauses_in(project=row)


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
            detail="This token does not belong to a person.",
            hint="Name a token, or pause the project.",
            code="nobody",
        )


def _put_token(
    caller: Caller, row: Project, token_id: UUID, owner: UUID | None, *, paused: bool
) -> None:
    """Pause or resume one token; the others of a person who is paused stay so, each by itself."""
    named = paused_tokens(project=row) | {token_id}
    people = paused_people(project=row)
    if not paused and owner is not None and owner in people:
        named |= token_ids_of(caller=caller, user_id=owner)
        people -= {owner}
    _keep(row, PAUSED_PEOPLE, _texts(people))
    _keep(row, PAUSED_TOKENS, _texts(named if paused else named - {token_id}))


def _put_person(caller: Caller, row: Project, user_id: UUID, *, paused: bool) -> None:
    """Pause or resume every token of a person, those that were paused by themselves too."""
    people = paused_people(project=row)
    if not paused:
        own = token_ids_of(caller=caller, user_id=user_id)
        _keep(row, PAUSED_TOKENS, _texts(paused_tokens(project=row) - own))
    _keep(row, PAUSED_PEOPLE, _texts(people | {user_id} if paused else people - {user_id}))


def _keep(row: Project, setting: str, value: Any) -> None:
    """Put a value among the settings; what is empty is as usual and is not kept."""
    others = {name: one for name, one in row.settings.items() if name != setting}
    row.settings = {**others, setting: value} if value else others


def _texts(ids: Iterable[UUID]) -> list[str]:
    return sorted(str(one) for one in ids)
