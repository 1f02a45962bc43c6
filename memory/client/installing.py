"""Put what agents need into their files, with a way back for each.

Before a file is touched for the first time its bytes are kept and a receipt is written. Taking out
gives those bytes back where nobody has changed the file since; else it takes out our part alone.
A file that was changed between two writes of ours is `mixed` from then on: the bytes that were kept
are older than what others wrote, so they are never given back.
"""

import hashlib
import json
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from . import edits, harnesses
from .configuration import FILE_MODE, Connection, Places, replace
from .edits import Edit, NotEditable
from .errors import ClientError
from .harnesses import Harness

RECEIPTS: Final = "installed.json"
ANYBODY: Final = Connection(url="http://127.0.0.1", token="-")  # noqa: S106  takes nothing but keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
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
class Taken:
    """A file that was undone, and how; `fault` says why it was left alone."""

    path: Path
    did: str
    fault: ClientError | None = None


def plan(*, places: Places, connection: Connection, chosen: Iterable[Harness]) -> Iterator[Planned]:
    """Yield what would become of each file of these programs; of one that several need, once."""
    seen: set[str] = set()
    for harness in chosen:
        for change in harness.changes(connection):
            if change.file not in seen:
                seen.add(change.file)
                yield _planned(harness, places.home / change.file, change.edit)


def carry_out(*, places: Places, planned: Planned) -> None:
    """Write a file, after its bytes were kept."""
    receipts = dict(_receipts(places))
    name = str(planned.path)
    if name not in receipts:
        _keep_backup(places, planned)
    earlier = receipts.get(name, {})
    receipts[name] = {
        "harness": planned.harness.name,
        "existed": earlier.get("existed", planned.before is not None),
        "folder": earlier.get("folder", _first_missing(planned.path.parent)),
        "mixed": bool(earlier) and (earlier.get("mixed") is True or _is_changed(planned, earlier)),
        "written": _digest(planned.after.encode()),
    }
    _write_receipts(places, receipts)
    there = planned.path.exists()
    mode = stat.S_IMODE(planned.path.stat().st_mode) if there else FILE_MODE
    replace(path=planned.path, data=planned.after.encode(), mode=mode)


def installed(*, places: Places) -> Mapping[str, str]:
    """Return the files that were written, and for which program."""
    return {name: str(told.get("harness")) for name, told in _receipts(places).items()}


def take_out(*, places: Places) -> Iterator[Taken]:
    """Undo every file that was written; yield each and what was done, or why it is left alone."""
    for name, told in _receipts(places).items():
        path = Path(name)
        try:
            yield Taken(path=path, did=_taken_out(places, path, told))
        except NotEditable as fault:
            yield Taken(path=path, did="is left alone", fault=fault)
        except UnicodeDecodeError:
            yield Taken(path=path, did="is left alone", fault=_no_text(path))
        except OSError as error:
            unread = NotEditable(detail=f"{path}: {error.strerror}", command="cairn doctor")
            yield Taken(path=path, did="is left alone", fault=unread)


def _taken_out(places: Places, path: Path, told: Mapping[str, Any]) -> str:
    """Undo a file; return what was done. Raises NotEditable, UnicodeDecodeError, OSError."""
    current, backup = _bytes(path), _bytes(_backup(places, path))
    if current is None:
        did = "is gone"
    elif _digest(current) == told.get("written") and told.get("mixed") is not True:
        did = _restored(path, backup)
    else:
        did = _stripped(path, str(told.get("harness")))
    _remove_empty(path, told)
    return did


def forget(*, places: Places) -> None:
    """Remove everything of this program itself: settings, backups, bookmarks."""
    for folder in (places.state / "replays", places.state / "backups", places.state):
        _clear(folder)
    _clear(places.settings)
    for folder in (places.state.parent, places.settings.parent):
        _remove_upwards(folder, until=places.home)


def _planned(harness: Harness, path: Path, edit: Edit) -> Planned:
    before = _bytes(path)
    try:
        after = edit.put(text=(before or b"").decode("utf-8"))
    except (NotEditable, UnicodeDecodeError) as error:
        fault = error if isinstance(error, NotEditable) else _no_text(path)
        part = edits.shown(text=edit.put(text=""))
        return Planned(harness=harness, path=path, before=before, after="", part=part, fault=fault)
    return Planned(harness=harness, path=path, before=before, after=after)


def _restored(path: Path, backup: bytes | None) -> str:
    if backup is None:
        path.unlink()
        return "was removed"
    replace(path=path, data=backup, mode=stat.S_IMODE(path.stat().st_mode))
    return "is as it was"


def _stripped(path: Path, name: str) -> str:
    """Take our part out of a file that somebody has changed since."""
    harness = harnesses.HARNESSES.get(name)
    text = path.read_bytes().decode("utf-8")  # ends of lines stay as they are
    for change in harness.changes(ANYBODY) if harness else ():
        if path.as_posix().endswith(change.file):
            text = change.edit.take(text=text)
    if text.strip():
        replace(path=path, data=text.encode(), mode=stat.S_IMODE(path.stat().st_mode))
        return "has lost our part"
    path.unlink()
    return "was removed"


def _is_changed(planned: Planned, earlier: Mapping[str, Any]) -> bool:
    """Say whether somebody has changed a file since it was written here."""
    return _digest(planned.before or b"") != earlier.get("written")


def _keep_backup(places: Places, planned: Planned) -> None:
    if planned.before is not None:
        replace(path=_backup(places, planned.path), data=planned.before, mode=FILE_MODE)


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
    return {name: told for name, told in read.items() if isinstance(told, dict)}


def _write_receipts(places: Places, receipts: Mapping[str, dict[str, Any]]) -> None:
    data = json.dumps(receipts, indent=1).encode()
    replace(path=places.state / RECEIPTS, data=data, mode=FILE_MODE)


def _first_missing(folder: Path) -> str:
    """Return the topmost folder that has to be made; empty where none has."""
    missing = ""
    while not folder.exists():
        missing, folder = str(folder), folder.parent
    return missing


def _remove_empty(path: Path, told: Mapping[str, Any]) -> None:
    """Remove folders that were made for a file, once they are empty."""
    first = told.get("folder")
    folder = path.parent
    while first and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        if str(folder) == first:
            return
        folder = folder.parent


def _clear(folder: Path) -> None:
    if not folder.is_dir():
        return
    for file in folder.iterdir():
        if file.is_file():
            file.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()


def _remove_upwards(folder: Path, *, until: Path) -> None:
    """Remove folders that hold nothing, from one of them up to the home."""
    while until in folder.parents and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _no_text(path: Path) -> NotEditable:
    return NotEditable(detail=f"{path} is no text.", command="cairn init --print-only")
