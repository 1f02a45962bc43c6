"""One backup as files: written with the manifest last, checked whole before it is used.

The manifest names every other file with its size and SHA-256, and carries a seal over itself: a
digest, keyed where the backup is encrypted.
"""

import hashlib
import json
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from config.backup import sealing
from config.backup.places import BackupError, Place, open_place
from config.backup.sealing import Damaged, Key

FORMAT: Final = 1
NAME: Final = re.compile(r"cairn-\d{8}T\d{6}Z\Z")
MANIFEST: Final = "manifest.json"
DATABASE, CONTENTS, HOME = "database.dump", "contents.json", "home.json"
STALE_SECONDS: Final = 24 * 3_600  # an unfinished backup that old is of a run that was killed


class Part(BaseModel):
    """A file as it is stored."""

    model_config = ConfigDict(frozen=True)
    size: int  # bytes
    sha256: str


class Manifest(BaseModel):
    """What is said of a backup in clear: what it takes to use it, and nobody's data."""

    model_config = ConfigDict(frozen=True)
    format: int
    made_at: datetime
    version: str  # of Cairn
    postgres: str
    migrations: tuple[str, ...]
    secrets_check: str  # a digest under the installation's pepper
    needs: tuple[str, ...]  # secrets that are not in the backup and are needed to use it
    salt: str = ""  # empty: not encrypted
    key_check: str = ""
    parts: dict[str, Part] = {}
    seal: str = ""

    def sealed(self, key: Key | None) -> str:
        """Return the seal that belongs to this text."""
        text = json.dumps(self.model_dump(mode="json", exclude={"seal"}), sort_keys=True).encode()
        return hashlib.sha256(text).hexdigest() if key is None else key.digest(MANIFEST, text)


@dataclass(slots=True, kw_only=True)
class Writer:
    """A backup that is being written."""

    place: Place
    name: str
    secret: bytes | None
    salt: bytes = field(default_factory=lambda: secrets.token_bytes(sealing.SALT_BYTES))
    key: Key | None = None
    parts: dict[str, Part] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.secret is not None:
            self.key = Key.derive(secret=self.secret, salt=self.salt)

    def add(self, name: str, chunks: Iterator[bytes]) -> None:
        """Store a file, encrypted where there is a key."""
        if self.key is not None:
            chunks = sealing.seal(chunks=chunks, key=self.key.of(name))
        measure = _Measure()
        self.place.write(f"{self.name}/{name}", measure.passing(chunks))
        self.parts[name] = measure.part()

    def finish(self, manifest: Manifest) -> Manifest:
        """Store the manifest, which makes a backup of the files."""
        whole = manifest.model_copy(
            update={
                "parts": self.parts,
                "salt": self.salt.hex() if self.key else "",
                "key_check": self.key.digest("check", b"") if self.key else "",
            }
        )
        whole = whole.model_copy(update={"seal": whole.sealed(self.key)})
        text = json.dumps(whole.model_dump(mode="json"), indent=1).encode()
        self.place.write(f"{self.name}/{MANIFEST}", iter([text]))
        return whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A backup whose manifest is well, open for reading."""

    place: Place
    name: str
    manifest: Manifest
    key: Key | None

    def read(self, name: str) -> Iterator[bytes]:
        """Yield a file as it was before it was stored. Raises BackupError."""
        chunks = self.place.read(f"{self.name}/{name}")
        if self.key is None:
            yield from chunks
            return
        try:
            yield from sealing.unseal(chunks=chunks, key=self.key.of(name))
        except Damaged as error:
            raise _damaged(self.name, name) from error

    def check(self) -> None:
        """Compare every file with the manifest. Raises BackupError naming the first wrong one."""
        for name, part in self.manifest.parts.items():
            measure = _Measure()
            for _chunk in measure.passing(self.place.read(f"{self.name}/{name}")):
                pass
            if measure.part() != part:
                raise _damaged(self.name, name)


def name_at(*, moment: datetime) -> str:
    """Return what a backup that begins now is called."""
    return f"cairn-{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def start_of(*, name: str) -> datetime:
    """Return when a backup of this name began."""
    return datetime.strptime(name, "cairn-%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)


def whole_backups(*, place: Place) -> tuple[str, ...]:
    """Return the names of the whole backups of a place, the oldest first."""
    files = (path.partition("/") for path in place.paths())  # others may lie there too
    return tuple(name for name, _, file in files if file == MANIFEST and NAME.match(name))


def open_backup(*, address: str, secret: bytes | None) -> Backup:
    """Open the backup at an address, or the newest of the place there.

    Raises BackupError when there is none, when it is damaged, or when the key is another.
    """
    parent, _, last = address.rstrip("/").rpartition("/")
    place = open_place(address=(parent or ".") if NAME.match(last) else address)
    names = whole_backups(place=place)
    name = last if NAME.match(last) else (names[-1] if names else "")
    if name not in names:
        raise BackupError(f"There is no whole backup at {address}; unfinished ones do not count.")
    manifest = _manifest(place, name)
    key = _checked_key(name, manifest, secret)
    if manifest.sealed(key) != manifest.seal:
        raise _damaged(name, MANIFEST)
    return Backup(place=place, name=name, manifest=manifest, key=key)


def prune(*, place: Place, keep: int, now: datetime) -> tuple[str, ...]:
    """Delete all whole backups but the newest, and what killed runs left; return their names."""
    whole = whole_backups(place=place)
    stale = name_at(moment=datetime.fromtimestamp(now.timestamp() - STALE_SECONDS, UTC))
    begun = {*place.folders()} - {*whole}
    unfinished = {name for name in begun if NAME.match(name) and name < stale}
    removed = tuple(sorted({*whole[: max(0, len(whole) - keep)], *unfinished}))
    for name in removed:
        place.remove(name)
    return removed


def _manifest(place: Place, name: str) -> Manifest:
    text = b"".join(place.read(f"{name}/{MANIFEST}"))
    try:
        manifest = Manifest.model_validate_json(text)
    except ValidationError as error:
        raise _damaged(name, MANIFEST) from error
    if manifest.format > FORMAT:
        raise BackupError(f"{name} was made by a newer Cairn; install that version first.")
    return manifest


def _checked_key(name: str, manifest: Manifest, secret: bytes | None) -> Key | None:
    if not manifest.salt:
        return None
    if secret is None:
        raise BackupError(f"{name} is encrypted; give its key with --key-file.")
    try:
        key = Key.derive(secret=secret, salt=bytes.fromhex(manifest.salt))
    except ValueError as error:
        raise _damaged(name, MANIFEST) from error
    if key.digest("check", b"") != manifest.key_check:
        raise BackupError(f"{name} was encrypted with another key; give the one it was made with.")
    return key


def _damaged(backup: str, file: str) -> BackupError:
    return BackupError(
        f"{backup} is damaged: {file} is not as it was written. Nothing was restored; "
        "use another copy of it, or an older backup."
    )


class _Measure:
    """Counts and hashes what passes."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._bytes = 0

    def passing(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self._hash.update(chunk)
            self._bytes += len(chunk)
            yield chunk

    def part(self) -> Part:
        return Part(size=self._bytes, sha256=self._hash.hexdigest())
