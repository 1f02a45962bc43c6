"""Send what transcripts hold to sessions, in calls that the server takes.

A session takes so many turns and events; what one has no room for goes on in the next of its
thread, whose name ends in “#2” and so on. Every row goes to the first of them that has it already
or has room for it, so what is sent twice finds itself again, wherever a call began.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from . import finding
from .errors import Problem
from .finding import Transcript
from .reading import Read, Row
from .transcripts import Standing
from .values import Appended, Session

TURNS_MOST: Final = 150  # a call; the server takes 200
EVENTS_MOST: Final = 400  # a call; the server takes 500
BYTES_MOST: Final = 400_000  # of JSON a call; the server takes 1 MiB
NAME_MOST: Final = 190  # characters of a name that a number follows; the server takes 200
FULL: Final = "too_many"  # the code of what a session has no room for
_GONE: Final = 404  # a session that was deleted since


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
class About:
    """Whose session something is sent to: the transcript, its project, and who sees it."""

    transcript: Transcript
    project: str
    is_shared: bool


@dataclass(slots=True, kw_only=True)
class Target:
    """The session to which a file is sent, opened with the first row; `part` counts from 1."""

    sink: Sink
    about: About
    part: int = 1
    session_id: str = ""

    def take(self, *, batch: tuple[Read, ...], tally: Tally) -> None:
        """Send what some lines say and tell; count what the server answers."""
        turns = (row for one in batch for row in one.turns)
        for rows in portions(rows=turns, most=TURNS_MOST):
            self._put(self._turns, rows, tally)
        events = (row for one in batch for row in one.events)
        for rows in portions(rows=events, most=EVENTS_MOST):
            self._put(self._events, rows, tally)

    def _put(self, send: Callable[[list[Row]], Appended], rows: list[Row], tally: Tally) -> None:
        """Send rows, each to the first part that takes it."""
        self.session_id = self.session_id or self._opened()
        try:
            tally.add(send(rows))
        except Problem as problem:
            if not _is_full(problem):
                raise
        else:
            return
        if len(rows) == 1:
            self._go_on()
            self._put(send, rows, tally)
            return
        half = len(rows) // 2
        for some in (rows[:half], rows[half:]):
            self._put(send, some, tally)

    def _go_on(self) -> None:
        """End a session that is full; the next row opens the one behind it."""
        end(sink=self.sink, session_id=self.session_id)
        self.part, self.session_id = self.part + 1, ""

    def _turns(self, rows: list[Row]) -> Appended:
        return self.sink.append_turns(session_id=self.session_id, turns=rows)

    def _events(self, rows: list[Row]) -> Appended:
        return self.sink.append_events(session_id=self.session_id, events=rows)

    def _opened(self) -> str:
        transcript = self.about.transcript
        where = finding.about(transcript=transcript)
        name = transcript.external_id
        session = self.sink.open_session(
            external_id=name if self.part == 1 else f"{name[:NAME_MOST]}#{self.part}",
            thread=name,
            project=self.about.project,
            agent=f"{transcript.source.name} transcript",
            shared=self.about.is_shared,
            cwd=where.cwd,
            root=where.root or None,
            branch=where.branch,
            commit=where.commit,
        )
        return session.id


def end(*, sink: Sink, session_id: str) -> None:
    """End a session; one that is gone needs no end."""
    try:
        sink.end_session(session_id=session_id)
    except Problem as problem:
        if problem.status != _GONE:
            raise


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


def _is_full(problem: Problem) -> bool:
    return any(fault.code == FULL for fault in problem.faults)
