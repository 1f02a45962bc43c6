"""Where backups lie: a folder of this machine, or a bucket.

A bucket is named by an address, as s3://bucket/path (gs:// and az:// work likewise); who may write
there, and the endpoint of a store that is not Amazon's, come from the usual variables of its vendor
(AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL …). A place writes a file whole or not at all, and reads it as
a stream. Paths are relative, as `cairn-20261128T030000Z/manifest.json`.
"""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import obstore
from obstore.exceptions import BaseError
from obstore.store import from_url

if TYPE_CHECKING:
    from obstore.store import RetryConfig

READ_BYTES: Final = 1_048_576
PART_BYTES: Final = 16_777_216  # S3 allows 10,000 parts: 160 GB a file
PARTS_AT_ONCE: Final = 3
RETRIES: "Final[RetryConfig]" = {"max_retries": 5, "retry_timeout": timedelta(seconds=60)}
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

    def folders(self) -> tuple[str, ...]:
        """Return the names of backups, with those that have no whole file yet."""

    def remove(self, backup: str) -> None:
        """Delete a backup, its manifest first; none is needed. Raises BackupError."""


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

    def folders(self) -> tuple[str, ...]:
        """Return the names of folders that are called like backups."""
        return tuple(sorted(path.name for path in self.root.glob("cairn-*") if path.is_dir()))

    def remove(self, backup: str) -> None:
        """Delete the folder of a backup."""
        folder = self.root / backup
        try:
            (folder / "manifest.json").unlink(missing_ok=True)
            if folder.exists():
                shutil.rmtree(folder)
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise BackupError(f"{folder} could not be deleted: {reason}.") from error

    def _flush(self, folder: Path) -> None:
        """Let the new name survive a power cut too."""
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class Bucket:
    """A bucket, or a path in one. Files are sent in parts, and are there when all parts are."""

    def __init__(self, *, url: str) -> None:
        self.url = url
        with self._refusals("opened"):
            self._store = from_url(url, retry_config=RETRIES)

    def write(self, path: str, chunks: Iterator[bytes]) -> None:
        """Send the parts; memory holds a few of them."""
        with self._refusals("written to"):
            obstore.put(
                self._store, path, chunks, chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE
            )

    def read(self, path: str) -> Iterator[bytes]:
        """Yield the file in pieces of a megabyte or more."""
        with self._refusals(f"read at {path}"):
            for chunk in obstore.get(self._store, path).stream(min_chunk_size=READ_BYTES):
                yield bytes(chunk)

    def paths(self) -> tuple[str, ...]:
        """Return what lies under prefixes that are called like backups."""
        with self._refusals("listed"):
            found = (file["path"] for files in obstore.list(self._store) for file in files)
            return tuple(sorted(path for path in found if path.startswith("cairn-")))

    def folders(self) -> tuple[str, ...]:
        """Return the prefixes that are called like backups."""
        return tuple(sorted({path.partition("/")[0] for path in self.paths() if "/" in path}))

    def remove(self, backup: str) -> None:
        """Delete the files of a backup."""
        files = [path for path in self.paths() if path.startswith(f"{backup}/")]
        with self._refusals("deleted from"):
            for path in sorted(files, key=lambda path: not path.endswith("/manifest.json")):
                obstore.delete(self._store, path)

    @contextmanager
    def _refusals(self, verb: str) -> Iterator[None]:
        """Say in a message what the store refused."""
        try:
            yield
        except (BaseError, OSError, ValueError) as error:
            reason = str(error).strip().splitlines()[0]
            raise BackupError(f"{self.url} cannot be {verb}: {reason}") from error


def open_place(*, address: str) -> Place:
    """Return the place at an address. Raises BackupError for a bucket that cannot be opened."""
    return Bucket(url=address) if "://" in address else Folder(root=Path(address))
