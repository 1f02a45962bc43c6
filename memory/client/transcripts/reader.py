"""Read a transcript from disk, line by line, in bounded memory, on from where it was left.

A line's number fixes the sequence numbers of its rows, so reading a file twice gives the same
numbers. What is being written (a last line without its end) is left for the next time, unless it
is whole; then the end that it gets later is no line. What is no JSON, or too long to be held, is
counted and passed over.

What an agent says aloud is reasoning as well as a turn: real agents say between two calls of tools
that they were wrong. The event has its turn's number, so no other number depends on it.

A bookmark is one small file for a server, a project and a session. It is written after the server
has taken a batch, so a run that is cut off sends at most one batch again, which changes nothing. It
names the session until that has ended, so a run that was cut off before is ended by the next.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, Final

from .. import configuration
from . import entries
from .entries import (
    STRIDE,
    Entry,
    Parser,
    ParserState,
    TranscriptEvent,
    TranscriptTurn,
    UnknownKind,
)
from .finder import Transcript

LINE_MOST: Final = 16 * 1024 * 1024  # bytes of a line that is read; default, not measured
TURN_MOST: Final = 40_000  # characters of a turn, default; the server takes 100,000
TEXT_MOST: Final = 12_000  # characters of an event's text, default; the server keeps 16,000
NAME_MOST: Final = 120  # characters of the name of a tool, a call or an agent
EARLIEST: Final = 2020  # the year from which a timestamp is believed; default
FIRST_BLOCK: Final = 2**30  # where the sequence numbers of subagents begin, of 2**31
BLOCK: Final = 2**21  # of them for each: 16,384 lines
HEAD: Final = 512  # bytes at the start of a file, by which it is recognized
_CHUNK: Final = 1024 * 1024  # bytes

Row = dict[str, Any]


class LineStatus(StrEnum):
    """What became of a line."""

    READ = "read"
    UNKNOWN = "unknown"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Between two lines: the byte and the number of the line before, and the parser's state."""

    offset: int = 0
    line: int = 0
    state: ParserState = field(default_factory=ParserState)


