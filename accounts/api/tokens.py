"""Tokens over REST: who one is with it; made, rotated and revoked with the scope admin.

Calls without a credential report tokens found in the open (answered alike whether they are real or
not) and sign in programs that have no browser (RFC 8628): ask for codes, then for the token. What
those take is JSON, and refusals are problem documents as everywhere, whose `code` is the `error` of
the RFC.
"""

from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Annotated, Any, ClassVar, Final, Literal
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from pydantic import Field

from accounts import audit, queries, token_format
from accounts.actions import devices, tokens
from accounts.actions.tokens import INTERFACES, end_leaked
from accounts.api import schemas
from accounts.api.endpoints import Call, delete, get, post
from accounts.caller import TokenScope
from accounts.queries import TokenView
from accounts.token_format import TokenKind

_post = partial(post, tag="tokens", idempotent=False)
_post_publicly = partial(_post, scope=None, public=True)


class Organization(schemas.Result):
    """The organization of a credential."""

    id: UUID
    slug: str


class Me(schemas.Result):
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


class NewToken(schemas.Body):
    """A token to make."""

    name: schemas.Name = Field(
        max_length=tokens.NAME_LENGTH,
        description="What it is for.",
        examples=["Claude Code on the laptop"],
    )
    scopes: schemas.Several[schemas.Choice[TokenScope]] = Field(
        (TokenScope.READ, TokenScope.WRITE),
        min_length=1,
        max_length=len(TokenScope),
        description="What it may be used for.",
    )
    projects: schemas.Several[schemas.Identifier] | None = Field(
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
    source_interface: Annotated[str, schemas.OneOf(INTERFACES)] = Field(
        "api", description="The tool that will hold it.", examples=["claude-code"]
    )
    kind: schemas.Choice[TokenKind] = Field(
        TokenKind.PERSON, description="pat acts in its owner's name, svc as an agent of its own."
    )


class TokenRotation(schemas.Body):
    """How a token is replaced."""

    overlap_hours: int = Field(
        tokens.OVERLAP_HOURS,
        ge=0,
        le=tokens.OVERLAP_HOURS,
        description="How long the old token still works.",
        examples=[24],
    )


@schemas.fields_of(TokenView)
class Token(schemas.Result):
    """The token."""

    resource: ClassVar = schemas.Resource("tokens/{id}", "/id")
    scopes: tuple[str, ...]
    state: Literal["active", "rotated", "expired", "revoked"]


class IssuedToken(schemas.Result):
    """The token; `text` is shown now and never again."""

    resource: ClassVar = schemas.Resource("tokens/{id}", "/token/id")
    text: str
    token: Token


@_post("tokens", scope=TokenScope.ADMIN, answer=IssuedToken, status=201)
def create_token(call: Call, body: NewToken) -> dict[str, Any]:
    """Make a token."""
    new = tokens.NewToken(**{**dict(body), "scopes": frozenset(body.scopes)})
    return _issued(tokens.create_token(caller=call.caller, new=new, now=call.now), call.now)


@get("tokens", tag="tokens", answer=schemas.Items[Token])
def list_tokens(call: Call) -> list[dict[str, Any]]:
    """List tokens.

    One's own; a manager sees all, and a token without the scope admin only itself.
    """
    return [_token(view, call.now) for view in queries.list_tokens(caller=call.caller)]


@_post("tokens/{id}/rotate", scope=TokenScope.ADMIN, answer=IssuedToken, status=201)
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
    return {**asdict(view), "state": queries.state_of(token=view, now=now)}


MOST: Final = 50  # texts a report
LONGEST: Final = 4_096  # characters of a text; what a scanner shows around a finding


class LeakReport(schemas.Body):
    """Tokens that somebody found."""

    tokens: schemas.Several[Annotated[schemas.Name, Field(max_length=LONGEST)]] = Field(
        min_length=1,
        max_length=MOST,
        description="The tokens, or texts in which they stand.",
        examples=[["crn_pat_…"]],
    )


class LeakReceipt(schemas.Result):
    """Received."""

    received: int


class TokenPattern(schemas.Result):
    """The pattern."""

    name: str
    pattern: str
    prefixes: tuple[str, ...]
    length: int
    checksum: str
    report: str


@_post_publicly("tokens/leaked", answer=LeakReceipt, status=202)
def report_leak(call: Call, body: LeakReport) -> dict[str, Any]:
    """Report tokens found in the open.

    Needs no credential. Tokens that are real are revoked at once and their owners told; the answer
    is the same for those that are not.
    """
    for text in body.tokens:
        end_leaked(text=text, now=call.now)
    return {"received": len(body.tokens)}


@get("tokens/pattern", tag="tokens", scope=None, public=True, answer=TokenPattern)
def token_pattern(call: Call) -> dict[str, Any]:
    """How a token looks, for scanners.

    Needs no credential.
    """
    del call
    return {
        "name": "Cairn API token",
        "pattern": token_format.PUBLISHED_PATTERN,
        "prefixes": tuple(f"crn_{kind}_" for kind in TokenKind),
        "length": token_format.LENGTH,
        "checksum": (
            "The last 6 characters are the CRC-32 of all characters before them, written in base "
            "62 with the digits 0-9A-Za-z, most significant first, padded with 0."
        ),
        "report": "/api/v1/tokens/leaked",
    }


PAGE: Final = "/device"  # where the person goes
CODE_MOST: Final = 100  # characters of a device code


class DeviceRequest(schemas.Body):
    """A program that would sign in."""

    client: schemas.Name = Field(
        max_length=tokens.NAME_LENGTH,
        description="How the program calls itself, and where it runs; the person is shown it.",
        examples=["cairn on ada-laptop"],
    )
    scopes: schemas.Several[schemas.Choice[TokenScope]] = Field(
        (TokenScope.READ, TokenScope.WRITE),
        min_length=1,
        max_length=len(TokenScope),
        description="What it would do; the person may lend less.",
    )


class DeviceCode(schemas.Body):
    """A program that waits for its token."""

    device_code: schemas.Name = Field(
        max_length=CODE_MOST,
        description="The code that the program keeps to itself.",
        examples=["GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS"],
    )


class DeviceCodes(schemas.Result):
    """The codes."""

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str
    expires_in: int
    interval: int


class DeviceToken(schemas.Result):
    """The token."""

    access_token: str
    token_type: str
    expires_in: int
    scope: str
    organization: str


@_post_publicly("device/code", answer=DeviceCodes)
def ask_device_code(call: Call, body: DeviceRequest) -> dict[str, Any]:
    """Begin to sign in a program without a browser.

    Needs no credential. A person types `user_code` at `verification_uri` (RFC 8628).
    """
    device_code, user_code = devices.ask(
        client=body.client, address=audit.origin().ip, scopes=body.scopes, now=call.now
    )
    page = f"{settings.BASE_URL}{PAGE}"
    return {
        "device_code": device_code,
        "user_code": user_code,
        "verification_uri": page,
        "verification_uri_complete": f"{page}?{urlencode({'code': user_code})}",
        "expires_in": devices.LIVES_SECONDS,
        "interval": devices.INTERVAL_SECONDS,
    }


@_post_publicly("device/token", answer=DeviceToken)
def fetch_device_token(call: Call, body: DeviceCode) -> dict[str, Any]:
    """Fetch the token of a program that a person has approved.

    Needs no credential. Ask every `interval` seconds while the refusal's `code` is
    `authorization_pending`, and 5 s less often after `slow_down`; `access_denied` and
    `expired_token` end it. The token is shown once; where that answer was lost, ask again: until it
    was used, it is replaced by a new one.
    """
    issued, organization = devices.fetch(device_code=body.device_code, now=call.now)
    token = issued.token
    return {
        "access_token": issued.text,
        "token_type": "Bearer",
        "expires_in": int((token.expires_at - call.now).total_seconds()),
        "scope": " ".join(token.scopes),
        "organization": organization,
    }
