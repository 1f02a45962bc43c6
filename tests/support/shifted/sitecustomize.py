"""A process whose clock is wrong: loaded by Python itself when this folder is on PYTHONPATH.

FIRE_CLOCK_SHIFT_S is added to what the process takes for the time. The monotonic clock is right.
"""

import datetime
import os
import time
from typing import Any

SHIFT_S = float(os.environ.get("FIRE_CLOCK_SHIFT_S", "0"))
REAL = datetime.datetime
_seconds, _nanoseconds = time.time, time.time_ns


class _AnyDatetime(type):
    """Moments made elsewhere are moments, too."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, REAL)


class Shifted(REAL, metaclass=_AnyDatetime):
    """The class of moments, whose present is shifted."""

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        """Return the wrong present."""
        return REAL.now(tz) + datetime.timedelta(seconds=SHIFT_S)

    @classmethod
    def utcnow(cls) -> Any:
        """Return the wrong present without a zone."""
        return cls.now(datetime.UTC).replace(tzinfo=None)


if SHIFT_S:
    time.time = lambda: _seconds() + SHIFT_S
    time.time_ns = lambda: _nanoseconds() + int(SHIFT_S * 1_000_000_000)
    datetime.datetime = Shifted  # type: ignore[misc]
