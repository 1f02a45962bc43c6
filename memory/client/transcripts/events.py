"""Turns and events of a transcript, whatever program wrote it.

A parser gets the state after the line before and one line of JSON, and returns the state after it
and the turns and events of the line. States are small and can be stored, so that reading resumes
where it stopped. Formats drift: what a parser does not know becomes an event of an unknown kind, by
its name alone.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from .. import masking

STRIDE: Final = 128  # sequence numbers a line; so a number follows from its line alone
TURN_MOST: Final = 40_000  # characters of a turn, default; the server takes 100,000
TEXT_MOST: Final = 12_000  # characters of an event's text, default; the server keeps 16,000
TARGET_MOST: Final = 400  # characters of a path or an address, the server's
COMMAND_MOST: Final = 16_000  # characters of a command, the server's
SCANNED_MOST: Final = 1_000_000  # characters of a text that are scanned for secrets; default
MARGIN: Final = 600  # characters left off where a text ends there: half a secret is not sent
OWN_SERVERS: Final = frozenset({"cairn", "plugin_cairn_cairn"})
OWN_CALLS: Final = 64  # of Cairn's tools, whose answers are not learned again

Line = Mapping[str, Any]


class LineStatus(StrEnum):
    """What became of a line."""

    READ = "read"
    SILENT = "silent"  # known, and of no use here
    UNKNOWN = "unknown"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message of a person or an agent."""

    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What an agent did."""

    kind: str
    name: str = ""
    call: str = ""
    text: str = ""
    is_error: bool = False
    tokens: int = 0
    arguments: Mapping[str, object] = field(default_factory=dict)
    files: tuple[str, ...] = ()


Entry = Turn | Event


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserState:
    """What a parser remembers of the lines before.

    `root` is the folder in which the work was done, `message` the answer of the model that is a
    step, `said` the last text of each role, by source and digest, `own` are calls of Cairn's tools.
    """

    root: str = ""
    step: int = 0
    message: str = ""
    tokens: int = 0
    agent: str = ""
    said: Mapping[str, str] = field(default_factory=dict)
    own: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """The turns and events of a line, and the state after it."""

    state: ParserState
    entries: tuple[Entry, ...] = ()
    at: str = ""
    status: LineStatus = LineStatus.READ


Parser = Callable[[ParserState, Line], Parsed]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPlace:
    """Where work was done, as far as a line has it: folder, branch, commit.

    `root` is the folder of the repository, which git knows.
    """

    cwd: str = ""
    root: str = ""
    branch: str = ""
    commit: str = ""


_NAMES: Final[Mapping[str, tuple[str, ...]]] = {  # by what tools call them
    "path": ("file_path", "path", "notebook_path", "filename", "file", "target_file"),
    "pattern": ("pattern", "glob", "regex", "query", "glob_pattern"),
    "command": ("command", "cmd", "script"),
    "url": ("url", "uri"),
}
_DIGESTED: Final[Mapping[str, tuple[str, ...]]] = {
    "before": ("old_string", "old_str", "old_text", "before"),
    "after": ("new_string", "new_str", "new_text", "after", "content"),
}
_LINES: Final = ("offset", "line", "start_line", "insert_line")


def arguments(*, given: object, root: str) -> Mapping[str, object]:
    """Return the arguments of a tool that signals need; texts of edits by their digest alone.

    Paths below the root begin there: files have one name in all sessions, and no folder of a
    person's home is sent.
    """
    if not isinstance(given, Mapping):
        return {}
    made: dict[str, object] = {}
    for name, names in _NAMES.items():
        value = _first(given, names)
        if isinstance(value, list):  # some tools give the words of a command
            value = " ".join(word for word in value if isinstance(word, str))
        if isinstance(value, str) and value:
            most = COMMAND_MOST if name == "command" else TARGET_MOST
            text = value.replace(f"{root}/", "") if len(root) > 1 else value
            made[name] = masked(text=text, most=most).text
    for name, names in _DIGESTED.items():
        value = _first(given, names)
        if isinstance(value, str) and value.strip():
            made[name] = digest(text=value)
    line = _first(given, _LINES)
    if isinstance(line, int) and not isinstance(line, bool) and line > 0:
        made["line"] = line
    return made


def digest(*, text: str) -> str:
    """Return a digest of a text; spaces do not count."""
    words = " ".join(text.split())
    return hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=8).hexdigest()


def masked(*, text: str, most: int) -> masking.Masked:
    """Take secrets out of a text, then cut it to a head and a tail of so many characters.

    A secret is recognized by what stands before it, so a text is scanned from its beginning; what
    lies behind the bound is dropped.
    """
    clean = text.replace("\x00", "").encode("utf-8", "replace").decode()
    found = masking.mask(text=clean[:SCANNED_MOST])
    whole = found.text if len(clean) <= SCANNED_MOST else found.text[:-MARGIN]
    if len(whole) <= most:
        return masking.Masked(text=whole, kinds=found.kinds)
    tail_most = most // 4
    kept = f"{whole[: most - tail_most - 1]}\n{whole[-tail_most:]}"
    return masking.Masked(text=kept, kinds=found.kinds)


def text_blocks(*, content: object) -> str:
    """Return the texts of a content that is a text or a list of blocks."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (block.get("text") for block in content if isinstance(block, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def is_own(*, name: str) -> bool:
    """Say whether a tool is one of Cairn's: its answers are known already."""
    plain = name.lower().replace(".", "__")
    is_named_by_program = plain.startswith(("mcp_cairn_", "mcp_plugin_cairn_cairn_"))
    return is_named_by_program or not OWN_SERVERS.isdisjoint(plain.split("__"))


def unknown(*, state: ParserState, kind: str, at: str) -> Parsed:
    """Return a line of an unknown kind as an event, by the name of its kind alone."""
    name = masked(text=kind.strip(), most=80).text.strip()
    event = Event(kind=name or "unnamed")
    return Parsed(state=state, entries=(event,), at=at, status=LineStatus.UNKNOWN)


def text_of(line: Line, name: str) -> str:
    """Return a text of an object, empty where there is none."""
    value = line.get(name)
    return value if isinstance(value, str) else ""


def mapping_of(line: Line, name: str) -> Line:
    """Return an object inside of an object, empty where there is none."""
    value = line.get(name)
    return value if isinstance(value, Mapping) else {}


def whole_of(line: Line, name: str) -> int:
    """Return a number of an object that can be counted, 0 where there is none."""
    value = line.get(name)
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9
    return int(value) if is_count and value is not None else 0


def json_object(raw: bytes) -> Line | None:
    """Return the JSON object of a line; None where it is none."""
    line = parsed_json(text=raw)
    return line if isinstance(line, dict) else None


def parsed_json(*, text: str | bytes) -> object:
    """Read JSON that a field or a line holds; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _first(given: Line, names: tuple[str, ...]) -> object:
    return next((given[name] for name in names if given.get(name) is not None), None)
