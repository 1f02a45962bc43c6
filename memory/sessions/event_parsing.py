"""Events from JSON: lenient about what is missing or new, strict about what would mislead.

Unknown kinds are kept as unknown, so that they can be counted; a row without a usable sequence,
kind or tool name is refused with a reason, and the others of its batch stand. Texts are cut, and
characters that no database text can hold are taken out.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from memory.sessions import events, file_paths, tools
from memory.text.text import read_tables

SEQUENCE_MOST: Final = 2**31 - 1  # what a column of positive integers holds
# Defaults, not measured.
COUNT_MOST: Final = 10**9  # tokens or steps
FILES_MOST: Final = 200  # of a commit or a report
SECONDS_MOST: Final = 10**10  # since 1970: to the year 2286
TOOK_MOST_MS: Final = 86_400_000  # a day
NAME_MOST: Final = 120  # characters of a tool or an agent
ADDED_LINES: Final = 3  # of an edit that are kept at most; who adds more adds no single setting
ADDED_MOST: Final = 160  # characters of each
_TAIL: Final = events.TEXT_MOST // 4
_MARK: Final = "\n[… {} characters left out …]\n"
IMPORTS: Final = re.compile(  # a line that makes something known to its file
    r"(?:import|from|use|using|require|require_relative|include|alias|#include)\b"
    r"|.{0,80}= ?require\("
)
_SENT_DIGEST: Final = re.compile(r"[0-9a-f]{16}")
_HASH: Final = re.compile(r"[0-9a-f]{7,64}")
_MARKED: Final = re.compile(r"\n\[… (\d{1,12}) characters left out …\]\n")
_HEAD: Final = events.TEXT_MOST - _TAIL - len(_MARK) - 16  # so that the count has room
_TABLES: Final = read_tables(file=Path(__file__).with_name("tables") / "events.toml")
_ARGUMENTS: Final = {part: tuple(names.split()) for part, names in _TABLES["arguments"].items()}
_OUTCOMES: Final = {
    word: events.Outcome(outcome)
    for outcome, words in _TABLES["outcomes"].items()
    for word in words.split()
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


class _Invalid(Exception):
    """The field and the `Reason` for which a row is no event."""


def known_arguments(*, given: Mapping[str, object]) -> dict[str, object]:
    """Return those arguments of a call that `read` looks at, as they are."""
    named = (
        next((name for name in names if given.get(name) is not None), "")
        for names in _ARGUMENTS.values()
    )
    return {name: given[name] for name in named if name}


def full_length(*, text: str) -> int:
    """Return how many characters a text had before its middle was left out."""
    marked = _MARKED.search(text) if len(text) >= _HEAD else None
    return len(text) if marked is None else len(text) + int(marked.group(1))


def read(*, row: object, position: int = 0) -> events.Event | Refused:
    """Read one JSON row as an event, or say why it is none."""
    try:
        if not isinstance(row, Mapping):
            raise _Invalid("", Reason.NOT_AN_OBJECT)
        return _event(row)
    except _Invalid as invalid:
        field, reason = invalid.args
        return Refused(position=position, field=field, reason=reason)


def _event(row: Mapping[str, object]) -> events.Event:
    sequence = _whole_number(row, "sequence", Reason.BAD_SEQUENCE, least=1, most=SEQUENCE_MOST)
    kind, name = _kind_and_name(row)
    is_call = kind is events.EventKind.TOOL_CALL
    given = row.get("args", row.get("arguments"))
    given = given if isinstance(given, Mapping) else {}
    text = _text(row.get("text"))
    content = given.get("content")
    if not text and is_call and isinstance(content, str) and tools.is_recording(name=name):
        text = _text(content)  # what the agent itself puts down; of other calls no text is kept
    exit_code, files = row.get("exit_code"), row.get("files")
    commit = _short(row.get("commit")).lower()
    return events.Event(
        sequence=sequence,
        kind=kind,
        step=_whole_number(row, "step", Reason.BAD_STEP),
        at_seconds=_timestamp(row.get("at")),
        agent=_short(row.get("agent"))[:NAME_MOST],
        name=name,
        call=_short(row.get("call"))[:NAME_MOST],
        arguments=_arguments(given),
        text=text,
        is_error=row.get("is_error") is True or (isinstance(exit_code, int) and exit_code != 0),
        tokens=_whole_number(row, "tokens", Reason.BAD_COUNT),
        steps=_whole_number(row, "steps", Reason.BAD_COUNT),
        outcome=_OUTCOMES.get(_short(row.get("outcome")).lower(), events.Outcome.UNKNOWN),
        files=tuple(
            filter(None, map(_target, files[:FILES_MOST] if isinstance(files, list) else ()))
        ),
        took_seconds=_seconds(row.get("duration_ms"), unit=1_000, most=TOOK_MOST_MS / 1_000),
        commit=commit if _HASH.fullmatch(commit) else "",
    )


def _kind_and_name(row: Mapping[str, object]) -> tuple[events.EventKind, str]:
    """Return the kind of an event and what it names; an unknown kind is the name itself."""
    said, name = _short(row.get("kind", row.get("type"))), _short(row.get("name"))[:NAME_MOST]
    if not said:
        raise _Invalid("kind", Reason.NO_KIND)
    try:
        kind = events.EventKind(said)
    except ValueError:
        return events.EventKind.UNKNOWN, said[:NAME_MOST]
    if kind is events.EventKind.TOOL_CALL and not name:
        raise _Invalid("name", Reason.NO_TOOL_NAME)
    return kind, name


def _arguments(given: Mapping[str, object]) -> events.Arguments:
    if not given:
        return events.NO_ARGUMENTS
    line, command = _first(given, "line"), _first(given, "command")
    if isinstance(command, list):  # some tools give its words
        command = " ".join(word for word in command if isinstance(word, str))
    command = _short(command)
    before, after = _first(given, "before"), _first(given, "after")
    if len(command) > events.COMMAND_MOST:
        command = f"{command[: events.COMMAND_MOST - _TAIL - 1]}\n{command[-_TAIL:]}"
    path = _target(_first(given, "path"))
    return events.Arguments(
        path=path,
        pattern=_target(_first(given, "pattern")),
        command=command,
        url=_target(_first(given, "url")),
        before=_digest(before),
        after=_digest(after),
        added=_added(path, before, after, _short(given.get("added"))),
        line=line if isinstance(line, int) and 0 < line <= COUNT_MOST else 0,
    )


def _first(given: Mapping[str, object], part: str) -> object:
    """Return what a call gives of an argument, under the first of its names."""
    return next((given[name] for name in _ARGUMENTS[part] if given.get(name) is not None), None)


def _digest(value: object) -> str:
    """Return what tells texts apart without keeping them; empty for none."""
    if not isinstance(value, str) or not value.strip():
        return ""
    words = " ".join(value.split())
    return hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _added(path: str, before: object, after: object, named: str) -> str:
    """Return the lines that an edit adds to a setting, or the imports, where they are few.

    Of other edits no text is kept. A client that sends digests of the sides names the lines itself.
    """
    if not isinstance(before, str) or not isinstance(after, str):
        return ""
    if _SENT_DIGEST.fullmatch(after):
        before, after = "", named
    known = {"", *map(str.strip, before.splitlines())}
    lines = [line for line in map(str.strip, after.splitlines()) if line not in known]
    if len(lines) > ADDED_LINES or max(map(len, lines), default=0) > ADDED_MOST:
        return ""
    return _storable("\n".join(lines)) if _is_told(path, lines) else ""


def _is_told(path: str, lines: list[str]) -> bool:
    """Say whether added lines may be kept: settings and imports, but no file that holds secrets."""
    is_setting = file_paths.is_setting(path=path) or all(map(IMPORTS.match, lines))
    return is_setting and not file_paths.holds_secrets(path=path)


def _whole_number(
    row: Mapping[str, object], field: str, reason: Reason, *, least: int = 0, most: int = COUNT_MOST
) -> int:
    """Return a whole number; 0 where none is given and none is needed."""
    value = row.get(field)
    if value is None and least == 0:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _Invalid(field, reason)
    return value


def _text(value: object) -> str:
    """Return the head and the tail of a text, with a mark of what was left out between them."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _Invalid("text", Reason.BAD_TEXT)
    if len(value) > events.TEXT_MOST:
        value = f"{value[:_HEAD]}{_MARK.format(len(value) - _HEAD - _TAIL)}{value[-_TAIL:]}"
    return _storable(value)


def _target(value: object) -> str:
    return _short(value)[: events.TARGET_MOST]


def _short(value: object) -> str:
    return _storable(value.strip()) if isinstance(value, str) else ""


def _storable(text: str) -> str:
    """Return a text without what no column of the database can hold."""
    text = text.replace("\x00", "")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _timestamp(value: object) -> float | None:
    """Return seconds since 1970 of an ISO timestamp with its zone, or of a number; else None."""
    if isinstance(value, str):
        try:
            read_at = datetime.fromisoformat(value)
        except ValueError:
            return None
        value = read_at.timestamp() if read_at.tzinfo is not None else None
    return _seconds(value, unit=1, most=SECONDS_MOST)


def _seconds(value: object, *, unit: int, most: float) -> float | None:
    """Return a number of seconds from 0 to a bound; None for what is no such number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value / unit if 0 <= value <= most * unit else None
