"""The health score is the sum of shown parts."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records.formulas import total
from memory.review.health import HealthCounts, health

PERFECT = HealthCounts(
    modules=10,
    modules_covered=10,
    memories=100,
    verified=100,
    stale=0,
    awaiting_review=0,
    disputed=0,
    corrected_in_30_days=0,
)
COUNTS = st.integers(0, 100)


def _score(counts: HealthCounts) -> float:
    result = health(counts=counts)
    assert result is not None
    return result.value


def test_a_perfect_project_scores_100() -> None:
    assert _score(PERFECT) == pytest.approx(100)


def test_a_project_without_an_index_can_still_score_100() -> None:
    assert _score(replace(PERFECT, modules=0, modules_covered=0)) == pytest.approx(100)


def test_a_project_without_memories_has_no_score() -> None:
    assert health(counts=replace(PERFECT, memories=0, verified=0)) is None


@pytest.mark.parametrize(
    ("counts", "lost"),
    [
        (replace(PERFECT, modules_covered=5), 12.5),
        (replace(PERFECT, verified=0), 20),
        (replace(PERFECT, stale=50), 10),
        (replace(PERFECT, awaiting_review=10), 7.5),
        (replace(PERFECT, awaiting_review=80), 15),
        (replace(PERFECT, disputed=5), 10),
        (replace(PERFECT, corrected_in_30_days=5), 5),
    ],
)
def test_each_fault_costs_its_share_of_its_part(counts: HealthCounts, lost: float) -> None:
    assert _score(counts) == pytest.approx(100 - lost)


@given(covered=COUNTS, verified=COUNTS, stale=COUNTS, review=COUNTS, disputed=COUNTS)
def test_parts_sum_to_a_score_within_0_and_100(
    covered: int, verified: int, stale: int, review: int, disputed: int
) -> None:
    counts = HealthCounts(
        modules=100,
        modules_covered=covered,
        memories=100,
        verified=verified,
        stale=stale,
        awaiting_review=review,
        disputed=disputed,
        corrected_in_30_days=0,
    )

    result = health(counts=counts)

    assert result is not None
    assert -1e-9 <= result.value <= 100 + 1e-9
    assert result.value == total(factors=result.parts)
    assert total(factors=result.attainable) == pytest.approx(100)


def test_a_part_larger_than_its_whole_is_refused() -> None:
    with pytest.raises(ValueError, match="stale"):
        health(counts=replace(PERFECT, stale=101))
