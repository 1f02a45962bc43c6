"""The key under which an embedding is cached."""

from dataclasses import replace

import pytest

from memory.providers.cache_key import embedding_cache_key
from memory.providers.contracts import EmbeddingModel, Provider

MODEL = EmbeddingModel(key="local/a", dimensions=384, max_tokens=256, provider=Provider.LOCAL)


def test_key_is_the_same_for_the_same_text_and_model() -> None:
    first = embedding_cache_key(text="Type: fact\n\nTests pass", model=MODEL)

    second = embedding_cache_key(text="Type: fact\n\nTests pass", model=replace(MODEL))

    assert first == second
    assert len(first) == 64


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("other", MODEL),
        ("text", replace(MODEL, key="local/b")),
        ("text", replace(MODEL, dimensions=256)),
        ('text","local/a', MODEL),
    ],
)
def test_key_differs_when_any_part_does(text: str, model: EmbeddingModel) -> None:
    key = embedding_cache_key(text=text, model=model)

    assert key != embedding_cache_key(text="text", model=MODEL)


def test_key_takes_text_that_no_encoding_does() -> None:
    assert len(embedding_cache_key(text="\ud800", model=MODEL)) == 64
