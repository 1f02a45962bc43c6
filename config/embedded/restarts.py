"""When a dead child is started again: at once slower and slower, forgiven after a good run."""

from dataclasses import dataclass

FIRST_DELAY_SECONDS = 1.0
LONGEST_DELAY_SECONDS = 30.0
GOOD_RUN_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarts:
    """How many times a child has died without a good run in between."""

    deaths: int = 0


def after_death(*, restarts: Restarts, ran_seconds: float) -> Restarts:
    """Count a death; a run of a minute and more wipes the ones before it."""
    earlier = 0 if ran_seconds >= GOOD_RUN_SECONDS else restarts.deaths
    return Restarts(deaths=earlier + 1)


def delay_seconds(*, restarts: Restarts) -> float:
    """Return how long to wait before the next start: 1, 2, 4 … 30 seconds."""
    doubled = FIRST_DELAY_SECONDS * 2.0 ** min(restarts.deaths - 1, 10)
    return min(doubled, LONGEST_DELAY_SECONDS)
