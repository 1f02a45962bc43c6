"""The encoder's graph in 8-bit integers where the processor multiplies them in one instruction.

In the flow: `weights` asks `precision_of` what suits this machine and, for int8, `quantized`.
Dynamic quantization of products and of the word table, with one scale a column: with one scale
a matrix the mean cosine to the float graph fell from 0.992 to 0.954 when measured. A result that
strays further than COSINE_FLOOR from the float graph is not used.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

import numpy as np

from memory.providers.sentences import SentenceEncoder

COSINE_FLOOR = 0.95  # smallest cosine of a probe to its float vector; 0.977 was measured
PROCESSOR_FILE = Path("/proc/cpuinfo")
VECTOR_INTEGER_FLAGS = frozenset({"avx512_vnni", "avx_vnni"})
PROBES = (
    "Retry the payment webhook three times with exponential backoff, then park the event.",
    "def load(path: Path) -> Settings:\n    return Settings(**json.loads(path.read_text()))",
    "The migration failed because two heads existed; merge them before running it again.",
    "Where do we validate the session cookie?",
    "PostgreSQL 16 refuses the index: column does not have dimensions",
    "Caroline prefers small pull requests and reviews them before noon.",
    "ERROR ConnectionResetError(104, 'Connection reset by peer') in worker-3",
    "Never call the billing service from inside a transaction.",
)


class Precision(StrEnum):
    """How the weights of the graph are stored and multiplied."""

    INT8 = "int8"
    FP32 = "fp32"


def precision_of(*, processor_file: Path = PROCESSOR_FILE) -> Precision:
    """Return int8 for a processor that says it has VNNI, else fp32."""
    if not processor_file.is_file():
        return Precision.FP32
    words = frozenset(processor_file.read_text(encoding="utf-8", errors="replace").split())
    return Precision.INT8 if words & VECTOR_INTEGER_FLAGS else Precision.FP32


def quantize(*, source: Path, target: Path) -> None:
    """Write the int8 form of a float graph."""
    # needed at set-up only
    from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415

    with _without_advice():
        quantize_dynamic(
            source,
            target,
            op_types_to_quantize=["MatMul", "Gather"],
            weight_type=QuantType.QInt8,
            per_channel=True,
        )


def smallest_cosine(*, graph: Path, reference: Path, tokenizer: Path) -> float:
    """Return the worst cosine of a probe between two graphs of the same encoder."""
    ours, theirs = (
        SentenceEncoder(graph=path, tokenizer=tokenizer, threads=1).encode(texts=PROBES)
        for path in (graph, reference)
    )
    return float(np.min(np.sum(ours * theirs, axis=1)))


@contextmanager
def _without_advice() -> Iterator[None]:
    """Drop what the library says by the root logger itself; others' records do not pass there."""
    root, silence = logging.getLogger(), _is_not_advice
    root.addFilter(silence)
    try:
        yield
    finally:
        root.removeFilter(silence)


def _is_not_advice(record: logging.LogRecord) -> bool:
    return "onnxruntime" not in record.pathname  # it advises a step that this graph does not need
