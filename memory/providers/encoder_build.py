"""The local encoder's graph (`bert_graph`): built once from its weights and kept beside them.

Where the processor multiplies 8-bit integers in one instruction, products and the word table are
quantized with one scale a column: with one scale a matrix the mean cosine to the float graph fell
from 0.992 to 0.954 when measured. A result that strays further than COSINE_FLOOR from the float
graph is not used.

A recipe file names what the graph was made from (hash of the weights, builder, precision) and the
hash of the result, so a second start does nothing and a changed builder or processor makes it anew.
"""

# ruff: noqa: PLC0415 - what only set-up needs is imported there; every process imports this module

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import numpy as np

from memory.providers.pins import MINILM

BUILDER_VERSION: Final = 1  # raise it when the graph or its quantization comes out differently
RECIPE_FILE: Final = "encoder.json"
WEIGHTS_FILE: Final = "model.safetensors"
TOKENIZER_FILE: Final = "tokenizer.json"
SCRATCH: Final = ".unfinished."  # every temporary file and folder begins so

COSINE_FLOOR: Final = 0.95  # smallest cosine of a probe to its float vector; 0.977 was measured
PROCESSOR_FILE: Final = Path("/proc/cpuinfo")
VECTOR_INTEGER_FLAGS: Final = frozenset({"avx512_vnni", "avx_vnni"})
PROBES: Final = (
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What a graph was made from, and what came out."""

    builder: int
    weights_sha256: str
    wanted: str
    precision: str
    file: str
    sha256: str
    smallest_cosine: float


def prepare(*, folder: Path) -> Recipe:
    """Build the graph of the weights in `folder` unless the one there is of the same recipe."""
    wanted = precision_of()
    present = read_recipe(folder=folder)
    if (
        present is not None
        and (present.weights_sha256, present.wanted) == (MINILM.files[0].sha256, wanted)
        and is_graph_intact(folder=folder)
    ):
        return present
    chosen, cosine = _write_graph(folder, wanted)
    recipe = Recipe(
        builder=BUILDER_VERSION,
        weights_sha256=MINILM.files[0].sha256,
        wanted=wanted.value,
        precision=chosen.value,
        file=_graph_file(chosen),
        sha256=_sha256_of(folder / _graph_file(chosen)),
        smallest_cosine=round(cosine, 4),
    )
    with scratch_file(path=folder / RECIPE_FILE) as scratch:
        scratch.write_text(json.dumps(asdict(recipe), indent=1) + "\n", encoding="utf-8")
        move_into_place(scratch=scratch, path=folder / RECIPE_FILE)
    for stale in folder.glob("encoder-*.onnx"):
        if stale.name != recipe.file:
            stale.unlink()
    return recipe


def read_recipe(*, folder: Path) -> Recipe | None:
    """Return the recipe of the graph in `folder`, or None where there is none that reads."""
    try:
        return Recipe(**json.loads((folder / RECIPE_FILE).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):  # cut off or of another version: made anew
        return None


def ready_graph(*, folder: Path) -> Path | None:
    """Return the graph to run, or None where it still has to be made."""
    recipe = read_recipe(folder=folder)
    if recipe is None or recipe.builder != BUILDER_VERSION:
        return None
    path = folder / recipe.file
    return path if path.is_file() else None


def is_graph_intact(*, folder: Path) -> bool:
    """Say whether the graph's bytes are the ones that were made."""
    recipe = read_recipe(folder=folder)
    path = ready_graph(folder=folder)
    return recipe is not None and path is not None and _sha256_of(path) == recipe.sha256


def precision_of(*, processor_file: Path | None = None) -> Precision:
    """Return int8 for a processor that says it has VNNI, else fp32."""
    file = processor_file or PROCESSOR_FILE
    if not file.is_file():
        return Precision.FP32
    words = frozenset(file.read_text(encoding="utf-8", errors="replace").split())
    return Precision.INT8 if words & VECTOR_INTEGER_FLAGS else Precision.FP32


@contextmanager
def scratch_file(*, path: Path) -> Iterator[Path]:
    """Give an empty temporary file beside `path`, removed unless it is moved into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=SCRATCH, dir=path.parent)
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def move_into_place(*, scratch: Path, path: Path) -> None:
    """Give a temporary file its name once all of its bytes are on the disk."""
    with scratch.open("rb") as file:
        os.fsync(file.fileno())
    scratch.chmod(0o644)
    scratch.replace(path)


def _graph_file(precision: Precision) -> str:
    return f"encoder-{precision}.onnx"


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_graph(folder: Path, wanted: Precision) -> tuple[Precision, float]:
    """Write the graph; return the precision to use, and the worst cosine to the float graph."""
    import onnx
    from safetensors.numpy import load_file

    from memory.providers import bert_graph

    exact, small = (folder / _graph_file(one) for one in (Precision.FP32, Precision.INT8))
    with scratch_file(path=exact) as scratch:
        onnx.save(bert_graph.build(weights=load_file(folder / WEIGHTS_FILE)), scratch)
        move_into_place(scratch=scratch, path=exact)
    if wanted is Precision.FP32:
        return Precision.FP32, 1.0
    with scratch_file(path=small) as scratch:
        _quantize(exact, scratch)
        move_into_place(scratch=scratch, path=small)
    cosine = _smallest_cosine(small, exact, folder / TOKENIZER_FILE)
    return Precision.INT8 if cosine >= COSINE_FLOOR else Precision.FP32, cosine


def _quantize(source: Path, target: Path) -> None:
    """Write the int8 form of a float graph."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    def is_not_advice(record: logging.LogRecord) -> bool:
        return "onnxruntime" not in record.pathname  # of a step that this graph does not need

    root = logging.getLogger()  # by which the library gives its advice
    root.addFilter(is_not_advice)
    try:
        quantize_dynamic(
            source,
            target,
            op_types_to_quantize=["MatMul", "Gather"],
            weight_type=QuantType.QInt8,
            per_channel=True,
        )
    finally:
        root.removeFilter(is_not_advice)


def _smallest_cosine(graph: Path, reference: Path, tokenizer: Path) -> float:
    """Return the worst cosine of a probe between two graphs of the same encoder."""
    from memory.providers.local import SentenceEncoder

    ours, theirs = (
        SentenceEncoder(graph=path, tokenizer=tokenizer, threads=1).encode(texts=PROBES)
        for path in (graph, reference)
    )
    return float(np.min(np.sum(ours * theirs, axis=1)))
