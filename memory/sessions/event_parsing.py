"""Events from JSON: lenient about what is missing or new, strict about what would mislead.

Unknown kinds are kept as unknown, so that they can be counted; a row without a usable sequence,
kind or tool name is refused with a reason, and the others of its batch stand. Texts are cut, and
characters that no database text can hold are taken out.
"""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from memory.sessions import tools
from memory.sessions.events import (
    COMMAND_MOST,
    NO_ARGUMENTS,
    TARGET_MOST,
    TEXT_MOST,
    Arguments,
    Event,
    EventKind,
    Outcome,
)

SEQUENCE_MOST: Final = 2**31 - 1  # what a column of positive integers holds
COUNT_MOST: Final = 10**9  # tokens or steps, ours
FILES_MOST: Final = 200  # of a commit or a report, ours
SECONDS_MOST: Final = 10**10  # since 1970, ours
TOOK_MOST_MS: Final = 86_400_000  # a day; ours
NAME_MOST: Final = 120  # characters of a tool or an agent, ours
_TAIL: Final = TEXT_MOST // 4
_MARK: Final = "\n[… {} characters left out …]\n"
_HASH: Final = re.compile(r"[0-9a-f]{7,64}")
_MARKED: Final = re.compile(r"\n\[… (\d{1,12}) characters left out …\]\n")
_HEAD: Final = TEXT_MOST - _TAIL - len(_MARK) - 16  # so that the count has room
_PATHS: Final = (
    "file_path", "path", "filePath", "notebook_path", "filename", "file", "target_file",
    "target_notebook",
)  # fmt: skip
_PATTERNS: Final = ("pattern", "glob", "regex", "query", "glob_pattern")
_COMMANDS: Final = ("command", "cmd", "script")
_URLS: Final = ("url", "uri")
_BEFORE: Final = ("old_string", "old_str", "old_text", "before")
_AFTER: Final = ("new_string", "new_str", "new_text", "after", "content")
_LINES: Final = ("offset", "line", "start_line", "insert_line")
_ARGUMENTS: Final = (_PATHS, _PATTERNS, _COMMANDS, _URLS, _BEFORE, _AFTER, _LINES)
_OUTCOMES: Final = {
    "success": Outcome.SUCCESS,
    "succeeded": Outcome.SUCCESS,
    "passed": Outcome.SUCCESS,
    "completed": Outcome.SUCCESS,
    "failure": Outcome.FAILURE,
    "failed": Outcome.FAILURE,
    "error": Outcome.FAILURE,
    "abandoned": Outcome.ABANDONED,
    "cancelled": Outcome.ABANDONED,
    "interrupted": Outcome.ABANDONED,
}


class Reason(StrEnum):
    """Why a row is no event."""

    NOT_AN_OBJECT = "not_an_object"
    BAD_SEQUENCE = "bad_sequence"
    NO_KIND = "no_kind"
    NO_TOOL_NAME = "no_tool_name"
    BAD_STEP = "bad_step"
    BAD_TEXT = "bad_text"
    BAD_COUNT = "bad_count"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A row that is no event: its place in the batch, the field, the reason."""

    position: int
    field: str
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What a batch holds: its events in the order given, what was refused, how many unknown."""

    events: tuple[Event, ...]
    refused: tuple[Refused, ...]
    unknown: int


class _Bad(Exception):
    def __init__(self, *, field: str, reason: Reason) -> None:
        super().__init__(field)
        self.field = field
        self.reason = reason


def taken(*, given: Mapping[str, object]) -> dict[str, object]:
    """Return those arguments of a call that `read` looks at, as they are."""
    found = ((names, _first(given, names)) for names in _ARGUMENTS)
    return {
        next(name for name in names if given.get(name) is not None): value
        for names, value in found
        if value is not None
    }


def length(*, text: str) -> int:
    """Return how many characters a text had before its middle was left out."""
    marked = _MARKED.search(text) if len(text) >= _HEAD else None
    return len(text) if marked is None else len(text) + int(marked.group(1))


def read_all(*, rows: tuple[object, ...]) -> Batch:
    """Read a batch of JSON rows; nothing is raised, whatever they hold."""
    events: list[Event] = []
    refused: list[Refused] = []
    for position, row in enumerate(rows):
        read_row = read(row=row, position=position)
        if isinstance(read_row, Event):
            events.append(read_row)
        else:
            refused.append(read_row)
    unknown = sum(event.kind is EventKind.UNKNOWN for event in events)
    return Batch(events=tuple(events), refused=tuple(refused), unknown=unknown)


def read(*, row: object, position: int = 0) -> Event | Refused:
    """Read one JSON row as an event, or say why it is none."""
    try:
        return _event(row)
    except _Bad as bad:
        return Refused(position=position, field=bad.field, reason=bad.reason)


