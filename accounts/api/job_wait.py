"""Wait for background work inside a request, bounded, holding nothing meanwhile.

Between two looks the database connection goes back to the pool: a handful of waiting callers would
otherwise take all of them. In a surrounding transaction (tests) it stays, because it must. A thread
cannot be given back, so only some may wait at a time.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from threading import BoundedSemaphore
from typing import Final, TypeVar
from uuid import UUID

from pydantic import Field

from accounts import tenancy
from accounts.api.schemas import Query
from accounts.caller import Caller
from accounts.errors import InvalidToken
from accounts.queries import credentials, job_list

LONGEST_WAIT: Final = 30  # seconds, ours; below the timeouts of usual proxies
PAUSE_SECONDS: Final = 0.2
MOST_WAITING: Final = 8  # calls of one process, half of its threads; the rest must stay usable
ENDED: Final = frozenset({"done", "failed", "quarantined", "cancelled"})
Found = TypeVar("Found")


class WaitQuery(Query):
    """How long a call waits for its background work."""

    wait: int = Field(
        0,
        ge=0,
        le=LONGEST_WAIT,
        description="Seconds to wait for the background work of this call, 0 to 30.",
    )


_places = BoundedSemaphore(MOST_WAITING)


def _nothing() -> None:
    """Check nothing."""


def until(
    *, look: Callable[[], Found | None], seconds: int, check: Callable[[], None] = _nothing
) -> Found | None:
    """Look until there is something or the time is over; return the last that was seen.

    `check` is asked after each pause and raises when waiting must end. When `MOST_WAITING` others
    wait already, looks once: waiting is a courtesy to the caller.
    """
    found = look()
    if found or not seconds or not _places.acquire(blocking=False):
        return found
    try:
        return _wait(look, check, time.monotonic() + seconds)
    finally:
        _places.release()


def check_holds(*, caller: Caller) -> None:
    """Raise InvalidToken when what let the caller in has ended, or gives less than it gave."""
    if not credentials.still_holds(caller=caller, now=datetime.now(UTC)):
        raise InvalidToken(
            detail="This credential ended while the call waited.", hint="Sign in again."
        )


def until_done(*, caller: Caller, job_id: UUID | None, seconds: int) -> bool:
    """Wait for a job to end; say whether it is done. No job, or no time to wait: False."""
    if job_id is None or not seconds:
        return False
    job = until(look=lambda: _ended(caller, job_id), seconds=seconds)
    return job is not None and job.state == "done"


def _wait(
    look: Callable[[], Found | None], check: Callable[[], None], ends_at: float
) -> Found | None:
    found = None
    while not found and time.monotonic() < ends_at:
        tenancy.let_go()
        time.sleep(PAUSE_SECONDS)
        check()
        found = look()
    return found


def _ended(caller: Caller, job_id: UUID) -> job_list.JobView | None:
    job = job_list.find_job(caller=caller, job_id=job_id)
    return job if job.state in ENDED else None
