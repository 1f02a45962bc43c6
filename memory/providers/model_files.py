"""Files of a models folder: hashed in pieces, written so that a half one is never seen.

In the flow: `fetch` and `weights` write through `written_atomically`; `weights` and the
doctor compare through `is_intact`.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from memory.providers.pins import PinnedFile

PIECE_BYTES = 1024 * 1024
SCRATCH = ".unfinished."  # every temporary file and folder begins so


def sha256_of(*, path: Path) -> str:
    """Return the hex sha256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_intact(*, path: Path, pinned: PinnedFile) -> bool:
    """Say whether the file is there with the pinned size and hash."""
    if not path.is_file() or path.stat().st_size != pinned.size_bytes:
        return False
    return sha256_of(path=path) == pinned.sha256


def keep_if_pinned(*, source: IO[bytes], pinned: PinnedFile, path: Path) -> bool:
    """Write the bytes of `source` to `path` if they are the pinned ones, and say whether."""
    with _scratch_beside(path) as scratch:
        with scratch.open("wb") as copy:
            shutil.copyfileobj(source, copy, PIECE_BYTES)
        if not is_intact(path=scratch, pinned=pinned):
            return False
        _settle(scratch, path)
    return True


def sweep(*, folder: Path) -> None:
    """Remove what a killed run left half done; the caller is alone in the folder."""
    for left in sorted(folder.glob(f"{SCRATCH}*")):
        if left.is_dir():
            shutil.rmtree(left)
        else:
            left.unlink()


@contextmanager
def written_atomically(*, path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path` that becomes `path` when the block ends well."""
    with _scratch_beside(path) as scratch:
        yield scratch
        _settle(scratch, path)


@contextmanager
def _scratch_beside(path: Path) -> Iterator[Path]:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=SCRATCH, dir=path.parent)
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _settle(scratch: Path, path: Path) -> None:
    with scratch.open("rb") as file:
        os.fsync(file.fileno())
    scratch.chmod(0o644)
    scratch.replace(path)
