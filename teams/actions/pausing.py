"""Pause what agents of a project are given, all of them or one; off stays off (spec 4.6)."""

from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import NotFound
from accounts.queries import tokens
from teams.actions.projects import hold_project, tell
from teams.models import Project
from teams.permissions import require
from teams.queries import pauses
from teams.queries.pauses import PAUSED, PAUSED_TOKENS, Pauses
from teams.queries.people import check_unbound
from teams.roles import Act


def pause(*, caller: Caller, ref: str, token_id: UUID | None, paused: bool) -> Pauses:
    """Pause or resume a project, or one credential in it, until somebody does the other.

    A project is paused by who manages projects, a credential by whoever sees it among their tokens.
    Raises NotFound, RoleNotSufficient, NotBoundToProject.
    """
    require(caller=caller, act=Act.MANAGE_PROJECTS if token_id is None else Act.WRITE)
    if token_id is not None:
        _check_known(caller, token_id)
    with tenancy.unit():
        row = hold_project(caller=caller, ref=ref)
        if token_id is None:
            check_unbound(caller=caller)
        _put(row, token_id, paused=paused)
        row.save(update_fields=["settings"])
        tell(caller=caller, row=row, kind="project.changed", fields=(PAUSED,))
        return pauses.of_project(project=row)


def _check_known(caller: Caller, token_id: UUID) -> None:
    if token_id != caller.token_id and all(one.id != token_id for one in tokens(caller=caller)):
        raise NotFound(
            detail="There is no such token.", hint="GET /api/v1/tokens lists those you can see."
        )


def _put(row: Project, token_id: UUID | None, *, paused: bool) -> None:
    if token_id is None:
        kept = {name: value for name, value in row.settings.items() if name != PAUSED}
        row.settings = {**kept, PAUSED: True} if paused else kept
        return
    others = pauses.paused_tokens(project=row) - {token_id}
    named = others | {token_id} if paused else others
    row.settings = {**row.settings, PAUSED_TOKENS: sorted(str(one) for one in named)}
