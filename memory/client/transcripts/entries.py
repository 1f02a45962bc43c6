"""Turns and events of a transcript, whatever program wrote it.

A parser gets the state after the line before and one line of JSON; it changes the state and yields
the turns and events of the line. States are small and can be stored, so that reading resumes where
it stopped. Formats drift: what a parser does not know becomes an event of an unknown kind, by its
name alone.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .. import masking

STRIDE: Final = 128  # sequence numbers a line; so a number follows from its line alone
TARGET_MOST: Final = 400  # characters of a path or an address, the server's
COMMAND_MOST: Final = 16_000  # characters of a command, the server's
SCANNED_MOST: Final = 1_000_000  # characters of a text that are scanned for secrets; default
MARGIN: Final = 600  # characters left off where a text ends there: half a secret is not sent
OWN_SERVERS: Final = frozenset({"cairn", "plugin_cairn_cairn"})
OWN_CALLS: Final = 64  # of Cairn's tools, whose answers are not learned again
_PRIVATE: Final = re.compile(r"<private>.*?(?:</private>|\Z)", re.DOTALL | re.IGNORECASE)
_REMINDER: Final = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)
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

Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptTurn:
    """A message of a person or an agent."""

    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptEvent:
    """What an agent did."""

    kind: str
    name: str = ""
    call: str = ""
    text: str = ""
    is_error: bool = False
    tokens: int = 0
    arguments: Mapping[str, object] = field(default_factory=dict)
    files: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
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
class WorkPlace:
    """Where work was done, as far as a line has it: folder, branch, commit.

    `root` is the folder of the repository, which git knows.
    """

    cwd: str = ""
    root: str = ""
    branch: str = ""
    commit: str = ""


class UnknownKind(Exception):
    """A line is of a kind that its parser does not know; the argument is the kind's name."""


Entry = TranscriptTurn | TranscriptEvent
Entries = Iterator[Entry]
Parser = Callable[[ParserState, Line], Entries]  # raises UnknownKind before it yields anything


def call_entries(
    state: ParserState,
    name: str,
    call: str,
    given: Mapping[str, object],
    files: tuple[str, ...] = (),
) -> Entries:
    """Yield the call of a tool; nothing of one without a name."""
    if not name:
        return
    if is_own(name=name):
        state.own = (*state.own, call)[-OWN_CALLS:]
    yield TranscriptEvent(kind="tool_call", name=name, call=call, arguments=given, files=files)


def result_event(state: ParserState, call: str, text: str, *, is_error: bool) -> TranscriptEvent:
    """Return what a tool returned; nothing of what Cairn's own tools said."""
    text = "" if call in state.own else without_private(text=text)
    return TranscriptEvent(kind="tool_result", call=call, text=text, is_error=is_error)


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
    kept = found.text if len(clean) <= SCANNED_MOST else found.text[:-MARGIN]
    if len(kept) > most:
        tail = most // 4
        kept = f"{kept[: most - tail - 1]}\n{kept[-tail:]}"
    return masking.Masked(text=kept, kinds=found.kinds)


def without_private(*, text: str) -> str:
    """Return a text without what its writer marked as private, and without reminders."""
    return _REMINDER.sub("", _PRIVATE.sub("", text)).strip()


def text_blocks(*, content: object) -> str:
    """Return the texts of a content that is a text or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else ()
    texts = (block.get("text") for block in blocks if isinstance(block, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def is_own(*, name: str) -> bool:
    """Say whether a tool is one of Cairn's: its answers are known already."""
    plain = name.lower().replace(".", "__")
    is_named_by_program = plain.startswith(("mcp_cairn_", "mcp_plugin_cairn_cairn_"))
    return is_named_by_program or not OWN_SERVERS.isdisjoint(plain.split("__"))


def text_of(line: Line, name: str) -> str:
    """Return a text of an object, empty where there is none."""
    value = line.get(name)
    return value if isinstance(value, str) else ""


def mapping_of(line: Line, name: str) -> Line:
    """Return an object inside of an object, empty where there is none."""
    value = line.get(name)
    return value if isinstance(value, Mapping) else {}


def count_of(line: Line, name: str) -> int:
    """Return a number of an object that can be counted, 0 where there is none."""
    value = line.get(name)
    return value if type(value) is int and 0 <= value < 10**9 else 0


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
