"""How many calls a credential may make a minute, said in RateLimit headers.

REST and MCP count every call; of pages those count that cost more the more is sent, for the person.
Counted in Redis, so the limit holds over all web processes. Without Redis calls are let through:
reads and writes must work then, and sign-in has limits of its own. After a failure the
counter rests a few seconds, so that a Redis that hangs does not delay every call. What costs more
the more is sent counts as several calls, by its size.

The cache itself is Django's own for Redis with one client a process. Django keeps a cache object
per request under ASGI, and each made connections of its own: opening one took longer than what was
asked over it.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from django.core.cache import cache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

from accounts import live, tenancy
from accounts.caller import Caller
from accounts.errors import RateLimited
from accounts.messages import message
from config import admission

log = logging.getLogger(__name__)

CALLS_A_MINUTE: Final = 12_000  # a credential; a default, far above any honest agent
BYTES_A_CALL: Final = 16_384  # of what is weighed: looked through in the time of a search
BYTES_MOST: Final = 8_388_608  # that are weighed: a larger body is refused for its size
WINDOW_SECONDS: Final = 60


_clients: dict[tuple[str, ...], Any] = {}
_counting: dict[tuple[str, ...], Any] = {}  # to make one for a call took half of the counting


class SharedRedisCache(RedisCache):
    """Django's cache over connections that all threads of the process share."""

    _servers: list[str]
    _class: Any
    _options: dict[str, Any]

    @cached_property
    def _cache(self) -> Any:
        client = self._class(self._servers, **self._options)
        return _clients.setdefault(tuple(self._servers), client)

    def count(self, key: str, *, seconds: int, by: int = 1) -> int:
        """Add to a counter that ends `seconds` after it was begun; return it."""
        servers, name = tuple(self._servers), self.make_and_validate_key(key)
        redis = _counting.get(servers)
        if redis is None:
            redis = _counting[servers] = self._cache.get_client(name, write=True)
        counted = int(redis.incr(name, by))
        if counted == by:
            redis.expire(name, seconds)
        return counted


@dataclass(slots=True, kw_only=True)
class Counter:
    """Counts calls."""

    limit: int = CALLS_A_MINUTE

    def count(self, *, caller: Caller, now_seconds: float, size: int = 0) -> Mapping[str, str]:
        """Count a call of the entered organization; return the headers that say what is left.

        `size` are the bytes by which it is weighed. Raises RateLimited.
        """
        admission.gate.learn(organization_id=caller.organization_id)
        return self._counted(caller, now_seconds, 1 + _further(size))

    def weigh(self, *, caller: Caller, now_seconds: float, size: int) -> None:
        """Count what a call that was counted already costs by its size. Raises RateLimited."""
        if further := _further(size):
            self._counted(caller, now_seconds, further)

    def _counted(self, caller: Caller, now_seconds: float, calls: int) -> Mapping[str, str]:
        window, passed = divmod(int(now_seconds), WINDOW_SECONDS)
        used = _increment(f"{caller.token_id or caller.user_id}", window, calls)
        left = WINDOW_SECONDS - passed
        if used > self.limit:
            raise RateLimited(
                detail=message("More than {most:,} calls a minute.", most=self.limit),
                retry_after_seconds=left,
            )
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.limit - used),
            "RateLimit-Reset": str(left),
            "RateLimit-Policy": f'"minute";q={self.limit};w={WINDOW_SECONDS}',
        }


def _increment(who: str, window: int, calls: int) -> int:
    """Add to the calls of a credential in a minute, and return them; 0 where Redis is away."""
    if live.redis.is_active():
        return 0
    key = tenancy.key("calls", who, str(window))
    try:
        return int(cache.count(key, seconds=2 * WINDOW_SECONDS, by=calls))  # type: ignore[attr-defined]
    except (RedisError, OSError) as error:
        log.warning("Calls are not counted, Redis is away: %s", error.__class__.__name__)
        live.redis.start()
        return 0


def _further(size: int) -> int:
    """Return how many calls more a size counts."""
    return min(size, BYTES_MOST) // BYTES_A_CALL


counter = Counter()
