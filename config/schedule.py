"""The beat table as data: what runs when. Each row is one slot task, taken once.

Which slot it is, the database says (accounts.jobs.take_slot), so any number of clocks may run. What
beat itself counts is the time since the machine started: a wall clock that is set back would stop
it until the old time comes again. For the same reason a message is valid for much longer than its
interval: sender and worker may be an hour apart, and a late one finds its slot taken.
"""

import time
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from celery.schedules import schedule

SWEEP_SECONDS: Final = 10
MERGE_SECONDS: Final = 60
MISSING_SECONDS: Final = 600
NAMES_SECONDS: Final = 600
SESSIONS_SECONDS: Final = 600
ALARMS_SECONDS: Final = 600
EVICT_SECONDS: Final = 3_600
NIGHT_SECONDS: Final = 24 * 3_600  # its slots begin at midnight, UTC
WEEK_SECONDS: Final = 7 * NIGHT_SECONDS  # its slots begin on Thursdays, as the count of days does
LOOK_SECONDS: Final = 1_800  # how late the work of a night begins, at most
CLOCKS_APART_SECONDS: Final = 2 * 3_600  # bounds what piles up in Redis while no worker runs
START: Final = datetime(1970, 1, 2, tzinfo=UTC)  # of the count; its last run: never
NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)


def counted_now() -> datetime:
    """Return the time since the machine started, as the moment that Celery wants."""
    return START + timedelta(seconds=time.monotonic())


def _row(task: str, seconds: int, *, slot_seconds: int = 0) -> dict[str, Any]:
    """Return a row that comes every so many seconds; of a longer slot only the first has work."""
    return {
        "task": task,
        "schedule": schedule(run_every=seconds, nowfun=counted_now),
        "last_run_at": NEVER,
        "kwargs": {"interval_seconds": slot_seconds or seconds},
        "options": {"queue": "maintenance", "expires": CLOCKS_APART_SECONDS + seconds},
    }


BEAT: Final = {
    "sweep": _row("cairn.sweep", SWEEP_SECONDS),
    "merge-access": _row("cairn.merge_access", MERGE_SECONDS),
    "embed-missing": _row("cairn.embed_missing", MISSING_SECONDS),
    "read-names": _row("cairn.read_names", NAMES_SECONDS),
    "tend-sessions": _row("cairn.tend_sessions", SESSIONS_SECONDS),
    "raise-alarms": _row("cairn.raise_alarms", ALARMS_SECONDS),
    "evict": _row("cairn.evict", EVICT_SECONDS),
    "forget-actions": _row("cairn.forget_actions", LOOK_SECONDS, slot_seconds=NIGHT_SECONDS),
    "sort-topics": _row("cairn.sort_topics", LOOK_SECONDS, slot_seconds=NIGHT_SECONDS),
    "enrich-entities": _row("cairn.enrich_entities", LOOK_SECONDS, slot_seconds=NIGHT_SECONDS),
    "join-names": _row("cairn.join_names", LOOK_SECONDS, slot_seconds=NIGHT_SECONDS),
    "prove": _row("cairn.prove", LOOK_SECONDS, slot_seconds=NIGHT_SECONDS),
    "find-pairs": _row("cairn.find_pairs", LOOK_SECONDS, slot_seconds=WEEK_SECONDS),
}
