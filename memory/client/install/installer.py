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

from ..configuration import FILE_MODE, Connection, Places, replace
from ..errors import ClientError
from . import edits
from .edits import NotEditable
from .harnesses import HARNESSES, Change, Harness

RECEIPTS: Final = "installed.json"
ANYBODY: Final = Connection(url="http://127.0.0.1", token="-")  # noqa: S106  takes nothing but keys


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedEdit:
    """A file as it is and as it is to be; `fault` says why it is left alone.

    `part` is what goes into it, for who puts it there by hand.
    """

    harness: Harness
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
        return edits.diff(before=before, after=self.after, name=str(self.path))


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneFile:
    """A file that was undone, and how; `fault` says why it was left alone."""

    path: Path
    did: str
    fault: ClientError | None = None


def plan(
    *, places: Places, connection: Connection, harnesses: Iterable[Harness]
) -> Iterator[PlannedEdit]:
    """Yield what would become of each file of these programs; of one that several need, once."""
    seen: set[str] = set()
    for harness in harnesses:
        for change in harness.changes(connection):
            if change.file not in seen:
                seen.add(change.file)
                yield _planned(harness, places.home / change.file, change)


def write(*, places: Places, planned: PlannedEdit) -> None:
    """Write a file, after its bytes were backed up."""
    receipts = dict(_receipts(places))
    name = str(planned.path)
    if name not in receipts and planned.before is not None:
        replace(path=_backup(places, planned.path), data=planned.before, mode=FILE_MODE)
    earlier = receipts.get(name, {})
    is_changed = _digest(planned.before or b"") != earlier.get("written")
    receipts[name] = {
        "harness": planned.harness.name,
        "existed": earlier.get("existed", planned.before is not None),
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
        fault: NotEditable | None = None
        try:
            did = _undo(places, path, receipt)
        except (NotEditable, UnicodeDecodeError, OSError) as error:
            did = "is left alone"
            if isinstance(error, NotEditable):
                fault = error
            elif isinstance(error, OSError):
                fault = NotEditable(detail=f"{path}: {error.strerror}", command="cairn doctor")
            else:
                fault = _no_text(path)
        yield UndoneFile(path=path, did=did, fault=fault)


def _undo(places: Places, path: Path, receipt: Mapping[str, Any]) -> str:
    """Undo a file; return what was done. Raises NotEditable, UnicodeDecodeError, OSError."""
    current, backup = _bytes(path), _bytes(_backup(places, path))
    if current is None:
        did = "is gone"
    elif _digest(current) == receipt.get("written") and receipt.get("mixed") is not True:
        did = "was removed" if backup is None else "is as it was"
        if backup is None:
            path.unlink()
        else:
            replace(path=path, data=backup, mode=stat.S_IMODE(path.stat().st_mode))
    else:
        did = _strip(path, str(receipt.get("harness")))
    first, folder = receipt.get("folder"), path.parent
    while first and folder.is_dir() and not any(folder.iterdir()):  # made for the file, now empty
        folder.rmdir()
        if str(folder) == first:
            break
        folder = folder.parent
    return did


def forget(*, places: Places) -> None:
    """Remove everything of this program itself: settings, backups, bookmarks."""
    for folder in (places.state / "replays", places.state / "backups", places.state):
        _clear(folder)
    _clear(places.settings)
    for above in (places.state.parent, places.settings.parent):  # up to the home, where empty
        folder = above
        while places.home in folder.parents and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent


def _planned(harness: Harness, path: Path, change: Change) -> PlannedEdit:
    before = _bytes(path)
    try:
        after = change.edit.put(text=(before or b"").decode("utf-8"))
    except (NotEditable, UnicodeDecodeError) as error:
        fault = error if isinstance(error, NotEditable) else _no_text(path)
        part = edits.shown(text=change.edit.put(text=""))
        return PlannedEdit(
            harness=harness, path=path, before=before, after="", part=part, fault=fault
        )
    return PlannedEdit(harness=harness, path=path, before=before, after=after)


def _strip(path: Path, name: str) -> str:
    """Take our part out of a file that somebody has changed since."""
    harness = HARNESSES.get(name)
    text = path.read_bytes().decode("utf-8")  # ends of lines stay as they are
    for change in harness.changes(ANYBODY) if harness else ():
        if path.as_posix().endswith(change.file):
            text = change.edit.take(text=text)
    if text.strip():
        replace(path=path, data=text.encode(), mode=stat.S_IMODE(path.stat().st_mode))
        return "has lost our part"
    path.unlink()
    return "was removed"


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


def _clear(folder: Path) -> None:
    if not folder.is_dir():
        return
    for file in folder.iterdir():
        if file.is_file():
            file.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _no_text(path: Path) -> NotEditable:
    return NotEditable(detail=f"{path} is no text.", command="cairn init --print-only")
