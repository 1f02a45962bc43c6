"""Try a connection: what would become of an event of one's own token in a project now.

The event passes the checks of every event of an agent's program, in their order: the token, what it
reaches and may do, pauses, and the hooks that deliver. After the last check it ends: nothing is
stored, nothing is delivered, and the token does not count as used.
"""

from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller, scopes_of
from accounts.errors import NotFound, RoleNotSufficient
from accounts.queries import list_tokens, state_of
from accounts.token_format import TokenKind
from memory.experiments.points import Point
from memory.injection.actions import policy
from teams import queries as places
from teams.models import Project
from teams.permissions import Act, require

HOOK_POINTS = (Point.BRIEF, Point.TOOL_RESULT)  # where programs are answered


class ConnectionOutcome(StrEnum):
    """How far an event comes."""

    WORKS = "works"
    REVOKED = "revoked"
    EXPIRED = "expired"
    ELSEWHERE = "elsewhere"
    READ_ONLY = "read_only"
    PAUSED = "paused"
    TOKEN_PAUSED = "token_paused"  # noqa: S105  an outcome, not a password
    OFF = "off"


def try_connection(*, caller: Caller, ref: str, token_id: UUID, now: datetime) -> ConnectionOutcome:
    """Return how far an event of a token comes.

    Raises NotFound for a project the caller cannot see, and for a token that is not their own.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        project = places.find_project(caller=caller, ref=ref)
    token = next(
        (
            one
            for one in list_tokens(caller=caller)
            if one.id == token_id and one.user_id == caller.user_id
        ),
        None,
    )
    if token is None:
        raise NotFound(
            detail="You have no such token.",
            hint="Choose one of your own, or make one on this page.",
        )
    state = state_of(token=token, now=now)
    if state in {ConnectionOutcome.REVOKED, ConnectionOutcome.EXPIRED}:
        return ConnectionOutcome(state)
    agent = replace(
        caller,
        user_id=caller.user_id if token.kind == TokenKind.PERSON else None,
        scopes=frozenset(token.scopes) & scopes_of(role=caller.role),
        bound_projects=token.projects,
        source_interface=token.source_interface,
        agent=token.name,
        token_id=token.id,
    )
    with tenancy.unit():
        return _outcome_of(agent, project)


def _outcome_of(agent: Caller, project: Project) -> ConnectionOutcome:
    """Return the check that an event fails first, or that it works. In a unit."""
    try:
        places.find_project(caller=agent, ref=str(project.id))
    except NotFound:
        return ConnectionOutcome.ELSEWHERE
    try:
        require(caller=agent, act=Act.READ)
        require(caller=agent, act=Act.WRITE)
    except RoleNotSufficient:
        return ConnectionOutcome.READ_ONLY
    if places.is_paused(project=project, token_id=None):
        return ConnectionOutcome.PAUSED
    if places.is_paused(project=project, token_id=agent.token_id, user_id=agent.user_id):
        return ConnectionOutcome.TOKEN_PAUSED
    is_open = any(
        policy.policy_of(caller=agent, project=project, point=point).is_open
        for point in HOOK_POINTS
    )
    return ConnectionOutcome.WORKS if is_open else ConnectionOutcome.OFF
