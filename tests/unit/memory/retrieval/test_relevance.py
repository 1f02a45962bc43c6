"""Relevance is a share that never falls when evidence rises; below the threshold is silence."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.retrieval import relevance as relevances
from memory.retrieval.relevance import Judged

SHARES = st.floats(0, 1)
COSINES = st.floats(-1, 1)
HITS = tuple(
    Judged(memory_id=UUID(int=id), relevance=value) for id, value in enumerate((0.9, 0.1, 0.4))
)


@pytest.mark.parametrize(
    ("cosine", "matched", "is_relevant"),
    [
        (0.05, 0.0, False),
        (0.15, 0.2, False),
        (0.5, 0.4, True),
        (0.65, 0.0, True),
        (0.2, 1.0, True),
        (None, 0.2, False),
        (None, 1.0, True),
    ],
)
def test_the_default_threshold_parts_noise_from_answers(
    cosine: float | None, matched: float, is_relevant: bool
) -> None:
    value = relevances.relevance(cosine=cosine, matched=matched)

    assert (value >= relevances.THRESHOLD) == is_relevant


@given(cosine=COSINES, closer=COSINES, matched=SHARES, more=SHARES)
def test_relevance_is_a_share_and_monotone(
    cosine: float, closer: float, matched: float, more: float
) -> None:
    low = relevances.relevance(cosine=min(cosine, closer), matched=min(matched, more))
    high = relevances.relevance(cosine=max(cosine, closer), matched=max(matched, more))

    assert 0.0 <= low <= high <= 1.0


def test_hits_below_the_threshold_are_silenced_in_order() -> None:
    judgment = relevances.judge(hits=HITS, threshold=0.4)

    assert [hit.relevance for hit in judgment.kept] == [0.9, 0.4]
    assert judgment.silenced == 1


def test_a_threshold_of_zero_keeps_the_whole_ranking() -> None:
    assert relevances.judge(hits=HITS, threshold=0.0).kept == HITS


@pytest.mark.parametrize(("cosine", "matched"), [(1.5, 0.0), (0.0, 1.5), (0.0, -0.1), (0.0, None)])
def test_impossible_evidence_is_refused(cosine: float, matched: float | None) -> None:
    value = float("nan") if matched is None else matched

    with pytest.raises(ValueError, match="must be within"):
        relevances.relevance(cosine=cosine, matched=value)
