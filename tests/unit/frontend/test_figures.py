"""The decay curve, the ring and ages."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.presenters import figures

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def test_curve_meets_the_floor_after_the_days_of_its_formula() -> None:
    curve = figures.curve(confidence=1.0, half_life_days=100.0, pinned=False, floor=0.65, now=NOW)

    assert curve.below_at is not None
    assert (curve.below_at - NOW).days == 62  # 100 · log2(1 / 0.65) = 62.1


@pytest.mark.parametrize(("half_life", "pinned"), [(None, False), (60.0, True)])
def test_what_does_not_decay_stays_flat(half_life: float | None, pinned: bool) -> None:
    curve = figures.curve(
        confidence=0.8, half_life_days=half_life, pinned=pinned, floor=0.65, now=NOW
    )

    assert curve.flat
    assert curve.below_at is None
    assert curve.line.startswith("M0.0 12.0")
    assert curve.line.endswith("L360.0 12.0")


def test_low_confidence_is_below_already() -> None:
    curve = figures.curve(confidence=0.4, half_life_days=60.0, pinned=False, floor=0.65, now=NOW)

    assert curve.below_at == NOW


@given(confidence=st.floats(0, 1), half_life=st.floats(1, 400))
def test_curve_never_rises(confidence: float, half_life: float) -> None:
    curve = figures.curve(
        confidence=confidence, half_life_days=half_life, pinned=False, floor=0.65, now=NOW
    )

    heights = [float(point.split()[1]) for point in curve.line[1:].split(" L")]
    assert heights == sorted(heights)


@pytest.mark.parametrize(
    ("seconds", "count", "unit"),
    [
        (-5, 0, "now"),
        (59, 0, "now"),
        (60, 1, "minute"),
        (3_599, 59, "minute"),
        (7_200, 2, "hour"),
        (86_400, 1, "day"),
        (45 * 86_400, 1, "month"),
        (800 * 86_400, 2, "year"),
    ],
)
def test_age_is_told_in_its_largest_unit(seconds: int, count: int, unit: str) -> None:
    age = figures.age(moment=NOW - timedelta(seconds=seconds), now=NOW)

    assert (age.count, age.unit) == (count, unit)


@pytest.mark.parametrize(("share", "drawn"), [(0.0, 0.0), (1.0, 194.8), (2.0, 194.8), (0.5, 97.4)])
def test_ring_is_filled_by_its_share(share: float, drawn: float) -> None:
    assert figures.arc(share=share) == (drawn, 194.8)


def test_the_floor_is_that_of_who_looks() -> None:
    drawn = {
        floor: figures.curve(
            confidence=1.0, half_life_days=100.0, pinned=False, floor=floor, now=NOW
        )
        for floor in (0.80, 0.45)
    }

    days = {floor: (one.below_at - NOW).days for floor, one in drawn.items() if one.below_at}
    assert days == {0.80: 32, 0.45: 115}  # 100 · log2(1 / floor)
    assert {one.floor_y for one in drawn.values()} == {12.0, 33.0}
