"""The beat table as data: what runs when. Each row is one slot task, taken once (spec 6)."""

from typing import Any, Final

SWEEP_SECONDS: Final = 10
MERGE_SECONDS: Final = 60
EVICT_SECONDS: Final = 3_600


def _row(task: str, seconds: int) -> dict[str, Any]:
    return {
        "task": task,
        "schedule": seconds,
        "kwargs": {"interval_seconds": seconds},
        "options": {"queue": "maintenance", "expires": seconds},
    }


BEAT: Final = {
    "sweep": _row("cairn.sweep", SWEEP_SECONDS),
    "merge-access": _row("cairn.merge_access", MERGE_SECONDS),
    "evict": _row("cairn.evict", EVICT_SECONDS),
}
