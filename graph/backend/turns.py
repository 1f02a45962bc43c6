"""How many calls of one organization have files read at a time (spec 5.2, 10.5).

All calls of this process share one parser, and each that waits for it keeps a thread. So nobody's
calls take all of them: what is more than a few is told to come again.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.errors import RateLimited
from accounts.sentences import sentence

AT_ONCE: Final = 2  # calls of an organization; ours
AGAIN_SECONDS: Final = 5  # until one of them may be done, which takes less as a rule; ours


@dataclass(frozen=True, slots=True)
class Turns:
    """Counts the calls that are being read, by organization; shared by threads."""

    _held: Counter[UUID] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold a place of the entered organization. Raises RateLimited where all are taken."""
        organization_id = tenancy.current().organization_id
        with self._lock:
            if self._held[organization_id] >= AT_ONCE:
                raise RateLimited(
                    detail=sentence(
                        "{count} calls of this organization are being read.", count=AT_ONCE
                    ),
                    retry_after_seconds=AGAIN_SECONDS,
                )
            self._held[organization_id] += 1
        try:
            yield
        finally:
            with self._lock:
                self._held.subtract((organization_id,))
                if not self._held[organization_id]:
                    del self._held[organization_id]


READING: Final = Turns()
