"""The weighted MaxSim formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.providers.static import HashingEmbedder, TokenVectors, TurnedEmbedder, max_similarity


def tokens(rows: list[list[float]], weights: list[float]) -> TokenVectors:
    array = np.array(rows, dtype=np.float32)
    unit = array / np.linalg.norm(array, axis=1, keepdims=True)
    return TokenVectors(rows=unit, weights=np.array(weights, dtype=np.float32))


def test_score_is_the_weighted_mean_of_the_best_cosines_and_never_below_zero() -> None:
    query = tokens([[1, 0], [0, 1]], [3.0, 1.0])
    text = tokens([[1, 0], [3, 4]], [1.0, 1.0])

    # (3 · 1.0 + 1 · 0.8) / 4
    assert max_similarity(query=query, text=text) == pytest.approx(0.95)
    assert max_similarity(query=tokens([[1, 0]], [1]), text=tokens([[-1, 0]], [1])) == 0.0


@given(seed=st.integers(0, 10_000))
def test_more_text_never_lowers_the_score(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = random.normal(size=(6, 4)).tolist()
    query = tokens(rows[:2], [1.0, 2.0])

    shorter = max_similarity(query=query, text=tokens(rows[2:4], [1, 1]))
    longer = max_similarity(query=query, text=tokens(rows[2:], [1, 1, 1, 1]))

    assert 0.0 <= shorter <= longer <= 1.0


def test_the_two_spaces_have_one_length_and_nothing_in_common() -> None:
    text = "parse_invoice_lines in billing/parser.py drops lines without a tax code."

    first, second = (one.embed(texts=(text,))[0] for one in (HashingEmbedder(), TurnedEmbedder()))

    assert first.shape == second.shape
    assert abs(first @ second) < 0.3
