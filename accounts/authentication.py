"""From a token or a session to a Caller: the same for REST, MCP, sockets and pages.

An edge calls one of the two, then works inside `entered(caller)`. Nothing is cached: whoever loses
a role, a membership or a token has lost it at the next request.

How often an address tries to come in by guessing is counted here too, over all processes and
organizations. Accounts are guarded by their own limit (five failed sign-ins in five minutes,
allauth's). This one slows who guesses tokens and invitation links, or floods what is open to
everybody. Only failures are counted, so nobody behind a shared address is locked out by a neighbor,
and a good credential costs nothing. IPv6 addresses are counted by their /64, which one customer has
whole.
"""

import ipaddress
import logging
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from django.core.cache import cache

from accounts import live, queries, tenancy
from accounts.actions import tokens
from accounts.caller import Caller
from accounts.errors import RateLimited, Unavailable
from accounts.token_format import UnknownToken

log = logging.getLogger(__name__)

AGENT_LENGTH: Final = 120  # characters, the column's
WINDOW_SECONDS: Final = 60
GUESSES: Final = 100  # a minute; a default: a busy office with one wrong token stays below
NETWORK_BITS: Final = 64  # of an IPv6 address


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
        caller, row = queries.verify(text=text, agent=software, now=now)
    except UnknownToken:
        _count_guess(ip, now)
        raise
    is_new = tokens.note_use(row=row, text=text, agent=caller.agent, ip=ip, hook=hook, now=now)
    return replace(caller, newly_seen=True) if is_new else caller


def caller_from_session(*, user_id: UUID, organization_slug: str) -> Caller:
    """Return who is signed in, inside the organization the address names.

    Raises NotFound for one that does not exist and for one the person is not in, alike.
    """
    return queries.person(user_id=user_id, slug=organization_slug)


def entered(caller: Caller) -> AbstractContextManager[tenancy.Tenant]:
    """Enter the caller's organization until the block ends."""
    return tenancy.enter(caller.tenant)


def _count_guess(ip: str, now: datetime) -> None:
    """Count a wrong token. Without Redis it is let be: 190 bits are not found by guessing."""
    if live.redis.is_active():
        return
    try:
        count_try(kind="token", address=ip, now=now)
    except Unavailable as error:
        live.redis.start()
        log.warning("Wrong tokens are not counted, Redis is away: %r", error.__cause__)


def check_tries(*, kind: str, address: str, now: datetime, most: int = GUESSES) -> None:
    """Look whether an address has tries left, and take none: before a guess is compared.

    Raises RateLimited after `most` that were counted this minute, Unavailable without Redis.
    """
    _check(kind, address, now, most, is_try=False)


def count_try(*, kind: str, address: str, now: datetime, most: int = GUESSES) -> None:
    """Count a try from an address.

    Raises RateLimited beyond `most` a minute, Unavailable when it cannot be counted.
    """
    _check(kind, address, now, most, is_try=True)


def network(*, address: str) -> str:
    """Return what of an address is counted; text that is no address is one and the same."""
    try:
        known = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(known, ipaddress.IPv4Address):
        return str(known)
    whole = ipaddress.IPv6Network((known, NETWORK_BITS), strict=False)
    return str(known.ipv4_mapped or whole.network_address)


def _check(kind: str, address: str, now: datetime, most: int, *, is_try: bool) -> None:
    window, passed = divmod(int(now.timestamp()), WINDOW_SECONDS)
    key = f"tries:{kind}:{network(address=address)}:{window}"
    with live.needs_redis(
        detail="This is not possible right now.",
        hint="The store that counts attempts is unavailable. Try again in a few seconds.",
    ):
        if is_try:
            before = int(cache.count(key, seconds=2 * WINDOW_SECONDS)) - 1  # type: ignore[attr-defined]
        else:
            before = int(cache.get(key, 0))
    if before >= most:
        raise RateLimited(
            detail="Too many attempts from this address.",
            retry_after_seconds=WINDOW_SECONDS - passed,
        )
