"""How many calls of one organization have files read at a time.

All calls of a process share one parser, and each that waits for it keeps a thread. So nobody's
calls take all of them: what is more than a few is told to come again. The slots are in Redis, where
all processes see them; no call holds a connection to the database meanwhile. One whose process died
is free when its lease ends. Where Redis is away, each process counts for itself.
"""

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final
from uuid import UUID, uuid4

from django.core.cache import cache
from redis.exceptions import RedisError

from accounts import redis_backoff, tenancy
from accounts.errors import RateLimited
from accounts.messages import message

# Defaults, not measured.
AT_ONCE: Final = 2  # calls of an organization
AGAIN_SECONDS: Final = 5  # until one of them may be done, which takes less as a rule
LEASE_SECONDS: Final = 120  # of a slot; a call begins no file after 20, and one takes 10 at most
log = logging.getLogger(__name__)


class ParseSlots:
    """The calls whose files this process reads, by organization."""

    def __init__(self) -> None:
        self._held: Counter[UUID] = Counter()
        self._lock = Lock()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold a slot of the entered organization. Raises RateLimited where all are taken."""
        organization_id, holder = tenancy.current().organization_id, uuid4().hex
        with self._lock:
            if self._held[organization_id] >= AT_ONCE:
                raise _full()
            self._held[organization_id] += 1
        key = None
        try:
            key = _take(holder)
            yield
        finally:
            if key is not None:
                _free(key, holder)
            with self._lock:
                self._held -= Counter((organization_id,))  # leaves no count of zero


def _take(holder: str) -> str | None:
    """Take a slot that all processes see; None where Redis is away. Raises RateLimited."""
    if redis_backoff.redis.is_active():
        return None
    try:
        for number in range(AT_ONCE):
            key = tenancy.key("reading", str(number))
            if cache.add(key, holder, LEASE_SECONDS):
                return key
    except RedisError as error:
        redis_backoff.redis.start()
        log.warning("Calls that are read are counted in this process alone: %s", error)
        return None
    raise _full()


def _free(key: str, holder: str) -> None:
    """Free a slot, unless its lease has ended and somebody else has it."""
    try:
        if cache.get(key) == holder:
            cache.delete(key)
    except RedisError as error:
        redis_backoff.redis.start()
        log.warning("A slot of a call that was read is free when its lease ends: %s", error)


def _full() -> RateLimited:
    return RateLimited(
        detail=message("{count} calls of this organization are being read.", count=AT_ONCE),
        retry_after_seconds=AGAIN_SECONDS,
    )


READING: Final = ParseSlots()
