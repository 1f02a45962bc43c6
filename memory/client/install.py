"""Put what agents need into the files of their programs, and take it out again.

An edit is texts in, texts out. A JSON file gets one key, or entries in its lists, another file a
block between two marks. All else of the file stays as it is; putting twice is putting once, and
removing what was put leaves what was there before.

Hooks come from the files of the plugin. They run one script, below the person's home, that reads
address and token from where `cairn login` stores them: so no hook holds a secret, and a new login
needs no new hook. The text of a hook stays the same across versions, since some programs ask anew
about each that has changed.

Before a file is written for the first time its bytes are backed up and a receipt is written. Undo
restores those bytes where nobody has changed the file since; else it removes our part alone. A file
that others changed between two writes is `mixed` from then on: its backup is older than what they
wrote, so it is never restored.
"""

import difflib
import hashlib
import json
import re
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from . import masking
from .configuration import FILE_MODE, Connection, Places, replace_file
from .errors import ClientError

_INDENT: Final = re.compile(r"\A\s*\{\n([ \t]+)\"")
RECEIPTS: Final = "installed.json"
ANYBODY: Final = Connection(url="http://127.0.0.1", token="-")  # noqa: S106  takes nothing but keys
HARNESSES: Final[Mapping[str, tuple[str, ...]]] = {  # what is below the home of who uses them
    "claude-code": (".claude", ".claude.json"),
    "cursor": (".cursor",),
    "codex": (".codex",),
    "copilot": (".copilot",),
}
NAME: Final = "cairn"  # what the server is called in other programs' files
SERVERS: Final = "mcpServers"  # where they name servers
PLUGIN_FOLDER: Final = ".cairn/plugin"  # below one's home
SCRIPT: Final = f"{PLUGIN_FOLDER}/bin/hook.sh"  # stands in every command that runs it
_SCRIPT_MARK: Final = "# Tell Cairn what an agent does"
_ROOTS: Final = ("${CLAUDE_PLUGIN_ROOT}", "${CURSOR_PLUGIN_ROOT}", "${PLUGIN_ROOT}")
_INSTALLED: Final = Path(__file__).parent / "plugin"
_CHECKOUT: Final = Path(__file__).parents[2] / "deploy" / "plugin"


