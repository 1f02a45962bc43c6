"""The drawing of a score says its numbers as they are, rounded and not cut."""

from frontend.presenters import memory_list

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

    assert "relevance 0.30, shown from 0.14 on" in drawn
    assert "0.674 = by meaning 0.667 (rank 1) + by words 0.007 (rank 45)" in drawn
    assert "phase · 1.20, before reranking: rank 3" in drawn
    assert 'class="enough" width="30%"' in drawn
    assert 'class="tick" x="14%"' in drawn
