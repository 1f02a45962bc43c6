"""The word diff, the decay curve, the ring and ages."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.presenters import html

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PIECES = re.compile(r"<(span|ins|del)>(.*?)</\1>", re.DOTALL)
TEXTS = st.text(st.characters(exclude_characters="<>&'\"", exclude_categories=["Cs"]), max_size=200)


def _pieces(old: str, new: str) -> list[tuple[str, str]]:
    return PIECES.findall(html.word_changes(old, new))


def _curve(confidence: float, half_life: float | None, **more: float) -> dict[str, Any]:
    floor, pinned = more.get("floor", 0.65), bool(more.get("pinned"))
    return html.decay_curve(
        confidence=confidence, half_life_days=half_life, pinned=pinned, floor=floor, now=NOW
    )


def test_replaced_word_is_deleted_and_inserted_and_long_texts_are_replaced_whole() -> None:
    pieces = _pieces("word " * html.LONGEST_COMPARED, "short")

    assert [tag for tag, _text in pieces] == ["del", "ins"]
    assert _pieces("fails when Redis is slow", "fails when Redis is gone") == [
        ("span", "fails when Redis is "),
        ("del", "slow"),
        ("ins", "gone"),
    ]


@given(old=TEXTS, new=TEXTS)
def test_both_texts_can_be_read_out(old: str, new: str) -> None:
    pieces = _pieces(old, new)

    assert "".join(text for tag, text in pieces if tag != "ins") == old
    assert "".join(text for tag, text in pieces if tag != "del") == new


def test_curve_meets_the_floor_of_who_looks_after_the_days_of_its_formula() -> None:
    curves = [_curve(1.0, 100.0, floor=floor) for floor in (0.80, 0.65, 0.45)]

    days = [(curve["below_at"] - NOW).days for curve in curves if curve["below_at"]]
    assert days == [32, 62, 115]  # 100 · log2(1 / floor)
    assert [curve["floor_y"] for curve in curves] == [12.0, 21.0, 33.0]


@pytest.mark.parametrize(("half_life", "pinned"), [(None, False), (60.0, True)])
def test_what_does_not_decay_stays_flat(half_life: float | None, pinned: bool) -> None:
    curve = _curve(0.8, half_life, pinned=pinned)

    assert (curve["flat"], curve["below_at"]) == (True, None)
    assert curve["line"].startswith("M0.0 12.0")
    assert curve["line"].endswith("L360.0 12.0")


def test_low_confidence_is_below_already() -> None:
    assert _curve(0.4, 60.0)["below_at"] == NOW


@given(confidence=st.floats(0, 1), half_life=st.floats(1, 400))
def test_curve_never_rises(confidence: float, half_life: float) -> None:
    points = _curve(confidence, half_life)["line"][1:].split(" L")

    heights = [float(point.split()[1]) for point in points]
    assert heights == sorted(heights)


def test_age_is_written_in_its_largest_unit() -> None:
    day, ages = 86_400, {-5: "now", 59: "now", 60: "1 min", 3_599: "59 min", 7_200: "2 h"}
    for seconds, age in {**ages, day: "1 d", 45 * day: "1 mo", 800 * day: "2 y"}.items():
        assert f">{age}</time>" in html.ago(NOW - timedelta(seconds=seconds), NOW)


@pytest.mark.parametrize(("score", "drawn"), [(0, 0.0), (100, 194.8), (200, 194.8), (50, 97.4)])
def test_ring_is_filled_by_its_share(score: int, drawn: float) -> None:
    assert f'stroke-dasharray="{drawn} 194.8"' in html.ring(score, "Health")
