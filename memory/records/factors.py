"""Named parts of a number, so that any score can be explained.

A score that is a sum carries its parts as factors; pages and `explain=true` draw them.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """One summand of a score."""

    name: str
    value: float


def total(*, factors: tuple[Factor, ...]) -> float:
    """Add the parts exactly (Shewchuk's sum, so their order does not matter)."""
    return math.fsum([factor.value for factor in factors])


def checked_share(*, name: str, value: float) -> float:
    """Return `value` when within 0..1; raise ValueError naming it otherwise (also for NaN)."""
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must be within 0..1, not {value}")
    return value


def checked_not_negative(*, name: str, value: float) -> float:
    """Return `value` when finite and at least 0; raise ValueError naming it otherwise."""
    if not 0.0 <= value < math.inf:
        raise ValueError(f"{name} must be 0 or more and finite, not {value}")
    return value
