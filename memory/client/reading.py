"""Read a transcript from disk, line by line, in bounded memory, on from where it was left (8.3).

A line's number fixes the sequence numbers of what it says, so reading a file twice gives the same
numbers. What is being written (a last line without its end) is left for the next time, unless it
is whole; then the end that it gets later is no line. What is no JSON, or too long to be held, is
counted and passed over.

What an agent says aloud is reasoning as well as a turn: real agents say between two calls of tools
that they were wrong. The event has its turn's number, so no other number depends on it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

from . import transcripts
from .transcripts import STRIDE, TEXT_MOST, TURN_MOST, Entry, Event, Parser, Standing, State, Turn

LINE_MOST: Final = 16 * 1024 * 1024  # bytes of a line that is read, ours
EARLIEST: Final = 2020  # the year of a moment that is believed, ours
FIRST_BLOCK: Final = 2**30  # where the sequence numbers of subagents begin, of 2**31
BLOCK: Final = 2**21  # of them for each: 16,384 lines
_CHUNK: Final = 1024 * 1024  # bytes

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Between two lines: the byte and the number of the line before, and the parser's state."""

    offset: int = 0
    line: int = 0
    state: State = field(default_factory=State)


START: Final = Place()


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What a line came to: rows to send, kinds of what was masked, and the place behind it."""

    place: Place
    standing: Standing
    turns: tuple[Row, ...] = ()
    events: tuple[Row, ...] = ()
    masked: tuple[str, ...] = ()


def read(*, path: Path, parser: Parser, start: Place = START, rank: int = 0) -> Iterator[Read]:
    """Yield what each line behind a place comes to; `rank` counts subagents, 0 is the main one."""
    if rank and start == START:
        start = Place(state=State(agent=path.stem))
    with path.open("rb") as file:
        _go_on(file, start.offset)
        place = start
        while raw := file.readline(LINE_MOST):
            is_whole = raw.endswith(b"\n")
            if not is_whole and len(raw) >= LINE_MOST:
                is_whole, raw = _passed_over(file), b""
            if not is_whole and not _is_json(raw):
                return
            one = _line(raw, parser, place, file.tell(), rank)
            yield one
            if not is_whole:
                return
            place = one.place


def as_json(*, place: Place) -> dict[str, Any]:
    """Write a place down."""
    return asdict(place)


def from_json(*, told: object) -> Place:
    """Read what was written down; the start where that is not to be used."""
    if not isinstance(told, Mapping) or not isinstance(told.get("state"), Mapping):
        return START
    names = {one.name for one in fields(State)}
    state = {name: value for name, value in told["state"].items() if name in names}
    try:
        made = State(**{**state, "own": tuple(state.get("own", ()))})
        return Place(offset=int(told["offset"]), line=int(told["line"]), state=made)
    except (KeyError, TypeError, ValueError):
        return START


def _line(raw: bytes, parser: Parser, before: Place, offset: int, rank: int) -> Read:
    number = before.line + 1
    place = Place(offset=offset, line=number, state=before.state)
    line = _object(raw)
    if line is None or (rank and (number + 1) * STRIDE > BLOCK):
        blank = bool(raw) and not raw.strip()
        return Read(place=place, standing=Standing.SILENT if blank else Standing.BROKEN)
    parsed = parser(before.state, line)
    after = Place(offset=offset, line=number, state=parsed.state)
    turns: list[Row] = []
    events: list[Row] = []
    masked: list[str] = []
    first = number * STRIDE + (FIRST_BLOCK + (rank - 1) * BLOCK if rank else 0)
    entries = _of_subagent(parsed.entries) if rank else parsed.entries
    for position, entry in enumerate(entries[: STRIDE - 1], 1):
        row = _row(entry, first + position, parsed.at, after.state, masked)
        (turns if isinstance(entry, Turn) else events).append(row)
        if isinstance(entry, Turn) and entry.role == "assistant":
            aloud = Event(kind="reasoning", text=entry.text)
            events.append(_row(aloud, first + position, parsed.at, after.state, []))
    return Read(
        place=after,
        standing=parsed.standing,
        turns=tuple(turns),
        events=tuple(events),
        masked=tuple(masked),
    )


def _of_subagent(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Return what counts of a subagent: no person speaks to it, and what it says is a thought."""
    thoughts = (
        Event(kind="reasoning", text=one.text) if isinstance(one, Turn) else one
        for one in entries
        if not (isinstance(one, Turn) and one.role == "user")
    )
    return tuple(one for one in thoughts if one.kind != "prompt")


def _row(entry: Entry, sequence: int, at: str, state: State, masked: list[str]) -> Row:
    most = TURN_MOST if isinstance(entry, Turn) else TEXT_MOST
    found = transcripts.masked(text=entry.text, most=most)
    if not (isinstance(entry, Event) and entry.kind == "prompt"):  # its turn has told of it
        masked.extend(found.kinds)
    row: Row = {"sequence": sequence, "text": found.text}
    moment = _moment(at)
    if moment:
        row["at"] = moment
    if isinstance(entry, Turn):
        return {**row, "role": entry.role}
    said = {
        "name": entry.name[:120],
        "call": entry.call[:120],
        "agent": state.agent[:120],
        "step": state.step,
        "args": dict(entry.arguments),
        "is_error": entry.is_error,
        "tokens": entry.tokens,
        "files": list(entry.files),
    }
    kept = {name: value for name, value in {**row, **said}.items() if value}
    return {**kept, "kind": entry.kind}


def _moment(text: str) -> str:
    """Return a moment with its zone as ISO writes it; empty for what is none."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return ""
    return read.isoformat() if read.tzinfo is not None and read.year >= EARLIEST else ""


def _object(raw: bytes) -> Mapping[str, Any] | None:
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) else None


def _is_json(raw: bytes) -> bool:
    return _object(raw) is not None


def _go_on(file: BinaryIO, offset: int) -> None:
    """Go to the next line: behind the end of one that was taken before it had an end."""
    file.seek(max(0, offset - 1))
    if not offset or file.read(1) == b"\n":
        return
    if file.readline(_CHUNK).strip():
        file.seek(offset)


def _passed_over(file: BinaryIO) -> bool:
    """Pass over the rest of a line that is too long; say whether it had an end."""
    while raw := file.readline(_CHUNK):
        if raw.endswith(b"\n"):
            return True
    return False
