"""The runnable form of the local encoder: built once from its weights and kept beside them.

In the flow: `weights` calls `prepare`; `local` asks `ready_graph`. A recipe file names what the
graph was made from (hash of the weights, builder, precision) and the hash of the result, so a
second start does nothing and a changed builder or processor makes it anew.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from memory.providers import model_files, quantization
from memory.providers.pins import MINILM
from memory.providers.quantization import Precision

BUILDER_VERSION = 1  # raise it when bert_graph or quantization changes what they produce
RECIPE_FILE = "encoder.json"
WEIGHTS_FILE = "model.safetensors"
TOKENIZER_FILE = "tokenizer.json"


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


def prepare(*, folder: Path, precision: Precision) -> Recipe:
    """Build the graph of the weights in `folder` unless the one there is of the same recipe."""
    present = read_recipe(folder=folder)
    if present is not None and _is_current(present, folder, precision):
        return present
    recipe = _built(folder, precision)
    with model_files.written_atomically(path=folder / RECIPE_FILE) as path:
        path.write_text(json.dumps(asdict(recipe), indent=1) + "\n", encoding="utf-8")
    for stale in folder.glob("encoder-*.onnx"):
        if stale.name != recipe.file:
            stale.unlink()
    return recipe


def read_recipe(*, folder: Path) -> Recipe | None:
    """Return the recipe of the graph in `folder`, or None where there is none that reads."""
    path = folder / RECIPE_FILE
    if not path.is_file():
        return None
    try:
        return Recipe(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError):  # cut off or of another version: made anew
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
    return recipe is not None and path is not None and _matches(path, recipe)


def _matches(path: Path, recipe: Recipe) -> bool:
    return model_files.sha256_of(path=path) == recipe.sha256


def _is_current(recipe: Recipe, folder: Path, precision: Precision) -> bool:
    same = (recipe.builder, recipe.weights_sha256, recipe.wanted) == (
        BUILDER_VERSION,
        MINILM.files[0].sha256,
        precision.value,
    )
    return same and (folder / recipe.file).is_file() and _matches(folder / recipe.file, recipe)


def _built(folder: Path, precision: Precision) -> Recipe:
    exact = folder / f"encoder-{Precision.FP32}.onnx"
    _write_exact(folder / WEIGHTS_FILE, exact)
    chosen, cosine = exact, 1.0
    if precision is Precision.INT8:
        chosen, cosine = _write_small(folder, exact)
    return Recipe(
        builder=BUILDER_VERSION,
        weights_sha256=MINILM.files[0].sha256,
        wanted=precision.value,
        precision=(Precision.FP32 if chosen == exact else Precision.INT8).value,
        file=chosen.name,
        sha256=model_files.sha256_of(path=chosen),
        smallest_cosine=round(cosine, 4),
    )


def _write_exact(weights: Path, target: Path) -> None:
    # both are needed at set-up only
    import onnx  # noqa: PLC0415
    from safetensors.numpy import load_file  # noqa: PLC0415

    from memory.providers import bert_graph  # noqa: PLC0415

    model = bert_graph.build(weights=load_file(weights))
    with model_files.written_atomically(path=target) as path:
        onnx.save(model, path)


def _write_small(folder: Path, exact: Path) -> tuple[Path, float]:
    small = folder / f"encoder-{Precision.INT8}.onnx"
    with model_files.written_atomically(path=small) as path:
        quantization.quantize(source=exact, target=path)
    cosine = quantization.smallest_cosine(
        graph=small, reference=exact, tokenizer=folder / TOKENIZER_FILE
    )
    return (small, cosine) if cosine >= quantization.COSINE_FLOOR else (exact, cosine)
