"""The command that brings the local models to a machine, and the check of what is there.

In the flow: run once at set-up (`python -m memory.providers.weights --into FOLDER`), again at
every start, when it only compares hashes; `--check` changes nothing. CAIRN_MODELS_FROM names an
operator's folder with the weight files, asked before any package. Spec 3.3, 10.1.
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
from memory.providers.pins import MINILM, PINNED_MODELS

LOCK_FILE = ".lock"


def bring(*, into: Path, operator_folder: Path | None, say: Report) -> None:
    """Fetch what is missing and make the encoder's graph; do nothing if all is there.

    Raises:
        ProviderUnavailable: the weights cannot be had.
        OSError: the folder cannot be written.
    """
    with _alone_in(into, say):
        for model in PINNED_MODELS:
            folder = into / model.name
            model_files.sweep(folder=folder)
            fetch.obtain(model=model, folder=folder, operator_folder=operator_folder, say=say)
        say(f"{MINILM.name}: preparing the graph")
        recipe = encoder_files.prepare(
            folder=into / MINILM.name, precision=quantization.precision_of()
        )
        say(f"{MINILM.name}: {recipe.precision}, smallest cosine {recipe.smallest_cosine}")


def faults(*, folder: Path) -> tuple[str, ...]:
    """Return one sentence for each model file that is absent or altered; read-only."""
    found = [
        f"{model.name}/{file.name} is missing or not as pinned."
        for model in PINNED_MODELS
        for file in fetch.missing_files(model=model, folder=folder / model.name)
    ]
    if not encoder_files.is_graph_intact(folder=folder / MINILM.name):
        found.append(f"{MINILM.name}: the graph is missing, outdated or altered.")
    return tuple(found)


def main(*, arguments: list[str] | None = None) -> int:
    """Run the command; 0 = the models are in place, 1 = they are not, told in one sentence."""
    chosen = _parser().parse_args(arguments)
    if chosen.check:
        return _check(chosen.into)
    given = os.environ.get("CAIRN_MODELS_FROM")
    started = time.monotonic()
    try:
        bring(into=chosen.into, operator_folder=Path(given) if given else None, say=_say)
    except ProviderError as error:
        print(f"{error.detail} {error.hint}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"The models folder {chosen.into} cannot be written: {error}", file=sys.stderr)
        return 1
    _say(f"models ready in {time.monotonic() - started:.1f} s ({chosen.into})")
    return 0


def _check(folder: Path) -> int:
    found = faults(folder=folder)
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
