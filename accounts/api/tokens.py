"""Tokens over REST: who one is with it; made, rotated and revoked with the scope admin."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from pydantic import Field

from accounts.actions import tokens
from accounts.actions.tokens import INTERFACES
from accounts.api.endpoints import Call, delete, get, post
from accounts.api.schemas import (
    Body,
    Choice,
    Identifier,
    Items,
    Name,
    OneOf,
    Resource,
    Result,
    Several,
)
from accounts.caller import TokenScope
from accounts.queries import credentials
from accounts.queries.credentials import TokenView
from accounts.token_format import TokenKind


class Organization(Result):
    """The organization of a credential."""

    id: UUID
    slug: str


class Me(Result):
    """The caller."""

    organization: Organization
    role: str
    scopes: tuple[str, ...]
    projects: tuple[UUID, ...] | None
    user_id: UUID | None
    token_id: UUID | None
    source_interface: str
    agent: str


@get("me", tag="me", scope=None, answer=Me)
def me(call: Call) -> dict[str, Any]:
    """Say who I am.

    The organization, role, scopes and bound projects of this credential.
    """
    caller = call.caller
    return {
        "organization": {"id": caller.organization_id, "slug": caller.organization_slug},
        "role": caller.role,
        "scopes": sorted(caller.scopes),
        "projects": caller.bound_projects,
        "user_id": caller.user_id,
        "token_id": caller.token_id,
        "source_interface": caller.source_interface,
        "agent": caller.agent,
    }


class NewToken(Body):
    """A token to make."""

    name: Name = Field(
        max_length=tokens.NAME_LENGTH,
        description="What it is for.",
        examples=["Claude Code on the laptop"],
    )
    scopes: Several[Choice[TokenScope]] = Field(
        (TokenScope.READ, TokenScope.WRITE),
        min_length=1,
        max_length=len(TokenScope),
        description="What it may be used for.",
    )
    projects: Several[Identifier] | None = Field(
        None,
        min_length=1,
        max_length=100,
        description="Ids of the only projects it reaches; without, all that its owner reaches.",
    )
    expires_in_days: int | None = Field(
        None,
        ge=1,
        le=tokens.MAXIMUM_DAYS,
        description="How long it lives; 90 where the organization allows that much.",
    )
    source_interface: Annotated[str, OneOf(INTERFACES)] = Field(
        "api", description="The tool that will hold it.", examples=["claude-code"]
    )
    kind: Choice[TokenKind] = Field(
        TokenKind.PERSON, description="pat acts in its owner's name, svc as an agent of its own."
    )


class TokenRotation(Body):
    """How a token is replaced."""

    overlap_hours: int = Field(
        tokens.OVERLAP_HOURS,
        ge=0,
        le=tokens.OVERLAP_HOURS,
        description="How long the old token still works.",
        examples=[24],
    )


class Token(Result):
    """The token."""

    resource: ClassVar = Resource("tokens/{id}", "/id")
    id: UUID
    name: str
    kind: TokenKind
    last_four: str
    scopes: tuple[str, ...]
    projects: tuple[UUID, ...] | None
    source_interface: str
    user_id: UUID
    user_name: str
    state: Literal["active", "rotated", "expired", "revoked"]
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    last_used_ip: str | None
    last_used_agent: str
    last_used_hook: int | None
    replaced_by: UUID | None
    revoked_at: datetime | None


class IssuedToken(Result):
    """The token; `text` is shown now and never again."""

    resource: ClassVar = Resource("tokens/{id}", "/token/id")
    text: str
    token: Token


@post(
    "tokens", tag="tokens", scope=TokenScope.ADMIN, answer=IssuedToken, status=201, idempotent=False
)
def create_token(call: Call, body: NewToken) -> dict[str, Any]:
    """Make a token."""
    new = tokens.NewToken(**{**dict(body), "scopes": frozenset(body.scopes)})
    return _issued(tokens.create_token(caller=call.caller, new=new, now=call.now), call.now)


@get("tokens", tag="tokens", answer=Items[Token])
def list_tokens(call: Call) -> list[dict[str, Any]]:
    """List tokens.

    One's own; a manager sees all, and a token without the scope admin only itself.
    """
    return [_token(view, call.now) for view in credentials.list_tokens(caller=call.caller)]


@post(
    "tokens/{id}/rotate",
    tag="tokens",
    scope=TokenScope.ADMIN,
    answer=IssuedToken,
    status=201,
    idempotent=False,
)
def rotate_token(call: Call, body: TokenRotation) -> dict[str, Any]:
    """Replace a token by a new one."""
    issued = tokens.rotate_token(
        caller=call.caller, token_id=call.id, overlap_hours=body.overlap_hours, now=call.now
    )
    return _issued(issued, call.now)


@delete("tokens/{id}", tag="tokens", scope=TokenScope.ADMIN, answer=Token)
def revoke_token(call: Call) -> dict[str, Any]:
    """Revoke a token at once."""
    view = tokens.revoke_token(caller=call.caller, token_id=call.id, now=call.now)
    return _token(view, call.now)


def _issued(issued: tokens.IssuedToken, now: datetime) -> dict[str, Any]:
    return {"text": issued.text, "token": _token(issued.token, now)}


def _token(view: TokenView, now: datetime) -> dict[str, Any]:
    return {**asdict(view), "state": credentials.state_of(token=view, now=now)}
