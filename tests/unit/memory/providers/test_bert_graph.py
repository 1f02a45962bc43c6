"""The encoder's graph against a plain computation of the same formulas."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from memory.providers import bert_graph

HEADS, WIDTH, INNER, WORDS, PLACES = 12, 24, 32, 50, 16
Array = npt.NDArray[Any]


def random_weights() -> dict[str, Array]:
    random = np.random.default_rng(7)
    shapes = {"embeddings.word_embeddings.weight": (WORDS, WIDTH)}
    shapes["embeddings.position_embeddings.weight"] = (PLACES, WIDTH)
    shapes["embeddings.token_type_embeddings.weight"] = (2, WIDTH)
    for name in ("embeddings", *(f"encoder.layer.{n}.{p}output" for n in (0, 1) for p in PARTS)):
        shapes |= {f"{name}.LayerNorm.weight": (WIDTH,), f"{name}.LayerNorm.bias": (WIDTH,)}
    for layer in (0, 1):
        for part, (rows, columns) in LINEAR.items():
            name = f"encoder.layer.{layer}.{part}"
            shapes |= {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


PARTS = ("attention.", "")
LINEAR = {
    **{f"attention.self.{name}": (WIDTH, WIDTH) for name in ("query", "key", "value")},
    "attention.output.dense": (WIDTH, WIDTH),
    "intermediate.dense": (INNER, WIDTH),
    "output.dense": (WIDTH, INNER),
}


def linear(weights: dict[str, Array], name: str, value: Array) -> Array:
    return value @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def normalized(weights: dict[str, Array], name: str, value: Array) -> Array:
    centered = value - value.mean(-1, keepdims=True)
    scaled = centered / np.sqrt(value.var(-1, keepdims=True) + 1e-12)
    return scaled * weights[f"{name}.LayerNorm.weight"] + weights[f"{name}.LayerNorm.bias"]


def attended(weights: dict[str, Array], name: str, value: Array) -> Array:
    query, key, content = (
        linear(weights, f"{name}.self.{part}", value).reshape(-1, HEADS, WIDTH // HEADS)
        for part in ("query", "key", "value")
    )
    mixed = np.empty_like(query)
    for head in range(HEADS):
        logits = query[:, head] @ key[:, head].T / math.sqrt(WIDTH // HEADS)
        odds = np.exp(logits - logits.max(-1, keepdims=True))
        mixed[:, head] = odds / odds.sum(-1, keepdims=True) @ content[:, head]
    return linear(weights, f"{name}.output.dense", mixed.reshape(-1, WIDTH))


def encoded(weights: dict[str, Array], ids: list[int]) -> Array:
    hidden = weights["embeddings.word_embeddings.weight"][ids]
    hidden = hidden + weights["embeddings.position_embeddings.weight"][: len(ids)]
    hidden = hidden + weights["embeddings.token_type_embeddings.weight"][0]
    hidden = normalized(weights, "embeddings", hidden.astype(np.float64))
    for layer in (0, 1):
        name = f"encoder.layer.{layer}"
        turned = attended(weights, f"{name}.attention", hidden)
        hidden = normalized(weights, f"{name}.attention.output", hidden + turned)
        inner = linear(weights, f"{name}.intermediate.dense", hidden)
        bent = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        hidden = normalized(
            weights, f"{name}.output", hidden + linear(weights, f"{name}.output.dense", bent)
        )
    mean = hidden.mean(0)
    return np.asarray(mean / np.linalg.norm(mean))


def test_graph_computes_the_encoder_and_ignores_padding() -> None:
    weights = random_weights()
    texts = [[1, 7, 3, 9, 2], [4, 4]]
    ids = np.array([texts[0], [*texts[1], 0, 0, 0]], dtype=np.int64)
    mask = np.array([[1] * 5, [1, 1, 0, 0, 0]], dtype=np.int64)
    session = onnxruntime.InferenceSession(bert_graph.build(weights=weights).SerializeToString())

    answer = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]

    expected = np.array([encoded(weights, row) for row in texts])
    assert np.abs(answer - expected).max() < 1e-5
