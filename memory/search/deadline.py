"""Until when a program waits for an answer: what comes later reaches nobody.

So nothing is given after it, nor written down as given. The clock is passed in, and only ever goes
forward.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final


class TooLate(Exception):
    """Whoever asked has left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """A moment of a clock, in its seconds."""

    ends_at: float
    clock: Callable[[], float]

    def is_past(self) -> bool:
        """Say whether whoever asked has left."""
        return self.clock() >= self.ends_at

    def check(self) -> None:
        """Raise TooLate once whoever asked has left."""
        if self.is_past():
            raise TooLate


def within(*, seconds: float, clock: Callable[[], float]) -> Deadline:
    """Return the moment that is so far from now."""
    return Deadline(ends_at=clock() + seconds, clock=clock)


NEVER: Final = Deadline(ends_at=math.inf, clock=lambda: 0.0)
