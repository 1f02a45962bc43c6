"""Try a connection: what an event of one's own token would meet in a project now.

The event goes through the doors of every event of an agent's program, in their order: the token,
what it reaches and may do, pauses, and the hooks that give back. Behind the last door it ends:
nothing is stored, nothing is given, and the token does not count as used.
"""

from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from accounts import rights, tenancy
from accounts.caller import Caller
from accounts.errors import NotFound
from accounts.queries.credentials import TokenView, list_tokens, state_of
from accounts.tokens import TokenKind
from memory.injection.actions import policy
from memory.injection.actions.policy import Place
from memory.sessions.points import Point
from teams import queries as places
from teams.errors import RoleNotSufficient
from teams.models import Project
from teams.permissions import Act, require
from teams.queries import is_paused

BY_HOOKS = (Point.SYSTEM_PROMPT, Point.TOOL_RESULT)  # where programs are answered


class Outcome(StrEnum):
    """How far an event comes."""

    WORKS = "works"
    REVOKED = "revoked"
    EXPIRED = "expired"
    ELSEWHERE = "elsewhere"
    READ_ONLY = "read_only"
    PAUSED = "paused"
    TOKEN_PAUSED = "token_paused"  # noqa: S105  an outcome, not a password
    OFF = "off"


def try_connection(*, caller: Caller, ref: str, token_id: UUID, now: datetime) -> Outcome:
    """Return how far an event of a token comes.

    Raises NotFound for a project the caller cannot see, and for a token that is not their own.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        project = places.find_project(caller=caller, ref=ref)
    token = _own(caller, token_id)
    state = state_of(token=token, now=now)
    if state in {Outcome.REVOKED, Outcome.EXPIRED}:
        return Outcome(state)
    with tenancy.unit():
        return _at_doors(_agent(caller, token), project)


def _own(caller: Caller, token_id: UUID) -> TokenView:
    for token in list_tokens(caller=caller):
        if token.id == token_id and token.user_id == caller.user_id:
            return token
    raise NotFound(
        detail="You have no such token.", hint="Choose one of your own, or make one on this page."
    )


def _agent(caller: Caller, token: TokenView) -> Caller:
    """Return who calls with a token of the caller's own."""
    return replace(
        caller,
        user_id=caller.user_id if token.kind == TokenKind.PERSON else None,
        scopes=frozenset(token.scopes) & rights.scopes_of(role=caller.role),
        bound_projects=token.projects,
        source_interface=token.source_interface,
        agent=token.name,
        token_id=token.id,
    )


def _at_doors(agent: Caller, project: Project) -> Outcome:
    """Return the door at which an event ends. In a unit."""
    try:
        places.find_project(caller=agent, ref=str(project.id))
    except NotFound:
        return Outcome.ELSEWHERE
    try:
        require(caller=agent, act=Act.READ)
        require(caller=agent, act=Act.WRITE)
    except RoleNotSufficient:
        return Outcome.READ_ONLY
    if is_paused(project=project, token_id=None):
        return Outcome.PAUSED
    if is_paused(project=project, token_id=agent.token_id, user_id=agent.user_id):
        return Outcome.TOKEN_PAUSED
    place = Place(project=project)
    is_open = any(
        policy.allowance(caller=agent, place=place, point=point).is_open for point in BY_HOOKS
    )
    return Outcome.WORKS if is_open else Outcome.OFF
