"""Numbers as drawings and as words: the decay curve, the score ring, ages.

Pure; template tags render what these return. Coordinates are SVG user units.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

CURVE_WIDTH: Final = 360.0
CURVE_HEIGHT: Final = 60.0
CURVE_STEPS: Final = 48
CURVE_SHORTEST_DAYS: Final = 90.0
CURVE_PAST_FLOOR: Final = 1.25  # how far the curve runs past the day it meets the floor
RING_RADIUS: Final = 31.0

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
MONTH: Final = 30 * DAY
YEAR: Final = 365 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Confidence over the coming days: a path, its area, the floor and its height, the end."""

    line: str
    area: str
    floor: float
    floor_y: float
    days: int
    below_at: datetime | None
    flat: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Age:
    """How long ago: a count and its unit (now, minute, hour, day, month, year)."""

    count: int
    unit: str


def curve(
    *, confidence: float, half_life_days: float | None, pinned: bool, floor: float, now: datetime
) -> Curve:
    """Draw c · 0.5^(days / half-life) from now on (Ebbinghaus 1885; form as in spec 1.6).

    `floor` is the confidence from which the reader's agents are given it unasked.
    """
    flat = pinned or not half_life_days
    meets = None if flat else _days_to_floor(confidence, half_life_days or 1.0, floor)
    days = max(CURVE_SHORTEST_DAYS, (meets or 0.0) * CURVE_PAST_FLOOR)
    points = tuple(
        _point(step, days, confidence, None if flat else half_life_days)
        for step in range(CURVE_STEPS + 1)
    )
    line = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return Curve(
        line=line,
        area=f"{line} L{CURVE_WIDTH:.0f} {CURVE_HEIGHT:.0f} L0 {CURVE_HEIGHT:.0f} Z",
        floor=floor,
        floor_y=round(_height(floor), 1),
        days=round(days),
        below_at=None if meets is None else now + timedelta(days=meets),
        flat=flat,
    )


def arc(*, share: float) -> tuple[float, float]:
    """Return the drawn length and the whole length of a ring filled to `share`, 0..1."""
    whole = 2 * math.pi * RING_RADIUS
    return round(whole * min(1.0, max(0.0, share)), 1), round(whole, 1)


def age(*, moment: datetime, now: datetime) -> Age:
    """Return how long ago a moment was, in its largest whole unit; the future counts as now."""
    seconds = max(0, int((now - moment).total_seconds()))
    for unit, length in (("year", YEAR), ("month", MONTH), ("day", DAY), ("hour", HOUR)):
        if seconds >= length:
            return Age(count=seconds // length, unit=unit)
    if seconds >= MINUTE:
        return Age(count=seconds // MINUTE, unit="minute")
    return Age(count=0, unit="now")


def _days_to_floor(confidence: float, half_life_days: float, floor: float) -> float:
    if confidence <= floor:
        return 0.0
    return half_life_days * math.log2(confidence / floor)


def _point(
    step: int, days: float, confidence: float, half_life_days: float | None
) -> tuple[float, float]:
    elapsed = days * step / CURVE_STEPS
    kept = 1.0 if half_life_days is None else float(0.5 ** (elapsed / half_life_days))
    return CURVE_WIDTH * step / CURVE_STEPS, _height(confidence * kept)


def _height(value: float) -> float:
    return CURVE_HEIGHT * (1.0 - value)
