"""A share of successes with its interval: how sure few trials make (Wilson 1927)."""

from dataclasses import dataclass
from math import sqrt
from typing import Final

Z: Final = 1.959964  # of a two-sided interval of 95 %


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Successes of trials: the share, and the ends of its interval, usually of 95 %."""

    successes: int
    trials: int
    value: float
    low: float
    high: float


def share(*, successes: int, trials: int, z: float = Z) -> Share:
    """Compute p = s / n and (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n).

    No trial says nothing: 0 within 0..1. Raises ValueError for more successes than trials.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} of {trials} is no share")
    if trials == 0:
        return Share(successes=0, trials=0, value=0.0, low=0.0, high=1.0)
    p, n = successes / trials, float(trials)
    middle = p + z * z / (2 * n)
    width = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    whole = 1 + z * z / n
    return Share(
        successes=successes,
        trials=trials,
        value=p,
        low=max(0.0, (middle - width) / whole),
        high=min(1.0, (middle + width) / whole),
    )
