"""The command that brings the local models to a machine, and the check of what is there.

In the flow: run once at set-up (`python -m memory.providers.weights --into FOLDER`), again at
every start, when it only compares hashes; `--check` changes nothing. CAIRN_MODELS_FROM names an
operator's folder with the weight files, asked before any package.
"""

import argparse
import fcntl
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory.providers import encoder_files, fetch, model_files, quantization
from memory.providers.errors import ProviderError
from memory.providers.fetch import Report
from memory.providers.pins import MINILM, OPTIONAL_MODELS, PINNED_MODELS, PinnedModel

LOCK_FILE = ".lock"


def bring(*, into: Path, operator_folder: Path | None, say: Report) -> None:
    """Fetch what is missing and make the encoder's graph; do nothing if all is there.

    Raises:
        ProviderUnavailable: the weights cannot be had.
        OSError: the folder cannot be written.
    """
    with _alone_in(into, say):
        for model in PINNED_MODELS:
            _obtain(model, into, operator_folder, say)
        say(f"{MINILM.name}: preparing the graph")
        recipe = encoder_files.prepare(
            folder=into / MINILM.name, precision=quantization.precision_of()
        )
        say(f"{MINILM.name}: {recipe.precision}, smallest cosine {recipe.smallest_cosine}")


def bring_optional(*, into: Path, operator_folder: Path | None, say: Report) -> None:
    """Fetch what is missing of the models that an extra uses; do nothing if all is there.

    Raises:
        ProviderUnavailable: the files cannot be had.
        OSError: the folder cannot be written.
    """
    with _alone_in(into, say):
        for model in OPTIONAL_MODELS:
            _obtain(model, into, operator_folder, say)


def optional_faults(*, folder: Path) -> tuple[str, ...]:
    """Return one sentence for each file of those models that is absent or altered; read-only."""
    return tuple(_faults_of(OPTIONAL_MODELS, folder))


def faults(*, folder: Path) -> tuple[str, ...]:
    """Return one sentence for each model file that is absent or altered; read-only."""
    found = _faults_of(PINNED_MODELS, folder)
    if not encoder_files.is_graph_intact(folder=folder / MINILM.name):
        found.append(f"{MINILM.name}: the graph is missing, outdated or altered.")
    return tuple(found)


def main(*, arguments: list[str] | None = None) -> int:
    """Run the command; 0 = the models are in place, 1 = they are not, told in one sentence."""
    chosen = _parser().parse_args(arguments)
    if chosen.check:
        look = optional_faults if chosen.names else faults
        return _check(chosen.into, look(folder=chosen.into))
    given = os.environ.get("CAIRN_MODELS_FROM")
    started = time.monotonic()
    work = bring_optional if chosen.names else bring
    try:
        work(into=chosen.into, operator_folder=Path(given) if given else None, say=_say)
    except ProviderError as error:
        print(f"{error.detail} {error.hint}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"The models folder {chosen.into} cannot be written: {error}", file=sys.stderr)
        return 1
    _say(f"models ready in {time.monotonic() - started:.1f} s ({chosen.into})")
    return 0


def _obtain(model: PinnedModel, into: Path, operator_folder: Path | None, say: Report) -> None:
    folder = into / model.name
    for part in sorted({(folder / file.name).parent for file in model.files}):
        model_files.sweep(folder=part)
    fetch.obtain(model=model, folder=folder, operator_folder=operator_folder, say=say)


def _faults_of(models: tuple[PinnedModel, ...], folder: Path) -> list[str]:
    return [
        f"{model.name}/{file.name} is missing or not as pinned."
        for model in models
        for file in fetch.missing_files(model=model, folder=folder / model.name)
    ]


def _check(folder: Path, found: tuple[str, ...]) -> int:
    for fault in found:
        print(fault, file=sys.stderr)
    if not found:
        _say(f"models in {folder} are as pinned")
    return 1 if found else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m memory.providers.weights",
        description="Bring the local models to a folder, checked by hash.",
    )
    parser.add_argument("--into", type=Path, required=True, help="the models folder")
    parser.add_argument(
        "--names", action="store_true", help="the model that reads names at night, and no other"
    )
    parser.add_argument("--check", action="store_true", help="only compare, change nothing")
    return parser


def _say(line: str) -> None:
    print(line, flush=True)


@contextmanager
def _alone_in(folder: Path, say: Report) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK_FILE).open("a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another process brings the models; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    sys.exit(main())
