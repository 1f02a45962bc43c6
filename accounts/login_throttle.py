"""How often an address tries to come in by guessing, over all processes and organizations.

Accounts are guarded by their own limit (five failed sign-ins in five minutes, allauth's). This one
slows who guesses tokens and invitation links, or floods what is open to everybody. Only failures
are counted, so nobody behind a shared address is locked out by a neighbor, and a good credential
costs nothing. IPv6 addresses are counted by their /64, which one customer has whole.
"""

import ipaddress
from typing import Final

from django.core.cache import cache

from accounts.errors import RateLimited

WINDOW_SECONDS: Final = 60
GUESSES: Final = 100  # a minute; ours: a busy office with one wrong token stays below
NETWORK_BITS: Final = 64  # of an IPv6 address


def check(*, kind: str, address: str, most: int = GUESSES, now_seconds: float) -> None:
    """Look whether an address may try; this try is not counted.

    Raises RateLimited after `most` that were counted this minute, RedisError where it is away.
    """
    window, passed = divmod(int(now_seconds), WINDOW_SECONDS)
    if int(cache.get(_key(kind, address, window), 0)) >= most:
        raise _too_many(passed)


def count(*, kind: str, address: str, most: int = GUESSES, now_seconds: float) -> None:
    """Count a try from an address.

    Raises RateLimited beyond `most` a minute, RedisError when it cannot be counted.
    """
    window, passed = divmod(int(now_seconds), WINDOW_SECONDS)
    key = _key(kind, address, window)
    if int(cache.count(key, seconds=2 * WINDOW_SECONDS)) > most:  # type: ignore[attr-defined]
        raise _too_many(passed)


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


def _key(kind: str, address: str, window: int) -> str:
    return f"tries:{kind}:{network(address=address)}:{window}"


def _too_many(passed: int) -> RateLimited:
    return RateLimited(
        detail="Too many tries from this address.", retry_after_seconds=WINDOW_SECONDS - passed
    )
