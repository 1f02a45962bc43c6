"""The health score is the sum of shown parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records.formulas import total
from memory.review.queries.overview import Health, health

PERFECT = {"memories": 100, "verified": 100, "stale": 0, "awaiting_review": 0, "corrected": 0}
COUNTS = st.integers(0, 100)


def _health(**given: int) -> Health:
    result = health(**{**PERFECT, **given})
    assert result is not None
    return result


def test_a_project_without_memories_has_no_score_and_no_part_is_larger_than_its_whole() -> None:
    assert health(**{**PERFECT, "memories": 0, "verified": 0}) is None
    with pytest.raises(ValueError, match="stale"):
        _health(stale=101)


@pytest.mark.parametrize(
    ("given", "lost"),
    [
        ({}, 0),
        ({"verified": 0}, 20),
        ({"stale": 50}, 10),
        ({"awaiting_review": 10}, 7.5),
        ({"awaiting_review": 80}, 15),
        ({"corrected": 5}, 5),
    ],
)
def test_each_fault_costs_its_share_of_its_part(given: dict[str, int], lost: float) -> None:
    assert _health(**given).value == pytest.approx(100 - lost * 100 / 65)


@given(verified=COUNTS, stale=COUNTS, review=COUNTS, corrected=COUNTS)
def test_parts_sum_to_a_score_within_0_and_100(
    verified: int, stale: int, review: int, corrected: int
) -> None:
    result = _health(verified=verified, stale=stale, awaiting_review=review, corrected=corrected)

    assert -1e-9 <= result.value <= 100 + 1e-9
    assert result.value == total(factors=result.parts)
    assert total(factors=result.attainable) == pytest.approx(100)
