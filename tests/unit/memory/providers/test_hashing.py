"""The deterministic embedder of unit tests."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.providers.static import HashingEmbedder, TurnedEmbedder


@given(text=st.text(max_size=200))
def test_every_text_has_a_vector_of_unit_length(text: str) -> None:
    vector = HashingEmbedder().embed(texts=(text,))[0]

    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == np.float32(1.0) or abs(np.linalg.norm(vector) - 1) < 1e-5


def test_texts_that_share_words_are_closer() -> None:
    texts = ("retry the payment webhook", "payment webhook times out", "paint the fence green")

    first, second, third = HashingEmbedder().embed(texts=texts)

    assert first @ second > first @ third


def test_no_texts_give_no_rows() -> None:
    assert HashingEmbedder().embed(texts=()).shape == (0, 384)


def test_the_two_spaces_have_one_length_and_nothing_in_common() -> None:
    text = "parse_invoice_lines in billing/parser.py drops lines without a tax code."

    first, second = (one.embed(texts=(text,))[0] for one in (HashingEmbedder(), TurnedEmbedder()))

    assert first.shape == second.shape
    assert abs(first @ second) < 0.3
