"""Relevance is a probability that never falls when evidence rises; its table is complete."""

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records.formulas import total
from memory.search import relevance as relevances
from memory.search.query import Wording
from memory.search.relevance import (
    ANY,
    CALIBRATIONS,
    NO_VECTORS,
    Calibration,
    Observed,
    Rivals,
    Sign,
)

SHARES = st.floats(0, 1)
ROWS = st.sampled_from(tuple(CALIBRATIONS.values()))
USUAL = Rivals(cosine=0.2, matched=0.1)
ENGLISH = Wording(words=4, is_french=False)
MINILM = CALIBRATIONS["local/all-minilm-l6-v2"]


def _observed(*evidence: tuple[float | None, float]) -> tuple[Observed, ...]:
    return tuple(
        Observed(memory_id=UUID(int=number), cosine=cosine, matched=matched)
        for number, (cosine, matched) in enumerate(evidence)
    )


def _first(
    observed: tuple[Observed, ...], row: Calibration, wording: Wording = ENGLISH
) -> relevances.Relevance:
    found = relevances.judge(observed=observed, calibration=row, wording=wording)
    return found[observed[0].memory_id]


@given(row=ROWS, evidence=st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=40))
def test_relevance_is_a_probability_that_its_parts_explain(
    row: Calibration, evidence: list[tuple[float, float]]
) -> None:
    found = _first(_observed(*evidence), row)

    assert 0.0 <= found.value <= 1.0
    assert relevances.logistic(total(factors=found.parts)) == found.value


@given(row=ROWS, low=SHARES, high=SHARES, others=st.lists(SHARES, min_size=12, max_size=30))
def test_more_matched_words_never_lower_it(
    row: Calibration, low: float, high: float, others: list[float]
) -> None:
    rest = tuple((0.2, share) for share in others)
    less, more = (
        _first(_observed((0.4, share), *rest), row).value for share in sorted((low, high))
    )

    assert less <= more + 1e-9


def test_a_memory_that_stands_out_and_lacks_no_identifier_is_more_relevant() -> None:
    alone = _observed((0.5, 0.2), *((0.1, 0.0),) * 20)
    crowded = _observed((0.5, 0.2), *((0.48, 0.2),) * 20)
    has = Observed(memory_id=UUID(int=1), cosine=0.5, matched=0.5)
    lacks = replace(has, missing=1.0)

    assert _first(alone, MINILM).value > 2 * _first(crowded, MINILM).value
    assert _first((lacks,), MINILM).value < _first((has,), MINILM).value


def test_the_only_memory_of_a_store_can_be_relevant_and_noise_is_not() -> None:
    for row in CALIBRATIONS.values():
        cosine = None if row.key == NO_VECTORS else 0.7
        assert _first(_observed((cosine, 0.9)), row).value >= row.threshold
        assert _first(_observed((cosine and 0.02, 0.0)), row).value < row.threshold


def test_signs_are_relative_to_the_rivals_and_those_equally_close_are_equally_the_closest() -> None:
    observed = _observed(*((0.9, 0.5),) * 3, *((0.3, 0.1),) * 9)
    some = _observed((0.5, 0.0), (0.9, 0.0), (0.5, 0.0), (None, 0.0))

    signs = relevances.signs_of(observed=observed, usual=USUAL, wording=ENGLISH)[UUID(int=0)]
    found = relevances.signs_of(observed=some, usual=USUAL, wording=ENGLISH)

    assert signs[Sign.COSINE_LEAD] == pytest.approx(0.6)
    assert signs[Sign.MATCHED_LEAD] == pytest.approx(0.4)
    assert signs[Sign.COSINE_STANDING] == pytest.approx((0.9 - 0.45) / (0.2598076 + 0.03))
    assert signs[Sign.COSINE_WORDS] == pytest.approx(3.6)
    assert [found[UUID(int=id)].get(Sign.CLOSEST) for id in range(4)] == [1 / 2, 1.0, 1 / 2, None]


def test_what_is_as_close_to_a_french_or_longer_query_is_more_relevant() -> None:
    observed = _observed((0.4, 0.1), *((0.2, 0.0),) * 20)

    for wording in (Wording(words=4, is_french=True), Wording(words=8, is_french=False)):
        assert _first(observed, MINILM, wording).value > _first(observed, MINILM).value


def test_slopes_point_the_way_their_signs_mean_and_rows_without_cosines_have_no_size_of_one() -> (
    None
):
    slopes = [item for row in CALIBRATIONS.values() for item in row.slopes.items()]
    chosen = relevances.calibration_of(model="openai/new@512", has_vectors=True)
    worded = relevances.calibration_of(model="local/all-minilm-l6-v2", has_vectors=False)

    assert all((slope < 0) == (sign is Sign.MISSING) for sign, slope in slopes)
    assert all(0 < row.threshold < 1 for row in CALIBRATIONS.values())
    assert (chosen.key, worded.key) == (ANY, NO_VECTORS)
    assert {Sign.COSINE, Sign.COSINE_LEAD}.isdisjoint({*chosen.slopes, *worded.slopes})
