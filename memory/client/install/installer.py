"""Put what agents need into their files, and undo it.

Before a file is written for the first time its bytes are backed up and a receipt is written. Undo
restores those bytes where nobody has changed the file since; else it removes our part alone. A file
that others changed between two writes is `mixed` from then on: its backup is older than what they
wrote, so it is never restored.
"""

import hashlib
import json
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .. import masking
from ..configuration import FILE_MODE, Connection, Places, replace
from ..errors import ClientError
from . import file_edits
from .file_edits import FileEdit, NotEditable
from .harnesses import edits_of

RECEIPTS: Final = "installed.json"
ANYBODY: Final = Connection(url="http://127.0.0.1", token="-")  # noqa: S106  takes nothing but keys


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedEdit:
    """A file as it is and as it is to be; `fault` says why it is left alone.

    `part` is what goes into it, for who puts it there by hand.
    """

    harness: str
    path: Path
    before: bytes | None
    after: str
    part: str = ""
    fault: ClientError | None = None

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return self.fault is None and (self.before or b"") != self.after.encode()

    @property
    def diff(self) -> str:
        """What changes; secrets are not shown."""
        before = (self.before or b"").decode("utf-8", "replace")
        return file_edits.diff(before=before, after=self.after, name=str(self.path))


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneFile:
    """A file that was undone, and how; `fault` says why it was left alone."""

    path: Path
    did: str
    fault: ClientError | None = None


def plan(
    *, places: Places, connection: Connection, harnesses: Iterable[str]
) -> Iterator[PlannedEdit]:
    """Yield what would become of each file of these programs; of one that several need, once."""
    seen: set[str] = set()
    edits = edits_of(connection=connection)
    for harness in harnesses:
        for file, edit in edits[harness].items():
            if file not in seen:
                seen.add(file)
                yield _plan_file(harness, places.home / file, edit)


def write(*, places: Places, planned: PlannedEdit) -> None:
    """Write a file, after its bytes were backed up."""
    receipts = dict(_receipts(places))
    name = str(planned.path)
    if name not in receipts and planned.before is not None:
        replace(path=_backup(places, planned.path), data=planned.before, mode=FILE_MODE)
    earlier = receipts.get(name, {})
    is_changed = _digest(planned.before or b"") != earlier.get("written")
    receipts[name] = {
        "harness": planned.harness,
        "folder": earlier.get("folder", _first_missing(planned.path.parent)),
        "mixed": bool(earlier) and (earlier.get("mixed") is True or is_changed),
        "written": _digest(planned.after.encode()),
    }
    data = json.dumps(receipts, indent=1).encode()
    replace(path=places.state / RECEIPTS, data=data, mode=FILE_MODE)
    mode = stat.S_IMODE(planned.path.stat().st_mode) if planned.path.exists() else FILE_MODE
    replace(path=planned.path, data=planned.after.encode(), mode=mode)


def installed(*, places: Places) -> Mapping[str, str]:
    """Return the files that were written, and for which program."""
    return {name: str(one.get("harness")) for name, one in _receipts(places).items()}


def undo(*, places: Places) -> Iterator[UndoneFile]:
    """Undo every file that was written; yield each and what was done, or why it is left alone."""
    for name, receipt in _receipts(places).items():
        path = Path(name)
        try:
            yield UndoneFile(path=path, did=_undo(places, path, receipt))
        except (NotEditable, UnicodeDecodeError, OSError) as error:
            yield UndoneFile(path=path, did="is left alone", fault=_fault_of(path, error))


def _undo(places: Places, path: Path, receipt: Mapping[str, Any]) -> str:
    """Undo a file; return what was done. Raises NotEditable, UnicodeDecodeError, OSError."""
    current, left, did = _bytes(path), _bytes(_backup(places, path)), "is as it was"
    if current is None:
        left, did = None, "is gone"
    elif _digest(current) != receipt.get("written") or receipt.get("mixed") is True:
        left, did = _without_ours(path, current, str(receipt.get("harness"))), "has lost our part"
    if left is not None:
        replace(path=path, data=left, mode=stat.S_IMODE(path.stat().st_mode))
    elif current is not None:
        path.unlink()
        did = "was removed"
    first, folder = receipt.get("folder"), path.parent
    while first and folder.is_dir() and not any(folder.iterdir()):  # made for the file, now empty
        folder.rmdir()
        if str(folder) == first:
            break
        folder = folder.parent
    return did


def forget(*, places: Places) -> None:
    """Remove everything of this program itself: settings, backups, bookmarks."""
    state = places.state
    for folder in (state / "replays", state / "backups", state, places.settings):
        for file in folder.iterdir() if folder.is_dir() else ():
            if file.is_file():
                file.unlink()
        _remove_empty(folder, below=places.home)


def _plan_file(harness: str, path: Path, edit: FileEdit) -> PlannedEdit:
    before = _bytes(path)
    try:
        after = edit.put(text=(before or b"").decode("utf-8"))
    except (NotEditable, UnicodeDecodeError) as error:
        part = masking.mask(text=edit.put(text="")).text
        fault = _fault_of(path, error)
        return PlannedEdit(
            harness=harness, path=path, before=before, after="", part=part, fault=fault
        )
    return PlannedEdit(harness=harness, path=path, before=before, after=after)


def _without_ours(path: Path, data: bytes, name: str) -> bytes | None:
    """Take our part out of a file that somebody has changed since; None where nothing is left."""
    text = data.decode("utf-8")  # ends of lines stay as they are
    for file, edit in edits_of(connection=ANYBODY).get(name, {}).items():
        if path.as_posix().endswith(file):
            text = edit.take(text=text)
    return text.encode() if text.strip() else None


def _backup(places: Places, path: Path) -> Path:
    return places.state / "backups" / f"{_digest(str(path).encode())}-{path.name}"


def _receipts(places: Places) -> Mapping[str, dict[str, Any]]:
    data = _bytes(places.state / RECEIPTS)
    try:
        read = json.loads(data or b"{}")
    except ValueError as error:
        raise ClientError(
            detail=f"{places.state / RECEIPTS} is broken.",
            hint="It tells which files were written; backups lie beside it.",
            command="cairn doctor",
        ) from error
    return {name: one for name, one in read.items() if isinstance(one, dict)}


def _first_missing(folder: Path) -> str:
    """Return the topmost folder that has to be made; empty where none has."""
    missing = ""
    while not folder.exists():
        missing, folder = str(folder), folder.parent
    return missing


def _remove_empty(folder: Path, *, below: Path) -> None:
    """Remove a folder if it is empty, and the empty ones that it lies in, up to the home."""
    own = folder
    while folder.is_dir() and not any(folder.iterdir()):
        if folder != own and below not in folder.parents:
            return
        folder.rmdir()
        folder = folder.parent


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _fault_of(path: Path, error: NotEditable | UnicodeDecodeError | OSError) -> NotEditable:
    if isinstance(error, NotEditable):
        return error
    if isinstance(error, OSError):
        return NotEditable(f"{path}: {error.strerror}", command="cairn doctor")
    return NotEditable(f"{path} is no text.")
