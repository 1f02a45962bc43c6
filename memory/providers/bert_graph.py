"""The sentence encoder as an ONNX graph, built from its weights without a training framework.

The graph is BERT (Devlin et al. 2019, post-layer-norm; attention as in Vaswani et al. 2017),
followed by mean pooling over the real tokens and scaling to unit length (Reimers and Gurevych
2019); the mean's divisor cancels out in the scaling. Token types are all zero, so their one row is
added to the positions. Query, key and value are one product, split afterwards, because one wide
product is quantized once instead of three times; 1/√d is folded into the query's share of it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper, parser

ATTENTION_HEADS: Final = 12  # the model's configuration
MASKED: Final = -1e4  # added to the logits of padding: its softmax underflows to 0
# Parts of the graph in the text form of ONNX. Opset 20 is the first with Gelu, and IR version 9
# belongs to it; 1e-12 is the configuration's.
_PARTS: Final = Path(__file__).with_name("bert")

Weights = Mapping[str, npt.NDArray[Any]]


def build(*, weights: Weights) -> onnx.ModelProto:
    """Return the checked graph of an encoder whose weights have BERT's usual names.

    Raises KeyError for a missing weight.
    """
    layers = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder."))
    width = weights["embeddings.LayerNorm.weight"].shape[0]
    head, layer, tail = (
        (_PARTS / f"{name}.txt").read_text(encoding="utf-8") for name in ("head", "layer", "tail")
    )
    text = head.format(width=width)
    text += "".join(layer.format(n=number, next=number + 1) for number in range(layers))
    model = parser.parse_model(text + tail.format(layers=layers))
    for number, node in enumerate(model.graph.node):
        node.name = f"{node.op_type.lower()}_{number}"
    for name, array in _constants(weights, layers, width).items():
        model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
    onnx.checker.check_model(model)
    return model


def _constants(weights: Weights, layers: int, width: int) -> dict[str, npt.NDArray[Any]]:
    """Return the constants of the graph by their names."""
    size = width // ATTENTION_HEADS
    found = {
        "word_table": weights["embeddings.word_embeddings.weight"],
        "position_table": weights["embeddings.position_embeddings.weight"]
        + weights["embeddings.token_type_embeddings.weight"][0],
        "scale_0": weights["embeddings.LayerNorm.weight"],
        "offset_0": weights["embeddings.LayerNorm.bias"],
        "one": np.array(1.0, dtype=np.float32),
        "masked": np.array(MASKED, dtype=np.float32),
    }
    axes = {"zero": [0], "second": [1], "last": [-1], "middle": [1, 2], "whole": [0, 0, width]}
    axes["heads"] = [0, 0, ATTENTION_HEADS, size]
    found |= {name: np.array(sizes, dtype=np.int64) for name, sizes in axes.items()}
    scale = np.ones(3 * width, dtype=np.float32)
    scale[:width] = size**-0.5
    for n in range(layers):
        layer = f"encoder.layer.{n}"
        parts = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
        rows = np.concatenate([weights[f"{part}.weight"] for part in parts])
        found[f"qkv_{n}"] = (rows * scale[:, None]).T
        found[f"qkv_bias_{n}"] = np.concatenate([weights[f"{part}.bias"] for part in parts]) * scale
        for name, part in (
            ("out", "attention.output.dense"),
            ("up", "intermediate.dense"),
            ("down", "output.dense"),
        ):
            found[f"{name}_{n}"] = weights[f"{layer}.{part}.weight"].T
            found[f"{name}_bias_{n}"] = weights[f"{layer}.{part}.bias"]
        found[f"mid_scale_{n}"] = weights[f"{layer}.attention.output.LayerNorm.weight"]
        found[f"mid_offset_{n}"] = weights[f"{layer}.attention.output.LayerNorm.bias"]
        found[f"scale_{n + 1}"] = weights[f"{layer}.output.LayerNorm.weight"]
        found[f"offset_{n + 1}"] = weights[f"{layer}.output.LayerNorm.bias"]
    return found
