"""Replay transcripts into sessions: read, masked here, sent in batches, ended (spec 8.3).

A session is found again by the name of its transcript, and what it holds by sequence numbers that
follow from lines: so a transcript that is sent twice, in whole or in part, is stored once.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from . import finding, reading
from .bookmarks import Bookmark, Shelf
from .errors import ClientError, Problem
from .finding import Transcript
from .reading import BLOCK, FIRST_BLOCK, Place, Read, Row
from .transcripts import Standing
from .values import Appended, Session

TURNS_MOST: Final = 150  # a call; the server takes 200
EVENTS_MOST: Final = 400  # a call; the server takes 500
BYTES_MOST: Final = 400_000  # of JSON a call; the server takes 1 MiB
RANKS_MOST: Final = (2**31 - FIRST_BLOCK) // BLOCK  # subagents whose numbers fit into a session
_GONE: Final = 404  # a session that was deleted since
_ENOUGH: Final = (401, 403)  # what the next transcript would be told as well


class TooMany(ClientError):
    """A session has more subagents than it has numbers for."""


class Sink(Protocol):
    """What of the client a replay needs."""

    def open_session(self, *, external_id: str, project: str, **about: object) -> Session:
        """Open a session, or find it."""

    def append_turns(self, *, session_id: str, turns: list[Row]) -> Appended:
        """Append turns."""

    def append_events(self, *, session_id: str, events: list[Row]) -> Appended:
        """Append events."""

    def end_session(self, *, session_id: str) -> Session:
        """End a session."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """What a transcript came to, counted while it is read and sent."""

    lines: int = 0
    turns: int = 0
    events: int = 0
    unknown: int = 0
    broken: int = 0
    stored: int = 0
    known: int = 0
    refused: int = 0
    masked: Counter[str] = field(default_factory=Counter)

    def count(self, one: Read) -> None:
        """Count a line."""
        self.lines += 1
        self.turns += len(one.turns)
        self.events += len(one.events)
        self.unknown += one.standing is Standing.UNKNOWN
        self.broken += one.standing is Standing.BROKEN
        self.masked.update(one.masked)

    def add(self, done: Appended) -> None:
        """Count what the server answered."""
        self.stored += done.stored
        self.known += done.known
        self.refused += done.refused

    def as_json(self) -> dict[str, Any]:
        """Write the counts down."""
        names = (
            "lines", "turns", "events", "unknown", "broken", "stored", "known", "refused",
        )  # fmt: skip
        return {**{name: getattr(self, name) for name in names}, "masked": dict(self.masked)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A transcript that was replayed, or what stood in its way."""

    transcript: Transcript
    tally: Tally
    session_id: str = ""
    fault: ClientError | None = None

    def as_json(self) -> dict[str, Any]:
        """Write it down."""
        told = {
            "transcript": str(self.transcript.path),
            "external_id": self.transcript.external_id,
            "session": self.session_id,
            **self.tally.as_json(),
        }
        return told if self.fault is None else {**told, "error": self.fault.detail}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """How far a file is sent now, and to which session anything was; empty for none."""

    mark: Bookmark
    sent_to: str


Progress = Callable[[int], None]  # bytes that were read since the last call


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How transcripts are replayed; without a sink they are only read."""

    sink: Sink | None
    shelf: Shelf
    project: str
    ends: bool = True
    is_shared: bool = False
    goes_on: bool = True
    progress: Progress = lambda _: None


def replay(*, run: Run, transcripts: Iterable[Transcript]) -> Iterator[Done]:
    """Yield what became of each transcript; one that the server refuses stops no other.

    Raises Problem where none of the others would fare better, and Unreachable.
    """
    for transcript in transcripts:
        tally = Tally()
        try:
            yield _replayed(run, transcript, tally)
        except Problem as problem:
            if problem.status in _ENOUGH:
                raise
            yield Done(transcript=transcript, tally=tally, fault=problem)
        except OSError as error:
            yield Done(transcript=transcript, tally=tally, fault=_unreadable(transcript, error))


def _replayed(run: Run, transcript: Transcript, tally: Tally) -> Done:
    """Return what became of it, without a session where nothing was to be sent or ended.

    What subagents did belongs to the session, so it ends when all of theirs is sent too.
    """
    marks = {transcript: _sent(run, transcript, tally)}
    fault: ClientError | None = None
    for one in _subagents(run, transcript, marks):
        try:
            _check_rank(one)
            marks[one] = _sent(replace(run, progress=lambda _: None), one, tally)
        except TooMany as refused:
            fault = refused
        except OSError as error:
            fault = _unreadable(one, error)
    sent_to = next((one.sent_to for one in marks.values() if one.sent_to), "")
    left = next((one.mark.session_id for one in marks.values() if one.mark.session_id), "")
    if run.sink is None or not run.ends or not left or fault is not None:
        return Done(transcript=transcript, tally=tally, session_id=sent_to, fault=fault)
    _end(run.sink, left)
    for one, sent in marks.items():
        run.shelf.keep(transcript=one, mark=replace(sent.mark, session_id=""))
    return Done(transcript=transcript, tally=tally, session_id=left)


def _subagents(run: Run, main: Transcript, marks: dict[Transcript, Sent]) -> tuple[Transcript, ...]:
    """Return a session's subagents; ranks of new ones are kept before anything of them is sent."""
    sent = marks[main]
    found = finding.subagents(of=main, ranks=sent.mark.ranks)
    ranks = {**sent.mark.ranks, **{one.path.stem: one.rank for one in found}}
    if run.sink is not None and ranks != sent.mark.ranks:
        marks[main] = replace(sent, mark=replace(sent.mark, ranks=ranks))
        run.shelf.keep(transcript=main, mark=marks[main].mark)
    return found


