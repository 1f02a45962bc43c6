"""Static token vectors and the reranker on them, on the real weights."""

from pathlib import Path

import numpy as np
import pytest

from memory.providers.static import LateInteractionReranker, StaticEmbedder


@pytest.fixture(scope="module")
def embedder(models_dir: Path) -> StaticEmbedder:
    """The embedder, loaded once."""
    return StaticEmbedder(models_dir=models_dir)


def test_related_texts_are_closer_than_unrelated_ones(embedder: StaticEmbedder) -> None:
    texts = ("the database migration failed", "schema upgrade error", "bananas ripen")

    first, second, third = embedder.embed(texts=texts)

    assert first @ second > first @ third


@pytest.mark.parametrize("text", ["", "\x00", "🙂", "日本語"])
def test_a_text_without_known_words_has_a_vector_of_unit_length(
    embedder: StaticEmbedder, text: str
) -> None:
    assert abs(float(np.linalg.norm(embedder.embed(texts=(text,))[0])) - 1) < 1e-5


def test_a_rare_word_weighs_more_than_a_common_one(embedder: StaticEmbedder) -> None:
    tokens = embedder.token_vectors(text="the kubernetes")

    assert tokens.weights[1:].max() > tokens.weights[0]
    assert np.allclose(np.linalg.norm(tokens.rows, axis=1), 1.0, atol=1e-5)


def test_reranker_prefers_the_text_that_meets_the_rare_words(models_dir: Path) -> None:
    reranker = LateInteractionReranker(models_dir=models_dir)
    texts = ("We had lunch by the sea.", "Caroline adopted a puppy last May.")

    scores = reranker.rerank(query="When did Caroline get her dog?", texts=texts)

    assert scores[1] > scores[0]
    assert all(0.0 <= score <= 1.0 for score in scores)
