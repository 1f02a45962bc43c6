"""How often an address tries to come in by guessing, over all processes and organizations.

Accounts are guarded by their own limit (five failed sign-ins in five minutes, allauth's). This one
slows who guesses tokens and invitation links, or floods what is open to everybody. Only failures
are counted, so nobody behind a shared address is locked out by a neighbor, and a good credential
costs nothing. IPv6 addresses are counted by their /64, which one customer has whole.
"""

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from django.core.cache import cache
from redis.exceptions import RedisError

from accounts.errors import RateLimited, Unavailable

WINDOW_SECONDS: Final = 60
GUESSES: Final = 100  # a minute; a default: a busy office with one wrong token stays below
NETWORK_BITS: Final = 64  # of an IPv6 address


def check_tries(*, kind: str, address: str, now: datetime, most: int = GUESSES) -> None:
    """Look whether an address has tries left, and take none: before a guess is compared.

    Raises RateLimited after `most` that were counted this minute, Unavailable without Redis.
    """
    key, left_seconds = _window(kind, address, now)
    with _reached():
        used = int(cache.get(key, 0))
    if used >= most:
        raise _too_many(left_seconds)


def count_try(*, kind: str, address: str, now: datetime, most: int = GUESSES) -> None:
    """Count a try from an address.

    Raises RateLimited beyond `most` a minute, Unavailable when it cannot be counted.
    """
    key, left_seconds = _window(kind, address, now)
    with _reached():
        used = int(cache.count(key, seconds=2 * WINDOW_SECONDS))  # type: ignore[attr-defined]
    if used > most:
        raise _too_many(left_seconds)


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


def _window(kind: str, address: str, now: datetime) -> tuple[str, int]:
    """Return the key under which tries of this minute are counted, and its seconds left."""
    window, passed = divmod(int(now.timestamp()), WINDOW_SECONDS)
    return f"tries:{kind}:{network(address=address)}:{window}", WINDOW_SECONDS - passed


@contextmanager
def _reached() -> Iterator[None]:
    try:
        yield
    except (RedisError, OSError) as error:
        raise Unavailable(
            detail="This is not possible right now.",
            hint="The store that counts attempts is unavailable. Try again in a few seconds.",
        ) from error


def _too_many(left_seconds: int) -> RateLimited:
    return RateLimited(
        detail="Too many attempts from this address.", retry_after_seconds=left_seconds
    )
