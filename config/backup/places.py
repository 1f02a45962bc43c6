"""Where backups lie: a folder of this machine.

A place writes a file whole or not at all, and reads it as a stream. Paths are relative, as
`cairn-20261128T030000Z/manifest.json`.
"""

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Protocol

READ_BYTES: Final = 1_048_576
FULL: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class BackupError(Exception):
    """A backup cannot be made or used; the message says why and what to do."""


class Place(Protocol):
    """A store of files."""

    def write(self, path: str, chunks: Iterator[bytes]) -> None:
        """Store a file whole or not at all. Raises BackupError."""

    def read(self, path: str) -> Iterator[bytes]:
        """Yield the file in pieces. Raises BackupError when it is not there."""

    def paths(self) -> tuple[str, ...]:
        """Return the paths of all whole files of backups."""

    def remove(self, backup: str) -> None:
        """Delete a backup; its manifest goes first, so that the rest is none."""


class Folder:
    """A folder of this machine; its files can be read by their owner alone."""

    def __init__(self, *, root: Path) -> None:
        self.root = root

    def write(self, path: str, chunks: Iterator[bytes]) -> None:
        """Write beside the name, flush to the disk, and rename."""
        target = self.root / path
        draft = target.with_name(f"{target.name}.draft")
        try:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                for chunk in chunks:
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(target)
            self._flush(target.parent)
        except OSError as error:
            draft.unlink(missing_ok=True)
            reason = "the disk is full" if error.errno in FULL else os.strerror(error.errno or 0)
            raise BackupError(
                f"{target} could not be written: {reason}. Nothing there counts as a backup; "
                "free some room or choose another folder, then run the command again."
            ) from error

    def read(self, path: str) -> Iterator[bytes]:
        """Yield the file in pieces of a megabyte."""
        try:
            with (self.root / path).open("rb") as file:
                while chunk := file.read(READ_BYTES):
                    yield chunk
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise BackupError(f"{self.root / path} cannot be read: {reason}.") from error

    def paths(self) -> tuple[str, ...]:
        """Return what lies in folders that are called like backups."""
        found = self.root.glob("cairn-*/*")
        names = (path for path in found if path.suffix != ".draft")
        return tuple(sorted(path.relative_to(self.root).as_posix() for path in names))

    def remove(self, backup: str) -> None:
        """Delete the folder of a backup."""
        (self.root / backup / "manifest.json").unlink(missing_ok=True)
        shutil.rmtree(self.root / backup)

    def _flush(self, folder: Path) -> None:
        """Let the new name survive a power cut too."""
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def open_place(*, address: str) -> Place:
    """Return the place at an address."""
    return Folder(root=Path(address))