class NotEditable(ClientError):
    """The file is not in the format of its name, so it is left alone."""

    code = "not_editable"
    next_command = "cairn init --print-only"


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonKey:
    """A value in an object of a JSON file."""

    outer: str
    name: str
    value: object

    def put(self, *, text: str) -> str:
        """Return the file's text with the value. Raises NotEditable."""
        whole = _read_object(text)
        inner = whole.setdefault(self.outer, {})
        if not isinstance(inner, dict):
            raise NotEditable(detail=f"{self.outer} is no object.")
        if inner.get(self.name) == self.value:
            return text
        inner[self.name] = self.value
        return _write_object(whole, text)

    def take(self, *, text: str) -> str:
        """Return the file's text without the value, and without what is empty then."""
        whole = _read_object(text)
        inner = whole.get(self.outer)
        if not isinstance(inner, dict) or inner.pop(self.name, None) is None:
            return text
        if not inner:
            del whole[self.outer]
        return _write_object(whole, text) if whole else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedBlock:
    """Lines between two marks; `table` are the names of the TOML table that they are, if any."""

    begin: str
    end: str
    body: str
    table: tuple[str, ...] = ()

    def put(self, *, text: str) -> str:
        """Return the file's text with the block, in its old place or at the end.

        Raises NotEditable where it is to be TOML, and is none before or after, or where the table
        stands outside of the marks.
        """
        inner: object = _read_toml(self.take(text=text)) if self.table else None
        for name in self.table:
            inner = inner.get(name) if isinstance(inner, Mapping) else None
        if inner is not None:
            raise NotEditable(
                detail=f"[{'.'.join(self.table)}] is there already, outside of our marks.",
                hint="Take it out of the file by hand, then connect again.",
                command="cairn init",
            )
        block = f"{self.begin}\n{self.body.strip()}\n{self.end}\n"
        found = self._search(text)
        if found is not None:
            made = f"{text[: found.start()]}{block}{text[found.end() :]}"
        else:
            between = "" if not text else "\n" if text.endswith("\n") else "\n\n"
            made = f"{text}{between}{block}"
        if self.table:
            _read_toml(made)
        return made

    def take(self, *, text: str) -> str:
        """Return the file's text without the block."""
        found = self._search(text)
        if found is None:
            return text
        before = text[: found.start()].removesuffix("\n")
        before = before if before.endswith("\n") or not before else f"{before}\n"
        return f"{before}{text[found.end() :]}"

    def _search(self, text: str) -> re.Match[str] | None:
        pattern = rf"{re.escape(self.begin)}\n.*?{re.escape(self.end)}\n?"
        return re.search(pattern, text, re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEntries:
    """Entries in the lists of a JSON file, recognized by a mark in them.

    `head` are fields that the file must have, and loses again where nothing else is left.
    """

    name: str
    lists: Mapping[str, tuple[object, ...]]
    mark: str
    head: Mapping[str, object]

    def put(self, *, text: str) -> str:
        """Return the file's text with the entries behind those of others. Raises NotEditable."""
        whole = _read_object(text)
        if self._ours(whole) == {name: list(entries) for name, entries in self.lists.items()}:
            return text
        whole = {**self.head, **self._without_ours(whole)}
        lists = self._lists(whole)
        for name, entries in self.lists.items():
            lists[name] = [*lists.get(name, []), *entries]
        return _write_object({**whole, self.name: lists}, text)

    def take(self, *, text: str) -> str:
        """Return the file's text without the entries, and without what is empty then."""
        whole = _read_object(text)
        if not self._ours(whole):
            return text
        left = self._without_ours(whole)
        return _write_object(left, text) if left and left != self.head else ""

    def _lists(self, whole: Mapping[str, Any]) -> dict[str, list[object]]:
        """Return the lists of a file. Raises NotEditable where it has none of that form."""
        lists = whole.get(self.name, {})
        if not isinstance(lists, Mapping):
            raise NotEditable(detail=f"{self.name} is no object.")
        for name, entries in lists.items():
            if not isinstance(entries, list):
                raise NotEditable(detail=f"{name} is no list.")
        return dict(lists)

    def _ours(self, whole: Mapping[str, Any]) -> dict[str, list[object]]:
        """Return what carries the mark, a group with what of it does not alike."""
        lists = self._lists(whole).items()
        ours = {name: [one for one in entries if self._is_marked(one)] for name, entries in lists}
        return {name: entries for name, entries in ours.items() if entries}

    def _without_ours(self, whole: Mapping[str, Any]) -> dict[str, Any]:
        others: dict[str, list[object]] = {}
        for name, entries in self._lists(whole).items():
            left = [kept for one in entries for kept in self._without_marked(one)]
            if left or not entries:
                others[name] = left
        rest = {name: value for name, value in whole.items() if name != self.name}
        return {**rest, self.name: others} if others else rest

    def _without_marked(self, entry: object) -> tuple[object, ...]:
        """Return what is left of an entry: of a group the hooks of others that stand in it."""
        if not self._is_marked(entry):
            return (entry,)
        inner = entry.get(self.name) if isinstance(entry, Mapping) else None
        if not isinstance(entry, Mapping) or not isinstance(inner, list):
            return ()
        others = [one for one in inner if not self._is_marked(one)]
        return ({**entry, self.name: others},) if others else ()

    def _is_marked(self, entry: object) -> bool:
        return self.mark in json.dumps(entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeFile:
    """A file of Cairn alone, recognized by a mark in it."""

    content: str
    mark: str

    def put(self, *, text: str) -> str:
        """Return the content. Raises NotEditable for a file of somebody else's."""
        if text.strip() and self.mark not in text:
            raise NotEditable(
                detail="A file that is not ours stands there.",
                hint="Move it away, then connect again.",
                command="cairn init",
            )
        return self.content

    def take(self, *, text: str) -> str:
        """Return nothing where the file is Cairn's."""
        return "" if self.mark in text else text


FileEdit = JsonKey | MarkedBlock | ListEntries | WholeFile


def _read_object(text: str) -> dict[str, Any]:
    try:
        whole = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise NotEditable(
            detail=f"It is no plain JSON: {error}.",
            hint="Add by hand what `cairn init --print-only` shows.",
        ) from error
    if not isinstance(whole, dict):
        raise NotEditable(detail="It holds no JSON object.")
    return whole


def _read_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotEditable(
            detail=f"It is no TOML, or has no room for a table: {error}.",
            hint="Mend it by hand, then connect again.",
        ) from error


def _write_object(whole: Mapping[str, Any], before: str) -> str:
    """Write JSON with the indent and the end that the file had."""
    found = _INDENT.match(before)
    indent = found[1] if found else "  "
    end = "\n" if before.endswith("\n") or not before else ""
    text = json.dumps(whole, indent=indent, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a pair, which JSON can name and UTF-8 cannot
        text = json.dumps(whole, indent=indent)
    return text + end


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedEdit:
    """A file as it is and as it is to be; `fault` says why it is left alone.

    `part` is what goes into it, for who puts it there by hand.
    """

    harness: str
    path: Path
    before: bytes | None
    after: str = ""
    part: str = ""
    fault: ClientError | None = None

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return self.fault is None and (self.before or b"") != self.after.encode()

    @property
    def diff(self) -> str:
        """What changes, as `diff -u` shows it; secrets are not shown."""
        before, name = (self.before or b"").decode("utf-8", "replace"), str(self.path)
        old, new = (masking.mask(text=text).text.splitlines() for text in (before, self.after))
        return "\n".join(difflib.unified_diff(old, new, fromfile=name, tofile=name, lineterm=""))


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
        replace_file(path=_backup(places, planned.path), data=planned.before, mode=FILE_MODE)
    earlier = receipts.get(name, {})
    is_changed = _digest(planned.before or b"") != earlier.get("written")
    receipts[name] = {
        "harness": planned.harness,
        "folder": earlier.get("folder", _first_missing(planned.path.parent)),
        "mixed": bool(earlier) and (earlier.get("mixed") is True or is_changed),
        "written": _digest(planned.after.encode()),
    }
    data = json.dumps(receipts, indent=1).encode()
    replace_file(path=places.state / RECEIPTS, data=data, mode=FILE_MODE)
    mode = stat.S_IMODE(planned.path.stat().st_mode) if planned.path.exists() else FILE_MODE
    replace_file(path=planned.path, data=planned.after.encode(), mode=mode)


def installed(*, places: Places) -> Mapping[str, str]:
    """Return the files that were written, and for which program."""
    return {name: str(one.get("harness")) for name, one in _receipts(places).items()}


def undo(*, places: Places) -> Iterator[tuple[Path, str, ClientError | None]]:
    """Undo every file that was written; yield each, what was done, and why it is left alone."""
    for name, receipt in _receipts(places).items():
        path = Path(name)
        try:
            yield path, _undo(places, path, receipt), None
        except (NotEditable, UnicodeDecodeError, OSError) as error:
            yield path, "is left alone", _fault_of(path, error)


def _undo(places: Places, path: Path, receipt: Mapping[str, Any]) -> str:
    """Undo a file; return what was done. Raises NotEditable, UnicodeDecodeError, OSError."""
    current, left, did = _bytes(path), _bytes(_backup(places, path)), "is as it was"
    if current is None:
        left, did = None, "is gone"
    elif _digest(current) != receipt.get("written") or receipt.get("mixed") is True:
        left, did = _without_ours(path, current, str(receipt.get("harness"))), "has lost our part"
    if left is not None:
        replace_file(path=path, data=left, mode=stat.S_IMODE(path.stat().st_mode))
    elif current is not None:
        path.unlink()
        did = "was removed"
    if receipt.get("folder"):  # made for the file
        _remove_empty(path.parent, Path(str(receipt["folder"])))
    return did


def forget(*, places: Places) -> None:
    """Remove everything of this program itself: settings, backups, bookmarks."""
    state, home = places.state, places.home
    for folder in (state / "replays", state / "backups", state, places.settings):
        for file in folder.iterdir() if folder.is_dir() else ():
            if file.is_file():
                file.unlink()
        is_below = home in folder.parents
        _remove_empty(folder, home / folder.relative_to(home).parts[0] if is_below else folder)


def _plan_file(harness: str, path: Path, edit: FileEdit) -> PlannedEdit:
    planned = PlannedEdit(harness=harness, path=path, before=_bytes(path))
    try:
        return replace(planned, after=edit.put(text=(planned.before or b"").decode("utf-8")))
    except (NotEditable, UnicodeDecodeError) as error:
        part = masking.mask(text=edit.put(text="")).text
        return replace(planned, part=part, fault=_fault_of(path, error))


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


def _remove_empty(folder: Path, last: Path) -> None:
    """Remove a folder if it is empty, and the empty ones that it lies in, through the last."""
    while last in (folder, *folder.parents) and folder.is_dir() and not any(folder.iterdir()):
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
        return NotEditable(detail=f"{path}: {error.strerror}", command="cairn doctor")
    return NotEditable(detail=f"{path} is no text.")


def is_there(*, harness: str, home: Path) -> bool:
    """Say whether a program was ever run by this person."""
    return any((home / sign).exists() for sign in HARNESSES[harness])


def edits_of(*, connection: Connection) -> Mapping[str, Mapping[str, FileEdit]]:
    """Return what each program needs, by its files below one's home."""
    authorization = f"Bearer {connection.token}"
    url, headers = f"{connection.url}/mcp", {"Authorization": authorization}
    server = {"url": url, "headers": headers}
    typed = {"type": "http", **server}
    table = (
        f"[mcp_servers.{NAME}]\n"
        f"url = {json.dumps(url)}\n"
        f"http_headers = {{ Authorization = {json.dumps(authorization)} }}"
    )
    codex = MarkedBlock(
        begin="# cairn: begin", end="# cairn: end", body=table, table=("mcp_servers", NAME)
    )
    where = f' (project "{connection.project}")' if connection.project else ""
    rules = MarkedBlock(
        begin="<!-- cairn: begin -->",
        end="<!-- cairn: end -->",
        body=f"Before a task, search Cairn{where} for what is known about it. After learning "
        "something\nthat the next session needs (a decision, a trap, a fix, a dead end), store it "
        "as one\nsentence with its reason.",
    )
    script = {SCRIPT: WholeFile(content=_text("bin/hook.sh"), mark=_SCRIPT_MARK)}
    copilot = json.dumps(_plugin_file("copilot.json"), indent=2) + "\n"
    return {
        "claude-code": {
            ".claude.json": JsonKey(outer=SERVERS, name=NAME, value=typed),
            ".claude/CLAUDE.md": rules,
            ".claude/settings.json": _hooks("hooks.json"),
            **script,
        },
        "cursor": {
            ".cursor/mcp.json": JsonKey(outer=SERVERS, name=NAME, value=server),
            ".cursor/hooks.json": _hooks("cursor.json"),
            **script,
        },
        "codex": {
            ".codex/config.toml": codex,
            ".codex/AGENTS.md": rules,
            ".codex/hooks.json": _hooks("codex.json"),
            **script,
        },
        "copilot": {
            ".copilot/mcp-config.json": JsonKey(
                outer=SERVERS, name=NAME, value={**typed, "tools": ["*"]}
            ),
            ".copilot/hooks/cairn.json": WholeFile(content=copilot, mark=SCRIPT),
            **script,
        },
    }


def _hooks(file: str) -> ListEntries:
    """Return the hooks that a file of the plugin names, as entries of a program's own file."""
    plugin = _plugin_file(file)
    hooks = {event: tuple(groups) for event, groups in plugin["hooks"].items()}
    head = {"version": plugin["version"]} if "version" in plugin else {}
    return ListEntries(name="hooks", lists=hooks, mark=SCRIPT, head=head)


def _plugin_file(file: str) -> Mapping[str, Any]:
    text = _text(f"hooks/{file}")
    for root in _ROOTS:
        text = text.replace(root, f"$HOME/{PLUGIN_FOLDER}")
    return dict(json.loads(text))


def _text(name: str) -> str:
    for folder in (_INSTALLED, _CHECKOUT):
        if (folder / name).is_file():
            return (folder / name).read_text(encoding="utf-8")
    raise ClientError(
        detail=f"{name} of the plugin is not where this program is.",
        hint="Install it anew.",
        command="uv tool install --reinstall ./deploy/client",
    )
