"""API tokens over REST: made, rotated and revoked with the scope admin."""

from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from accounts.actions import tokens
from accounts.actions.tokens import INTERFACES, IssuedToken, NewToken
from accounts.api.endpoints import Answer, Ask, Endpoint, Reply, path_id
from accounts.api.shapes import Field, Identifier, Record, Several, Text, Whole
from accounts.caller import TokenScope
from accounts.queries import credentials
from accounts.queries.credentials import TokenView
from accounts.tokens import TokenKind

SCOPES: Final = tuple(scope.value for scope in TokenScope)
NEW_TOKEN: Final = Record(
    name="NewToken",
    fields=(
        Field(
            name="name",
            shape=Text(largest=tokens.NAME_LENGTH, smallest=1),
            says="What it is for.",
            required=True,
        ),
        Field(
            name="scopes",
            shape=Several(of=Text(largest=10, choices=SCOPES), largest=len(SCOPES), smallest=1),
            says="What it may be used for.",
            default=("read", "write"),
        ),
        Field(
            name="projects",
            shape=Several(of=Identifier(), largest=100, smallest=1),
            says="Ids of the only projects it reaches; without, all that its owner reaches.",
        ),
        Field(
            name="expires_in_days",
            shape=Whole(smallest=1, largest=tokens.MAXIMUM_DAYS),
            says="How long it lives; 90 where the organization allows that much.",
        ),
        Field(
            name="source_interface",
            shape=Text(largest=20, choices=INTERFACES),
            says="The tool that will hold it.",
            default="api",
        ),
        Field(
            name="kind",
            shape=Text(largest=3, choices=tuple(kind.value for kind in TokenKind)),
            says="pat acts in its owner's name, svc as an agent of its own.",
            default=TokenKind.PERSON.value,
        ),
    ),
)
ROTATION: Final = Record(
    name="TokenRotation",
    fields=(
        Field(
            name="overlap_hours",
            shape=Whole(smallest=0, largest=tokens.OVERLAP_HOURS),
            says="How long the old token still works.",
            default=tokens.OVERLAP_HOURS,
        ),
    ),
)
EXAMPLE: Final[dict[str, Any]] = {
    "id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a78",
    "name": "Claude Code on the laptop",
    "kind": "pat",
    "last_four": "x7Qd",
    "scopes": ["read", "write"],
    "projects": None,
    "source_interface": "claude-code",
    "user_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a01",
    "user_name": "Ada",
    "state": "active",
    "created_at": "2026-11-20T12:00:00Z",
    "expires_at": "2027-02-18T12:00:00Z",
    "last_used_at": None,
    "last_used_ip": None,
    "last_used_agent": "",
    "last_used_hook": None,
    "replaced_by": None,
    "revoked_at": None,
}


def create(ask: Ask) -> Answer:
    """Make a token; its text is in this answer and nowhere else."""
    body = ask.body
    new = NewToken(
        name=body["name"],
        scopes=frozenset(TokenScope(scope) for scope in body["scopes"]),
        projects=body["projects"],
        expires_in_days=body["expires_in_days"],
        source_interface=body["source_interface"],
        kind=TokenKind(body["kind"]),
    )
    return _issued(tokens.create_token(caller=ask.caller, new=new, now=ask.now), ask.now)


def index(ask: Ask) -> Answer:
    """Return the tokens the caller may see, newest first."""
    views = credentials.list_tokens(caller=ask.caller)
    return Answer(body={"items": [_token(view, ask.now) for view in views]})


def rotate(ask: Ask) -> Answer:
    """Replace a token; the old one works until the overlap ends."""
    issued = tokens.rotate_token(
        caller=ask.caller,
        token_id=path_id(ask=ask),
        overlap_hours=ask.body["overlap_hours"],
        now=ask.now,
    )
    return _issued(issued, ask.now)


def revoke(ask: Ask) -> Answer:
    """End a token at once."""
    view = tokens.revoke_token(caller=ask.caller, token_id=path_id(ask=ask), now=ask.now)
    return Answer(body=_token(view, ask.now))


def _issued(issued: IssuedToken, now: datetime) -> Answer:
    return Answer(status=201, body={"text": issued.text, "token": _token(issued.token, now)})


def _token(view: TokenView, now: datetime) -> dict[str, Any]:
    return {**asdict(view), "state": credentials.state_of(token=view, now=now)}


ISSUED: Final = Reply(
    status=201,
    says="The token; `text` is shown now and never again.",
    schema="IssuedToken",
    example={"text": "crn_pat_…", "token": EXAMPLE},
)
ENDPOINTS: Final = (
    Endpoint(
        method="POST",
        path="tokens",
        name="create_token",
        tag="tokens",
        summary="Make a token",
        scope=TokenScope.ADMIN,
        run=create,
        body=NEW_TOKEN,
        example={"name": "Claude Code on the laptop", "source_interface": "claude-code"},
        replies=(ISSUED,),
    ),
    Endpoint(
        method="GET",
        path="tokens",
        name="list_tokens",
        tag="tokens",
        summary="List tokens",
        says="One's own; a manager sees all, and a token without the scope admin only itself.",
        scope=TokenScope.READ,
        run=index,
        replies=(Reply(status=200, says="Tokens.", schema="Tokens", example={"items": [EXAMPLE]}),),
    ),
    Endpoint(
        method="POST",
        path="tokens/{id}/rotate",
        name="rotate_token",
        tag="tokens",
        summary="Replace a token by a new one",
        scope=TokenScope.ADMIN,
        run=rotate,
        body=ROTATION,
        example={"overlap_hours": 24},
        replies=(ISSUED,),
    ),
    Endpoint(
        method="DELETE",
        path="tokens/{id}",
        name="revoke_token",
        tag="tokens",
        summary="Revoke a token at once",
        scope=TokenScope.ADMIN,
        run=revoke,
        replies=(Reply(status=200, says="The token, revoked.", schema="Token"),),
    ),
)
