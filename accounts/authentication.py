"""From a token or a session to a Caller: the same for REST, MCP, sockets and pages.

An edge calls one of the two, then works inside `entered(caller)`. Nothing is cached: whoever loses
a role, a membership or a token has lost it at the next request.
"""

import logging
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import login_throttle, redis_backoff, tenancy
from accounts.actions import tokens
from accounts.caller import Caller
from accounts.errors import Unavailable
from accounts.queries import credentials, directory
from accounts.token_format import UnknownToken

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
    software = "".join(letter for letter in agent if letter.isprintable()).strip()[:AGENT_LENGTH]
    try:
        caller, row = credentials.verify(text=text, agent=software, now=now)
    except UnknownToken:
        _count_guess(ip, now)
        raise
    is_new = tokens.note_use(row=row, text=text, agent=caller.agent, ip=ip, hook=hook, now=now)
    return replace(caller, newly_seen=True) if is_new else caller


def caller_from_session(*, user_id: UUID, organization_slug: str) -> Caller:
    """Return who is signed in, inside the organization the address names.

    Raises NotFound for one that does not exist and for one the person is not in, alike.
    """
    return directory.person(user_id=user_id, slug=organization_slug)


def entered(caller: Caller) -> AbstractContextManager[tenancy.Tenant]:
    """Enter the caller's organization until the block ends."""
    return tenancy.enter(caller.tenant)


def _count_guess(ip: str, now: datetime) -> None:
    """Count a wrong token. Without Redis it is let be: 190 bits are not found by guessing."""
    if redis_backoff.redis.is_active():
        return
    try:
        login_throttle.count_try(kind="token", address=ip, now=now)
    except Unavailable as error:
        redis_backoff.redis.start()
        log.warning("Wrong tokens are not counted, Redis is away: %r", error.__cause__)