def _event(row: object) -> Event:
    if not isinstance(row, Mapping):
        raise _Bad(field="", reason=Reason.NOT_AN_OBJECT)
    sequence = _whole(row, "sequence", least=1, most=SEQUENCE_MOST, reason=Reason.BAD_SEQUENCE)
    kind, name = _kind(row)
    given = row.get("args", row.get("arguments"))
    return Event(
        sequence=sequence,
        kind=kind,
        step=_whole(row, "step", least=0, most=COUNT_MOST, reason=Reason.BAD_STEP),
        at_seconds=_moment(row.get("at")),
        agent=_short(row.get("agent"))[:NAME_MOST],
        name=name,
        call=_short(row.get("call"))[:NAME_MOST],
        arguments=_arguments(given) if isinstance(given, Mapping) else NO_ARGUMENTS,
        text=_text(row.get("text")) or _recorded(kind, name, given),
        is_error=row.get("is_error") is True or _exit_code(row) != 0,
        tokens=_whole(row, "tokens", least=0, most=COUNT_MOST, reason=Reason.BAD_COUNT),
        steps=_whole(row, "steps", least=0, most=COUNT_MOST, reason=Reason.BAD_COUNT),
        outcome=_OUTCOMES.get(_short(row.get("outcome")).lower(), Outcome.UNKNOWN),
        files=_files(row.get("files")),
        took_seconds=_took(row.get("duration_ms")),
        commit=_commit(row.get("commit")),
    )


def _kind(row: Mapping[str, object]) -> tuple[EventKind, str]:
    """Return the kind and the tool's name; of an unknown kind what it called itself."""
    said = _short(row.get("kind", row.get("type")))
    if not said:
        raise _Bad(field="kind", reason=Reason.NO_KIND)
    try:
        kind = EventKind(said)
    except ValueError:
        kind = EventKind.UNKNOWN
    name = _short(row.get("name"))[:NAME_MOST]
    if kind is EventKind.TOOL_CALL and not name:
        raise _Bad(field="name", reason=Reason.NO_TOOL_NAME)
    return kind, said[:NAME_MOST] if kind is EventKind.UNKNOWN else name


def _arguments(given: Mapping[str, object]) -> Arguments:
    line = _first(given, _LINES)
    return Arguments(
        path=_target(_first(given, _PATHS)),
        pattern=_target(_first(given, _PATTERNS)),
        command=_ends(_short(_command(_first(given, _COMMANDS)))),
        url=_target(_first(given, _URLS)),
        before=_digest(_first(given, _BEFORE)),
        after=_digest(_first(given, _AFTER)),
        line=line if isinstance(line, int) and 0 < line <= COUNT_MOST else 0,
    )


def _recorded(kind: EventKind, name: str, given: object) -> str:
    """Return what the agent itself puts down with a call; of other calls no text is kept."""
    if kind is not EventKind.TOOL_CALL or not isinstance(given, Mapping):
        return ""
    content = given.get("content") if tools.is_recording(name=name) else None
    return _text(content) if isinstance(content, str) else ""


def _first(given: Mapping[str, object], names: tuple[str, ...]) -> object:
    return next((given[name] for name in names if given.get(name) is not None), None)


def _command(value: object) -> object:
    """Return a command as one line; some tools give its words."""
    if isinstance(value, list):
        return " ".join(word for word in value if isinstance(word, str))
    return value


def _digest(value: object) -> str:
    """Return what tells texts apart without keeping them; empty for none."""
    if not isinstance(value, str) or not value.strip():
        return ""
    words = " ".join(value.split())
    return hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _whole(row: Mapping[str, object], field: str, *, least: int, most: int, reason: Reason) -> int:
    """Return a whole number; 0 where none is given and none is needed."""
    value = row.get(field)
    if value is None and least == 0:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _Bad(field=field, reason=reason)
    return value


def _exit_code(row: Mapping[str, object]) -> int:
    code = row.get("exit_code")
    return code if isinstance(code, int) else 0


def _text(value: object) -> str:
    """Return the head and the tail of a text, with a mark of what was left out between them."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _Bad(field="text", reason=Reason.BAD_TEXT)
    if len(value) > TEXT_MOST:
        value = f"{value[:_HEAD]}{_MARK.format(len(value) - _HEAD - _TAIL)}{value[-_TAIL:]}"
    return _storable(value)


def _ends(command: str) -> str:
    """Return a command, or the beginning and the end of one that is too long."""
    if len(command) <= COMMAND_MOST:
        return command
    return f"{command[: COMMAND_MOST - _TAIL - 1]}\n{command[-_TAIL:]}"


def _target(value: object) -> str:
    return _short(value)[:TARGET_MOST]


def _short(value: object) -> str:
    return _storable(value.strip()) if isinstance(value, str) else ""


def _storable(text: str) -> str:
    if text.isascii():
        return text.replace("\x00", "")
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def _files(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    named = (_target(entry) for entry in value[:FILES_MOST])
    return tuple(name for name in named if name)


def _commit(value: object) -> str:
    """Return the hash of a commit; empty for what is none."""
    said = _short(value).lower()
    return said if _HASH.fullmatch(said) else ""


def _took(value: object) -> float | None:
    """Return how many seconds a call took, of its milliseconds; None for what is no such number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value / 1_000 if 0 <= value <= TOOK_MOST_MS else None


def _moment(value: object) -> float | None:
    """Return seconds since 1970 of an ISO moment with its zone, or of a number; else None."""
    if isinstance(value, str):
        try:
            read_at = datetime.fromisoformat(value)
        except ValueError:
            return None
        return _within(read_at.timestamp()) if read_at.tzinfo is not None else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _within(value)


def _within(seconds: float) -> float | None:
    """Return seconds that lie from 1970 to the year 2286; others are no clock's."""
    return float(seconds) if 0 <= seconds < SECONDS_MOST and math.isfinite(seconds) else None
