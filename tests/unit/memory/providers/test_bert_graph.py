"""The encoder's graph against figures of a plain computation of the same formulas.

They were computed in 64 bits with numpy, head by head, from the same weights.
"""

import numpy as np
import onnxruntime

from memory.providers import bert_graph

WIDTH, INNER, WORDS, PLACES = 24, 32, 50, 16
LINEAR = {
    **{f"attention.self.{name}": (WIDTH, WIDTH) for name in ("query", "key", "value")},
    "attention.output.dense": (WIDTH, WIDTH),
    "intermediate.dense": (INNER, WIDTH),
    "output.dense": (WIDTH, INNER),
}
FIRST = [  # of 24 figures, of two texts
    [-0.05544, 0.20812, 0.01134, 0.20331, -0.39242, 0.21184],
    [-0.07095, 0.21032, 0.01028, 0.20139, -0.4211, 0.21606],
]


def random_weights() -> bert_graph.Weights:
    random = np.random.default_rng(7)
    shapes: dict[str, tuple[int, ...]] = {"embeddings.word_embeddings.weight": (WORDS, WIDTH)}
    shapes["embeddings.position_embeddings.weight"] = (PLACES, WIDTH)
    shapes["embeddings.token_type_embeddings.weight"] = (2, WIDTH)
    outputs = (f"encoder.layer.{n}.{part}output" for n in (0, 1) for part in ("attention.", ""))
    for name in ("embeddings", *outputs):
        shapes |= {f"{name}.LayerNorm.weight": (WIDTH,), f"{name}.LayerNorm.bias": (WIDTH,)}
    for layer in (0, 1):
        for part, (rows, columns) in LINEAR.items():
            name = f"encoder.layer.{layer}.{part}"
            shapes |= {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def test_graph_computes_the_encoder_and_ignores_padding() -> None:
    model = bert_graph.build(weights=random_weights()).SerializeToString()
    session = onnxruntime.InferenceSession(model)
    ids = np.array([[1, 7, 3, 9, 2], [4, 4, 0, 0, 0]], dtype=np.int64)
    mask = np.array([[1] * 5, [1, 1, 0, 0, 0]], dtype=np.int64)

    answer = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
    alone = session.run(None, {"input_ids": ids[1:, :2], "attention_mask": mask[1:, :2]})[0]

    assert np.abs(answer[:, :6] - FIRST).max() < 2e-5
    assert np.abs(np.linalg.norm(answer, axis=1) - 1).max() < 1e-5
    assert np.abs(answer[1] - alone[0]).max() < 1e-5
