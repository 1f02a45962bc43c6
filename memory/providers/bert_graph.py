"""The sentence encoder as an ONNX graph, built from its weights without a training framework.

The graph is BERT (Devlin et al. 2019, post-layer-norm) followed by mean pooling over the real
tokens and scaling to unit length (Reimers and Gurevych 2019). Inputs: input_ids and attention_mask,
int64 (batch, length); output: embedding, float32 (batch, hidden). Token types are all zero, so
their one row is a constant; query, key and value are one product, split afterwards, because one
wide product is quantized once instead of three times.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 20  # the first with Gelu
IR_VERSION = 9  # the one that belongs to opset 20
LAYER_NORM_EPSILON = 1e-12  # the model's configuration
ATTENTION_HEADS = 12  # the model's configuration
MASKED = -1e4  # added to the logits of padding: its softmax underflows to 0

Weights = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Graph:
    """Nodes and constants as they are added; every method returns the name of a value."""

    weights: Weights
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, onnx.TensorProto] = field(default_factory=dict)

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Append a node and return its output's name."""
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name, **attributes))
        return name

    def constant(self, name: str, array: npt.NDArray[Any]) -> str:
        """Register a constant once and return its name."""
        if name not in self.constants:
            contiguous = np.ascontiguousarray(array)
            self.constants[name] = numpy_helper.from_array(contiguous, name)
        return name

    def weight(self, name: str) -> str:
        """Register a weight under its own name."""
        return self.constant(name, self.weights[name])

    def shape(self, *sizes: int) -> str:
        """Register a shape or a list of axes."""
        return self.constant(f"sizes_{'_'.join(map(str, sizes))}", np.array(sizes, dtype=np.int64))

    def scalar(self, name: str, value: float) -> str:
        """Register a float."""
        return self.constant(name, np.array(value, dtype=np.float32))


def build(*, weights: Weights) -> onnx.ModelProto:
    """Return the checked graph of an encoder whose weights have BERT's usual names.

    Raises:
        KeyError: a weight is missing.
    """
    graph = _Graph(weights=weights)
    layers = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder."))
    hidden = _embedded(graph)
    bias = _attention_bias(graph)
    for number in range(layers):
        hidden = _layer(graph, f"encoder.layer.{number}", hidden, bias)
    _pooled(graph, hidden)
    model = _model(graph, width=weights["embeddings.LayerNorm.weight"].shape[0])
    onnx.checker.check_model(model)
    return model


def _embedded(graph: _Graph) -> str:
    words = graph.add("Gather", graph.weight("embeddings.word_embeddings.weight"), "input_ids")
    length = graph.add("Shape", "input_ids", start=1, end=2)
    typed = (
        graph.weights["embeddings.position_embeddings.weight"]
        + graph.weights["embeddings.token_type_embeddings.weight"][0]
    )
    table = graph.constant("positions_with_type", typed)
    places = graph.add("Slice", table, graph.shape(0), length, graph.shape(0))
    return _normalized(graph, "embeddings", graph.add("Add", words, places))


def _attention_bias(graph: _Graph) -> str:
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    wide = graph.add("Unsqueeze", mask, graph.shape(1, 2))
    inverted = graph.add("Sub", graph.scalar("one", 1.0), wide)
    return graph.add("Mul", inverted, graph.scalar("masked", MASKED))


def _layer(graph: _Graph, name: str, hidden: str, bias: str) -> str:
    attended = _attention(graph, f"{name}.attention", hidden, bias)
    attended = _linear(graph, f"{name}.attention.output.dense", attended)
    hidden = _normalized(graph, f"{name}.attention.output", graph.add("Add", attended, hidden))
    inner = graph.add("Gelu", _linear(graph, f"{name}.intermediate.dense", hidden))
    outer = _linear(graph, f"{name}.output.dense", inner)
    return _normalized(graph, f"{name}.output", graph.add("Add", outer, hidden))


def _attention(graph: _Graph, name: str, hidden: str, bias: str) -> str:
    """Scaled dot-product attention, softmax(QKᵀ / √d + bias)·V (Vaswani et al. 2017)."""
    width = graph.weights[f"{name}.self.query.weight"].shape[0]
    query, key, value = _split(graph, name, hidden)
    heads = graph.shape(0, 0, ATTENTION_HEADS, width // ATTENTION_HEADS)
    query = graph.add("Transpose", graph.add("Reshape", query, heads), perm=[0, 2, 1, 3])
    key = graph.add("Transpose", graph.add("Reshape", key, heads), perm=[0, 2, 3, 1])
    value = graph.add("Transpose", graph.add("Reshape", value, heads), perm=[0, 2, 1, 3])
    logits = graph.add("MatMul", query, key)
    odds = graph.add("Softmax", graph.add("Add", logits, bias), axis=-1)
    mixed = graph.add("Transpose", graph.add("MatMul", odds, value), perm=[0, 2, 1, 3])
    return graph.add("Reshape", mixed, graph.shape(0, 0, width))


def _split(graph: _Graph, name: str, hidden: str) -> tuple[str, str, str]:
    parts = [f"{name}.self.{part}" for part in ("query", "key", "value")]
    width = graph.weights[f"{parts[0]}.weight"].shape[0]
    rows = np.concatenate([graph.weights[f"{part}.weight"] for part in parts])
    ends = np.concatenate([graph.weights[f"{part}.bias"] for part in parts])
    # 1/√d is folded into the query's share of the weights
    scale = np.ones(3 * width, dtype=np.float32)
    scale[:width] = (width // ATTENTION_HEADS) ** -0.5
    matrix = graph.constant(f"{name}.qkv.weight", (rows * scale[:, None]).T)
    joined = graph.add("MatMul", hidden, matrix)
    joined = graph.add("Add", joined, graph.constant(f"{name}.qkv.bias", ends * scale))
    names = (f"{name}.query", f"{name}.key", f"{name}.value")
    split = helper.make_node("Split", [joined], names, f"{name}.split", axis=-1, num_outputs=3)
    graph.nodes.append(split)
    return names


def _linear(graph: _Graph, name: str, value: str) -> str:
    matrix = graph.constant(f"{name}.weight", graph.weights[f"{name}.weight"].T)
    return graph.add("Add", graph.add("MatMul", value, matrix), graph.weight(f"{name}.bias"))


def _normalized(graph: _Graph, name: str, value: str) -> str:
    scale = graph.weight(f"{name}.LayerNorm.weight")
    offset = graph.weight(f"{name}.LayerNorm.bias")
    return graph.add(
        "LayerNormalization", value, scale, offset, axis=-1, epsilon=LAYER_NORM_EPSILON
    )


def _pooled(graph: _Graph, hidden: str) -> None:
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    kept = graph.add("Mul", hidden, graph.add("Unsqueeze", mask, graph.shape(-1)))
    total = graph.add("ReduceSum", kept, graph.shape(1), keepdims=0)
    # the mean's divisor cancels out in the scaling to unit length
    length = graph.add("ReduceL2", total, graph.shape(-1), keepdims=1)
    graph.nodes.append(helper.make_node("Div", [total, length], ["embedding"], "embedding"))


def _model(graph: _Graph, *, width: int) -> onnx.ModelProto:
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", width])
    proto = helper.make_graph(
        graph.nodes, "sentence_encoder", inputs, [output], list(graph.constants.values())
    )
    opset = [helper.make_opsetid("", OPSET)]
    return helper.make_model(proto, opset_imports=opset, ir_version=IR_VERSION)
