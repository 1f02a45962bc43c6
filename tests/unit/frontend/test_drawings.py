"""What pages draw and offer: word diffs, decay, scores, the ring, ages, snippets."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.presenters import html, memory_list
from frontend.views import connections

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PIECES = re.compile(r"<(span|ins|del)>(.*?)</\1>", re.DOTALL)
TEXTS = st.text(st.characters(exclude_characters="<>&'\"", exclude_categories=["Cs"]), max_size=200)


def _pieces(old: str, new: str) -> list[tuple[str, str]]:
    return PIECES.findall(html.word_changes(old, new))


def _curve(confidence: float, half_life: float | None, **more: float) -> dict[str, Any]:
    floor, pinned = more.get("floor", 0.65), bool(more.get("pinned"))
    return html.decay_curve(
        confidence=confidence,
        half_life_days=half_life,
        pinned=pinned,
        lowest=more.get("lowest", 0.0),
        floor=floor,
        now=NOW,
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


def test_curve_ends_at_the_lowest_confidence_of_the_memory_itself() -> None:
    above, below = _curve(1.0, 100.0, lowest=0.7), _curve(1.0, 100.0, lowest=0.6)

    assert above["below_at"] is None
    assert below["below_at"] == _curve(1.0, 100.0)["below_at"]
    assert above["line"].endswith(f" {html.CURVE_HEIGHT * 0.3:.1f}")


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


EXPLAIN = {
    "score": 0.674,
    "parts": {"dense": 0.66659, "keyword": 0.00741},
    "paths": {"dense": {"rank": 1}, "keyword": {"rank": 45}},
    "multipliers": {"trust": 1, "phase": 1.2},
    "rerank": {"rank_before": 3},
    "relevance": {"value": 0.2968},
}


def test_numbers_are_rounded_and_a_relevant_hit_is_drawn_as_enough() -> None:
    drawn = memory_list.reason(explain=EXPLAIN, threshold=0.138)

    assert "relevance 0.30, relevant from 0.14 on" in drawn
    assert "0.674 = by meaning 0.667 (rank 1) + by words 0.007 (rank 45)" in drawn
    assert "phase · 1.20, before reranking: rank 3" in drawn
    assert 'class="enough" width="30%"' in drawn
    assert 'class="tick" x="14%"' in drawn


@pytest.mark.parametrize("token", ["crn_x", ""])
def test_every_snippet_names_this_installation_or_its_token_or_a_placeholder(token: str) -> None:
    found = connections.snippets(base_url="https://cairn.test", token=token, project="shop")
    snippets = [(where, text) for _way, where, text in found]
    shown = token or connections.PLACEHOLDER

    files = [text for where, text in snippets if where.endswith(".json")]
    assert all("https://cairn.test" in text or shown in text for _where, text in snippets)
    assert any(shown in text for _where, text in snippets)
    assert len(files) == 2
    assert all(json.loads(text) for text in files)
