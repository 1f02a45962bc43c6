"""Whether it is worth asking Redis now: after a failure, nobody does for a few seconds.

A Redis that hangs costs whoever asks it a whole timeout. What may be lost without harm (the call to
open pages, the wake-up of a worker) shares one rest, so a request pays at most once, and only one
request in a few seconds.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

REST_SECONDS: Final = 5.0


@dataclass(slots=True, kw_only=True)
class Backoff:
    """`resumes_at` is a moment of the clock, which counts seconds and never goes back."""

    clock: Callable[[], float] = time.monotonic
    resumes_at: float = float("-inf")

    def start(self) -> None:
        """Rest from now on."""
        self.resumes_at = self.clock() + REST_SECONDS

    def is_active(self) -> bool:
        """Say whether the rest goes on."""
        return self.clock() < self.resumes_at


redis = Backoff()
