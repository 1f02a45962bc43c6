"""From a token or a session to a Caller: the same for REST, MCP, sockets and pages.

An edge calls one of the two, then works inside `entered(caller)`. Nothing is cached: whoever loses
a role, a membership or a token has lost it at the next request.
"""

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import Final
from uuid import UUID

from redis.exceptions import RedisError

from accounts import login_throttle, redis_backoff, tenancy
from accounts.actions import tokens as token_actions
from accounts.caller import Caller
from accounts.errors import Unavailable
from accounts.queries import credentials, directory
from accounts.tokens import UnknownToken

log = logging.getLogger(__name__)

AGENT_LENGTH: Final = 120  # characters, the column's


def caller_from_token(
    *, text: str, agent: str, ip: str, now: datetime, hook: int | None = None
) -> Caller:
    """Return who presents this token; call it before any transaction is open.

    `agent` names the software (empty: the token's name stands in), `ip` the peer, `hook` the
    version of the hook script where one calls. Raises InvalidToken, and RateLimited for an address
    that guesses.
    """
    try:
        credential = credentials.verify(text=text, now=now)
    except UnknownToken:
        _count_guess(ip, now)
        raise
    software = _printable(agent) or credential.name
    use = token_actions.Use(agent=software, ip=ip, hook=hook)
    is_new = token_actions.note_use(credential=credential, use=use, now=now)
    return Caller(
        user_id=credential.user_id,
        organization_id=credential.organization_id,
        organization_slug=credential.organization_slug,
        schema_name=credential.schema_name,
        role=credential.role,
        scopes=credential.scopes,
        bound_projects=credential.projects,
        source_interface=credential.source_interface,
        agent=software,
        token_id=credential.token_id,
        newly_seen=is_new,
    )


def caller_from_session(*, user_id: UUID, organization_slug: str) -> Caller:
    """Return who is signed in, inside the organization the address names.

    Raises NotFound for one that does not exist and for one the person is not in, alike.
    """
    return directory.person(user_id=user_id, slug=organization_slug)


def entered(caller: Caller) -> AbstractContextManager[tenancy.Tenant]:
    """Enter the caller's organization until the block ends."""
    return tenancy.enter(
        organization_id=caller.organization_id,
        slug=caller.organization_slug,
        schema_name=caller.schema_name,
    )


def count_try(
    *, kind: str, address: str, now: datetime, most: int = login_throttle.GUESSES
) -> None:
    """Count what a stranger does that may not be done without limit.

    Raises RateLimited, and Unavailable when it cannot be counted.
    """
    with _counting():
        login_throttle.count(kind=kind, address=address, most=most, now_seconds=now.timestamp())


def check_tries(
    *, kind: str, address: str, now: datetime, most: int = login_throttle.GUESSES
) -> None:
    """Look whether a stranger has tries left, and take none: before a guess is compared.

    Raises RateLimited, and Unavailable when it cannot be looked up.
    """
    with _counting():
        login_throttle.check(kind=kind, address=address, most=most, now_seconds=now.timestamp())


@contextmanager
def _counting() -> Iterator[None]:
    try:
        yield
    except (RedisError, OSError) as error:
        raise Unavailable(
            detail="This is not possible right now.",
            hint="The store that counts attempts is away. Try again in a few seconds.",
        ) from error


def _count_guess(ip: str, now: datetime) -> None:
    """Count a wrong token. Without Redis it is let be: 190 bits are not found by guessing."""
    if redis_backoff.redis.is_active():
        return
    try:
        login_throttle.count(kind="token", address=ip, now_seconds=now.timestamp())
    except (RedisError, OSError) as error:
        redis_backoff.redis.start()
        log.warning("Wrong tokens are not counted, Redis is away: %s", type(error).__name__)


def _printable(agent: str) -> str:
    return "".join(letter for letter in agent if letter.isprintable()).strip()[:AGENT_LENGTH]