START: Final = Position()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLine:
    """A line that was read: rows to send, kinds of what was masked, and the position behind it."""

    position: Position
    status: LineStatus = LineStatus.READ
    turns: tuple[Row, ...] = ()
    events: tuple[Row, ...] = ()
    masked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bookmark:
    """How far a transcript was sent, and the session of it that has not ended; empty for none.

    `part` counts its sessions, of which one that is full goes on in the next. `ranks` are those of
    its subagents, by the names of their files: once given they stay, since sequence numbers follow
    from them.
    """

    position: Position = START
    session_id: str = ""
    part: int = 1
    ranks: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bookmarks:
    """The bookmarks of one server and one project."""

    folder: Path
    url: str
    project: str

    def find(self, *, transcript: Transcript) -> Bookmark:
        """Return how far a transcript was sent; the start, where it is another file now."""
        stored = self._stored(transcript)
        ranks = stored.get("ranks", {})
        position = position_of(stored.get("place"))
        if stored.get("head") != _head(transcript) or position.offset > transcript.size:
            return Bookmark(ranks=ranks)
        return Bookmark(
            position=position,
            session_id=stored.get("session", ""),
            part=stored.get("part", 1),
            ranks=ranks,
        )

    def is_begun(self, *, transcript: Transcript) -> bool:
        """Say whether anything of a transcript was sent to a session that has not ended."""
        return bool(self._stored(transcript).get("session"))

    def save(self, *, transcript: Transcript, bookmark: Bookmark) -> None:
        """Store that everything before a position was taken, and which session has not ended."""
        stored = {
            "path": str(transcript.path),
            "head": _head(transcript),
            "place": asdict(bookmark.position),
            "session": bookmark.session_id,
            "part": bookmark.part,
            "ranks": dict(bookmark.ranks),
        }
        data, mode = json.dumps(stored).encode(), configuration.FILE_MODE
        configuration.replace(path=self._file(transcript), data=data, mode=mode)

    def _stored(self, transcript: Transcript) -> Mapping[str, Any]:
        """Return what was stored; nothing where that cannot be used."""
        try:
            stored = json.loads(self._file(transcript).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return stored if isinstance(stored, dict) else {}

    def _file(self, transcript: Transcript) -> Path:
        parts = "\n".join((self.url, self.project, transcript.key))
        name = hashlib.blake2b(parts.encode(), digest_size=16).hexdigest()
        return self.folder / f"{name}.json"


def read(
    *, path: Path, parser: Parser, start: Position = START, rank: int = 0
) -> Iterator[ReadLine]:
    """Yield each line behind a position; `rank` counts subagents, 0 is the main agent."""
    if rank and start == START:
        start = Position(state=ParserState(agent=path.stem))
    with path.open("rb") as file:
        _seek_line(file, start.offset)
        position = start
        while raw := file.readline(LINE_MOST):
            is_whole = raw.endswith(b"\n")
            if not is_whole and len(raw) >= LINE_MOST:
                raw = b""
                while not is_whole and (rest := file.readline(_CHUNK)):
                    is_whole = rest.endswith(b"\n")
            if not is_whole and entries.json_object(raw) is None:
                return
            one = _line(raw, parser, position, file.tell(), rank)
            yield one
            if not is_whole:
                return
            position = one.position


def _line(raw: bytes, parser: Parser, before: Position, offset: int, rank: int) -> ReadLine:
    number, state = before.line + 1, replace(before.state)
    position = Position(offset=offset, line=number, state=state)
    line = entries.json_object(raw)
    if line is None or (rank and (number + 1) * STRIDE > BLOCK):
        is_blank = bool(raw) and not raw.strip()
        return ReadLine(
            position=position, status=LineStatus.READ if is_blank else LineStatus.BROKEN
        )
    status = LineStatus.READ
    try:
        found = tuple(parser(state, line))
    except UnknownKind as unknown:
        status = LineStatus.UNKNOWN
        name = entries.masked(text=str(unknown).strip(), most=80).text.strip()
        found = (TranscriptEvent(kind=name or "unnamed"),)
    found = tuple(_of_subagent(found)) if rank else found
    turns: list[Row] = []
    events: list[Row] = []
    masked: list[str] = []
    first = number * STRIDE + (FIRST_BLOCK + (rank - 1) * BLOCK if rank else 0)
    at = _timestamp(entries.text_of(line, "timestamp"))
    for place, entry in enumerate(found[: STRIDE - 1], 1):
        same = {"sequence": first + place, **({"at": at} if at else {})}
        row, kinds = _row(entry, state)
        masked += kinds
        if isinstance(entry, TranscriptEvent):
            events.append({**same, **row})
            continue
        turns.append({**same, **row})
        if entry.role == "assistant":
            aloud, _ = _row(TranscriptEvent(kind="reasoning", text=entry.text), state)
            events.append({**same, **aloud})
    return ReadLine(
        position=position,
        status=status,
        turns=tuple(turns),
        events=tuple(events),
        masked=tuple(masked),
    )


def _of_subagent(found: tuple[Entry, ...]) -> Iterator[Entry]:
    """Yield what counts of a subagent: no person speaks to it, and what it says is reasoning."""
    for one in found:
        if isinstance(one, TranscriptTurn):
            if one.role != "user":
                yield TranscriptEvent(kind="reasoning", text=one.text)
        elif one.kind != "prompt":
            yield one


def _row(entry: Entry, state: ParserState) -> tuple[Row, tuple[str, ...]]:
    """Return an entry as it is sent, and the kinds of what was masked in it."""
    if isinstance(entry, TranscriptTurn):
        found = entries.masked(text=entry.text, most=TURN_MOST)
        return {"text": found.text, "role": entry.role}, found.kinds
    found = entries.masked(text=entry.text, most=TEXT_MOST)
    fields_of_event = {
        "text": found.text,
        "name": entry.name[:NAME_MOST],
        "call": entry.call[:NAME_MOST],
        "agent": state.agent[:NAME_MOST],
        "step": state.step,
        "args": dict(entry.arguments),
        "is_error": entry.is_error,
        "tokens": entry.tokens,
        "files": list(entry.files),
    }
    row = {name: value for name, value in fields_of_event.items() if value}
    return {**row, "kind": entry.kind}, () if entry.kind == "prompt" else found.kinds  # its turn's


def _timestamp(text: str) -> str:
    """Return a timestamp with its zone in ISO 8601; empty for what is none."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return ""
    return read.isoformat() if read.tzinfo is not None and read.year >= EARLIEST else ""


def _seek_line(file: BinaryIO, offset: int) -> None:
    """Seek the next line: behind the end of one that was taken before it had an end."""
    file.seek(max(0, offset - 1))
    if offset and file.read(1) != b"\n" and file.readline(_CHUNK).strip():
        file.seek(offset)


def position_of(stored: Any) -> Position:
    """Return a stored position; the start where it is of another version or broken."""
    try:
        state = ParserState(**{**stored["state"], "own": tuple(stored["state"]["own"])})
        return Position(offset=int(stored["offset"]), line=int(stored["line"]), state=state)
    except (KeyError, TypeError, ValueError):
        return START


def _head(transcript: Transcript) -> str:
    """Return a digest of the start of a file; a newer parser makes another."""
    with transcript.path.open("rb") as file:
        start = file.readline(HEAD)
    version = str(transcript.source.version).encode()
    return hashlib.blake2b(version + b"\n" + start, digest_size=16).hexdigest()
