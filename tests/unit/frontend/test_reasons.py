"""The drawing of a score says its numbers as they are, rounded and not cut."""

from frontend.presenters import score_bar
from frontend.presenters.score_bar import Part, Reason

REASON = Reason(
    parts=(
        Part(name="dense", value=0.66659, rank=1),
        Part(name="keyword", value=0.00741, rank=45),
    ),
    score=0.674,
    multiplied={},
    rank_before=None,
    relevance=0.2968,
    threshold=0.138,
)


def test_numbers_are_rounded() -> None:
    drawn = score_bar.draw(reason=REASON)

    assert "relevance 0.30, shown from 0.14 on" in drawn
    assert "0.674 = by meaning 0.667 (rank 1) + by words 0.007 (rank 45)" in drawn


def test_a_hit_that_is_relevant_enough_is_drawn_as_enough() -> None:
    drawn = score_bar.draw(reason=REASON)

    assert 'class="enough" width="30%"' in drawn
    assert 'class="tick" x="14%"' in drawn
