"""The local models on their real weights: the default embedder, static vectors, a reranker."""

import os
from pathlib import Path

import numpy as np
import pytest

from memory.providers import weights
from memory.providers.errors import ProviderUnavailable
from memory.providers.local import LocalEmbedder
from memory.providers.static import LateInteractionReranker, StaticEmbedder

TEXTS = (
    "The payment webhook is retried three times with exponential backoff.",
    "Bananas ripen faster next to apples.",
    "def retry(call, times): ...",
)


@pytest.fixture(scope="module")
def embedder(models_dir: Path) -> LocalEmbedder:
    """The embedder, loaded once."""
    return LocalEmbedder(models_dir=models_dir, threads=1)


@pytest.fixture(scope="module")
def static(models_dir: Path) -> StaticEmbedder:
    """The static embedder, loaded once."""
    return StaticEmbedder(models_dir=models_dir)


def test_a_question_is_closest_to_the_text_that_answers_it(embedder: LocalEmbedder) -> None:
    question = embedder.embed(texts=("How often do we try the billing callback again?",))[0]

    cosines = embedder.embed(texts=TEXTS) @ question

    assert int(cosines.argmax()) == 0
    assert cosines[0] > 0.4 > cosines[1]


def test_order_is_kept_whatever_the_lengths(embedder: LocalEmbedder) -> None:
    texts = tuple(" ".join(["word", str(place)] * (1 + place * 7 % 50)) for place in range(40))

    together = embedder.embed(texts=texts)

    alone = np.array([embedder.embed(texts=(text,))[0] for text in texts])
    assert (together * alone).sum(axis=1).min() > 0.98


def test_text_beyond_the_models_length_does_not_count(embedder: LocalEmbedder) -> None:
    long = "alpha " * 300

    assert np.allclose(
        embedder.embed(texts=(long,))[0],
        embedder.embed(texts=(long + "omega " * 50,))[0],
        atol=1e-5,
    )


def test_odd_texts_have_a_vector_too(embedder: LocalEmbedder, static: StaticEmbedder) -> None:
    for text in ("", " ", "\x00", "🙂" * 500, "\u202e", "日本語"):
        assert np.isfinite(embedder.embed(texts=(text,))[0]).all(), text
        assert abs(float(np.linalg.norm(static.embed(texts=(text,))[0])) - 1) < 1e-5, text


def test_absent_weights_say_how_to_get_them(tmp_path: Path) -> None:
    for embedder in (
        LocalEmbedder(models_dir=tmp_path, threads=1),
        StaticEmbedder(models_dir=tmp_path),
    ):
        with pytest.raises(ProviderUnavailable, match="no model") as raised:
            embedder.embed(texts=("anything",))

        assert "python -m memory.providers.weights --into" in raised.value.hint


def test_a_forked_process_loads_its_own(embedder: LocalEmbedder) -> None:
    embedder.embed(texts=("loaded before the fork",))[0]

    child = os.fork()
    if child == 0:
        os._exit(0 if embedder.embed(texts=("in the child",))[0].shape == (384,) else 1)
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0


def test_the_graph_stays_close_to_the_exact_one(models_dir: Path) -> None:
    recipe = weights.read_recipe(folder=models_dir / "all-minilm-l6-v2")

    assert recipe is not None
    assert recipe.smallest_cosine >= weights.COSINE_FLOOR


def test_static_vectors_tell_related_texts_and_rare_words_weigh_more(
    static: StaticEmbedder,
) -> None:
    texts = ("the database migration failed", "schema upgrade error", "bananas ripen")
    first, second, third = static.embed(texts=texts)
    tokens = static.token_vectors(text="the kubernetes")

    assert first @ second > first @ third
    assert tokens.weights[1:].max() > tokens.weights[0]
    assert np.allclose(np.linalg.norm(tokens.rows, axis=1), 1.0, atol=1e-5)


def test_reranker_prefers_the_text_that_meets_the_rare_words(models_dir: Path) -> None:
    reranker = LateInteractionReranker(models_dir=models_dir)
    texts = ("We had lunch by the sea.", "Caroline adopted a puppy last May.")

    scores = reranker.rerank(query="When did Caroline get her dog?", texts=texts)

    assert 0.0 <= scores[0] < scores[1] <= 1.0
