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
from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True)
class ParseSlots:
    """The calls whose files this process reads, by organization."""

    _held: Counter[UUID] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold a slot of the entered organization. Raises RateLimited where all are taken."""
        organization_id = tenancy.current().organization_id
        with self._lock:
            if self._held[organization_id] >= AT_ONCE:
                raise _full()
            self._held[organization_id] += 1
        try:
            with _slot_of_all_processes():
                yield
        finally:
            with self._lock:
                self._held.subtract((organization_id,))
                if not self._held[organization_id]:
                    del self._held[organization_id]


@contextmanager
def _slot_of_all_processes() -> Iterator[None]:
    """Hold a slot that all processes see, unless Redis is away. Raises RateLimited."""
    holder = uuid4().hex
    key = None if redis_backoff.redis.is_active() else _take(holder)
    try:
        yield
    finally:
        if key is not None:
            _free(key, holder)


def _take(holder: str) -> str | None:
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
