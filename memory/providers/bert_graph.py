"""The sentence encoder as an ONNX graph, built from its weights without a training framework.

The graph is BERT (Devlin et al. 2019, post-layer-norm; attention as in Vaswani et al. 2017),
followed by mean pooling over the real tokens and scaling to unit length (Reimers and Gurevych
2019); the mean's divisor cancels out in the scaling. Token types are all zero, so their one row is
added to the positions. Query, key and value are one product, split afterwards, because one wide
product is quantized once instead of three times; 1/√d is folded into the query's share of it.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper, parser

ATTENTION_HEADS: Final = 12  # the model's configuration
MASKED: Final = -1e4  # added to the logits of padding: its softmax underflows to 0
# opset 20 is the first with Gelu, and IR version 9 belongs to it; 1e-12 is the configuration's
HEAD: Final = """<ir_version: 9, opset_import: ["" : 20]>
sentence_encoder (int64[batch, length] input_ids, int64[batch, length] attention_mask)
    => (float[batch, {width}] embedding) {{
  words = Gather (word_table, input_ids)
  size = Shape <start = 1, end = 2> (input_ids)
  places = Slice (position_table, zero, size, zero)
  placed = Add (words, places)
  hidden_0 = LayerNormalization <axis = -1, epsilon = 1e-12> (placed, scale_0, offset_0)
  mask = Cast <to = 1> (attention_mask)
  wide_mask = Unsqueeze (mask, middle)
  inverted = Sub (one, wide_mask)
  bias = Mul (inverted, masked)
"""
LAYER: Final = """
  joined_{n} = MatMul (hidden_{n}, qkv_{n})
  qkv_sum_{n} = Add (joined_{n}, qkv_bias_{n})
  query_{n}, key_{n}, value_{n} = Split <axis = -1, num_outputs = 3> (qkv_sum_{n})
  query_heads_{n} = Reshape (query_{n}, heads)
  key_heads_{n} = Reshape (key_{n}, heads)
  value_heads_{n} = Reshape (value_{n}, heads)
  q_{n} = Transpose <perm = [0, 2, 1, 3]> (query_heads_{n})
  k_{n} = Transpose <perm = [0, 2, 3, 1]> (key_heads_{n})
  v_{n} = Transpose <perm = [0, 2, 1, 3]> (value_heads_{n})
  logits_{n} = MatMul (q_{n}, k_{n})
  biased_{n} = Add (logits_{n}, bias)
  odds_{n} = Softmax <axis = -1> (biased_{n})
  mixed_{n} = MatMul (odds_{n}, v_{n})
  turned_{n} = Transpose <perm = [0, 2, 1, 3]> (mixed_{n})
  attended_{n} = Reshape (turned_{n}, whole)
  projected_{n} = MatMul (attended_{n}, out_{n})
  out_sum_{n} = Add (projected_{n}, out_bias_{n})
  residual_{n} = Add (out_sum_{n}, hidden_{n})
  between_{n} = LayerNormalization <axis = -1, epsilon = 1e-12>
      (residual_{n}, mid_scale_{n}, mid_offset_{n})
  widened_{n} = MatMul (between_{n}, up_{n})
  up_sum_{n} = Add (widened_{n}, up_bias_{n})
  bent_{n} = Gelu (up_sum_{n})
  narrowed_{n} = MatMul (bent_{n}, down_{n})
  down_sum_{n} = Add (narrowed_{n}, down_bias_{n})
  summed_{n} = Add (down_sum_{n}, between_{n})
  hidden_{next} = LayerNormalization <axis = -1, epsilon = 1e-12>
      (summed_{n}, scale_{next}, offset_{next})
"""
TAIL: Final = """
  column_mask = Unsqueeze (mask, last)
  kept = Mul (hidden_{layers}, column_mask)
  total = ReduceSum <keepdims = 0> (kept, second)
  norm = ReduceL2 <keepdims = 1> (total, last)
  embedding = Div (total, norm)
}}
"""

Weights = Mapping[str, npt.NDArray[Any]]


def build(*, weights: Weights) -> onnx.ModelProto:
    """Return the checked graph of an encoder whose weights have BERT's usual names.

    Raises KeyError for a missing weight.
    """
    layers = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder."))
    width = weights["embeddings.LayerNorm.weight"].shape[0]
    text = HEAD.format(width=width)
    text += "".join(LAYER.format(n=number, next=number + 1) for number in range(layers))
    model = parser.parse_model(text + TAIL.format(layers=layers))
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