def _check_rank(one: Transcript) -> None:
    if one.rank > RANKS_MOST:
        raise TooMany(
            detail=f"{one.path} is not sent: a session takes {RANKS_MOST} subagents.",
            hint="What the others did is sent.",
        )


def _unreadable(transcript: Transcript, error: OSError) -> ClientError:
    return ClientError(detail=f"{transcript.path} cannot be read: {error.strerror}")


def _sent(run: Run, transcript: Transcript, tally: Tally) -> Sent:
    """Send what a file has gained; nothing where there is no sink."""
    mark = run.shelf.find(transcript=transcript)
    mark = mark if run.goes_on else Bookmark(ranks=mark.ranks)
    run.progress(mark.place.offset)
    start, session_id = mark.place, ""
    lines = reading.read(
        path=transcript.path, parser=transcript.source.parser, start=start, rank=transcript.rank
    )
    for batch, place in _batches(_counted(lines, start, tally, run.progress)):
        if run.sink is None:
            continue
        if not session_id and batch:
            session_id = _open(run, run.sink, transcript)
        _send(run.sink, session_id, batch, tally)
        mark = replace(mark, place=place, session_id=session_id or mark.session_id)
        run.shelf.keep(transcript=transcript, mark=mark)
    return Sent(mark=mark, sent_to=session_id)


def _end(sink: Sink, session_id: str) -> None:
    """End a session; one that is gone needs no end."""
    try:
        sink.end_session(session_id=session_id)
    except Problem as problem:
        if problem.status != _GONE:
            raise


def _counted(
    lines: Iterator[Read], start: Place, tally: Tally, progress: Progress
) -> Iterator[Read]:
    offset = start.offset
    for one in lines:
        tally.count(one)
        progress(one.place.offset - offset)
        offset = one.place.offset
        yield one


def _batches(lines: Iterator[Read]) -> Iterator[tuple[tuple[Read, ...], Place]]:
    """Yield lines that fit into a call or two, and the place behind the last of them.

    Lines that say nothing belong to the batch they follow.
    """
    held: list[Read] = []
    last: Place | None = None
    size = 0
    for one in lines:
        last = one.place
        if one.turns or one.events:
            held.append(one)
            size += sum(len(row["text"]) for row in one.turns) + 300 * len(one.events)
            size += sum(len(row.get("text", "")) for row in one.events)
        if size >= BYTES_MOST or len(held) >= TURNS_MOST:
            yield tuple(held), one.place
            held, last, size = [], None, 0
    if last is not None:
        yield tuple(held), last


def _open(run: Run, sink: Sink, transcript: Transcript) -> str:
    where = finding.about(transcript=transcript)
    session = sink.open_session(
        external_id=transcript.external_id,
        project=run.project,
        agent=f"{transcript.source.name} transcript",
        shared=run.is_shared,
        cwd=where.cwd,
        root=where.root or None,
        branch=where.branch,
        commit=where.commit,
    )
    return session.id


def _send(sink: Sink, session_id: str, batch: tuple[Read, ...], tally: Tally) -> None:
    turns = (row for one in batch for row in one.turns)
    for rows in portions(rows=turns, most=TURNS_MOST):
        tally.add(sink.append_turns(session_id=session_id, turns=rows))
    events = (row for one in batch for row in one.events)
    for rows in portions(rows=events, most=EVENTS_MOST):
        tally.add(sink.append_events(session_id=session_id, events=rows))


def portions(*, rows: Iterable[Row], most: int) -> Iterator[list[Row]]:
    """Yield rows in lists that one call takes, by number and by bytes."""
    held: list[Row] = []
    size = 0
    for row in rows:
        length = len(json.dumps(row))
        if held and (len(held) >= most or size + length > BYTES_MOST):
            yield held
            held, size = [], 0
        held.append(row)
        size += length
    if held:
        yield held
