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
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

from .. import configuration
from . import events
from .events import (
    STRIDE,
    TEXT_MOST,
    TURN_MOST,
    Entry,
    Event,
    LineStatus,
    Parser,
    ParserState,
    Turn,
)
from .finder import Transcript

LINE_MOST: Final = 16 * 1024 * 1024  # bytes of a line that is read; default, not measured
EARLIEST: Final = 2020  # the year from which a timestamp is believed; default
FIRST_BLOCK: Final = 2**30  # where the sequence numbers of subagents begin, of 2**31
BLOCK: Final = 2**21  # of them for each: 16,384 lines
HEAD: Final = 512  # bytes at the start of a file, by which it is recognized
_CHUNK: Final = 1024 * 1024  # bytes

Row = dict[str, Any]


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
    status: LineStatus
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
        given = stored.get("ranks")
        ranks = given if isinstance(given, dict) else {}
        fresh = Bookmark(ranks={name: one for name, one in ranks.items() if type(one) is int})
        if stored.get("head") != _head(transcript):
            return fresh
        position = position_of(stored.get("place"))
        if position.offset > transcript.size:
            return fresh
        part = stored.get("part")
        return replace(
            fresh,
            position=position,
            session_id=events.text_of(stored, "session"),
            part=part if type(part) is int and part > 1 else 1,
        )

    def is_begun(self, *, transcript: Transcript) -> bool:
        """Say whether anything of a transcript was sent to a session that has not ended."""
        return bool(events.text_of(self._stored(transcript), "session"))

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
        _resume(file, start.offset)
        position = start
        while raw := file.readline(LINE_MOST):
            is_whole = raw.endswith(b"\n")
            if not is_whole and len(raw) >= LINE_MOST:
                is_whole, raw = _pass_over(file), b""
            if not is_whole and events.json_object(raw) is None:
                return
            one = _line(raw, parser, position, file.tell(), rank)
            yield one
            if not is_whole:
                return
            position = one.position


def _line(raw: bytes, parser: Parser, before: Position, offset: int, rank: int) -> ReadLine:
    number = before.line + 1
    position = Position(offset=offset, line=number, state=before.state)
    line = events.json_object(raw)
    if line is None or (rank and (number + 1) * STRIDE > BLOCK):
        blank = bool(raw) and not raw.strip()
        status = LineStatus.SILENT if blank else LineStatus.BROKEN
        return ReadLine(position=position, status=status)
    parsed = parser(before.state, line)
    after = Position(offset=offset, line=number, state=parsed.state)
    turns: list[Row] = []
    done: list[Row] = []
    masked: list[str] = []
    first = number * STRIDE + (FIRST_BLOCK + (rank - 1) * BLOCK if rank else 0)
    entries = _of_subagent(parsed.entries) if rank else parsed.entries
    for place, entry in enumerate(entries[: STRIDE - 1], 1):
        row = _row(entry, first + place, parsed.at, after.state, masked)
        (turns if isinstance(entry, Turn) else done).append(row)
        if isinstance(entry, Turn) and entry.role == "assistant":
            aloud = Event(kind="reasoning", text=entry.text)
            done.append(_row(aloud, first + place, parsed.at, after.state, []))
    return ReadLine(
        position=after,
        status=parsed.status,
        turns=tuple(turns),
        events=tuple(done),
        masked=tuple(masked),
    )


def _of_subagent(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Return what counts of a subagent: no person speaks to it, and what it says is reasoning."""
    reasoning = (
        Event(kind="reasoning", text=one.text) if isinstance(one, Turn) else one
        for one in entries
        if not (isinstance(one, Turn) and one.role == "user")
    )
    return tuple(one for one in reasoning if one.kind != "prompt")


def _row(entry: Entry, sequence: int, at: str, state: ParserState, masked: list[str]) -> Row:
    most = TURN_MOST if isinstance(entry, Turn) else TEXT_MOST
    found = events.masked(text=entry.text, most=most)
    if not (isinstance(entry, Event) and entry.kind == "prompt"):  # its turn counts
        masked.extend(found.kinds)
    row: Row = {"sequence": sequence, "text": found.text}
    timestamp = _timestamp(at)
    if timestamp:
        row["at"] = timestamp
    if isinstance(entry, Turn):
        return {**row, "role": entry.role}
    more = {
        "name": entry.name[:120],
        "call": entry.call[:120],
        "agent": state.agent[:120],
        "step": state.step,
        "args": dict(entry.arguments),
        "is_error": entry.is_error,
        "tokens": entry.tokens,
        "files": list(entry.files),
    }
    kept = {name: value for name, value in {**row, **more}.items() if value}
    return {**kept, "kind": entry.kind}


def _timestamp(text: str) -> str:
    """Return a timestamp with its zone in ISO 8601; empty for what is none."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return ""
    return read.isoformat() if read.tzinfo is not None and read.year >= EARLIEST else ""


def _resume(file: BinaryIO, offset: int) -> None:
    """Seek the next line: behind the end of one that was taken before it had an end."""
    file.seek(max(0, offset - 1))
    if not offset or file.read(1) == b"\n":
        return
    if file.readline(_CHUNK).strip():
        file.seek(offset)


def _pass_over(file: BinaryIO) -> bool:
    """Pass over the rest of a line that is too long; say whether it had an end."""
    while raw := file.readline(_CHUNK):
        if raw.endswith(b"\n"):
            return True
    return False


def position_of(stored: object) -> Position:
    """Return a stored position; the start where it cannot be used."""
    if not isinstance(stored, Mapping) or not isinstance(stored.get("state"), Mapping):
        return START
    names = {one.name for one in fields(ParserState)}
    state = {name: value for name, value in stored["state"].items() if name in names}
    try:
        made = ParserState(**{**state, "own": tuple(state.get("own", ()))})
        return Position(offset=int(stored["offset"]), line=int(stored["line"]), state=made)
    except (KeyError, TypeError, ValueError):
        return START


def _head(transcript: Transcript) -> str:
    """Return a digest of the start of a file; a newer parser makes another."""
    with transcript.path.open("rb") as file:
        start = file.readline(HEAD)
    version = str(transcript.source.version).encode()
    return hashlib.blake2b(version + b"\n" + start, digest_size=16).hexdigest()
