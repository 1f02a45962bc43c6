"""Which moments can be kept: those that every reader of a row can read back.

A moment of the year 9999 or of the year 1 may be written with an offset that leads out of the
calendar; Postgres stores it, and whoever reads the row then reads nothing.
"""

from datetime import UTC, datetime
from typing import Final

EARLIEST: Final = 1900  # year, ours
LATEST: Final = 2200  # year, ours


def is_storable(*, moment: datetime) -> bool:
    """Say whether a moment with a time zone lies between the years that are kept."""
    try:
        return EARLIEST <= moment.astimezone(UTC).year <= LATEST
    except (OverflowError, ValueError):
        return False
