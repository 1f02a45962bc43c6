"""The cache: Django's own for Redis, with one client a process.

Django keeps a cache object per request under ASGI, and each made connections of its own: opening
one took longer than what was asked over it.
"""

from functools import cached_property
from typing import Any

from django.core.cache.backends.redis import RedisCache

_clients: dict[tuple[str, ...], Any] = {}


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
        """Add to a counter that ends `seconds` after it was last added to; return it."""
        with self._cache.get_client(key, write=True).pipeline(transaction=False) as pipeline:
            pipeline.incr(self.make_and_validate_key(key), by)
            pipeline.expire(self.make_and_validate_key(key), seconds)
            return int(pipeline.execute()[0])
