"""Send transcripts to sessions: read, masked here, sent in batches, ended.

A session is found again by the name of its transcript, and its rows by sequence numbers that follow
from lines: so a transcript that is sent twice, in whole or in part, is stored once.

A session takes so many turns and events; one that is full goes on in the next of its thread, whose
name ends in “#2” and so on. Every row goes to the first of them that has it already or has room for
it, so what is sent twice finds itself again, wherever a call began.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..errors import STILL_RUNNING, ClientError, Misused, Problem, Unreachable
from . import reader
from .reader import BLOCK, FIRST_BLOCK, Bookmark, Bookmarks, LineStatus, ReadLine, Row, Transcript

if TYPE_CHECKING:
    from ..api import Client

LINES_MOST: Final = 400  # that are held at once
TURNS_MOST: Final = 150  # a call; the server takes 200
EVENTS_MOST: Final = 400  # a call; the server takes 500
BYTES_MOST: Final = 400_000  # of JSON a call; the server takes 1 MiB
EVENT_BYTES: Final = 300  # of an event beside its text; default, not measured
NAME_MOST: Final = 190  # characters of a name that a number follows; the server takes 200
FULL: Final = "too_many"  # the code of what a session has no room for
RANKS_MOST: Final = (2**31 - FIRST_BLOCK) // BLOCK  # subagents whose numbers fit into a session
_GONE: Final = 404  # a session that was deleted since
_STOPS_ALL: Final = (401, 403)  # refusals that the next transcript would meet as well

Progress = Callable[[int], None]  # bytes that were read since the last call
LIVE_SECONDS: Final = 3_600.0  # a transcript that was written within the last hour is followed
LONGEST_WAIT_SECONDS: Final = 60.0
_AWAY: Final = 500  # from this status on the server is at fault, and is asked again
_BUSY: Final = frozenset({408, 429})  # it has no time, whatever is sent
Stamp = tuple[tuple[str, int, int], ...]  # name, size and time of a transcript's files


@dataclass(slots=True, kw_only=True)
class UploadCounts:
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

    def count(self, line: ReadLine) -> None:
        """Count a line that was read."""
        self.lines += 1
        self.turns += len(line.turns)
        self.events += len(line.events)
        self.unknown += line.status is LineStatus.UNKNOWN
        self.broken += line.status is LineStatus.BROKEN
        self.masked.update(line.masked)


@dataclass(slots=True, kw_only=True)
class UploadResult:
    """What became of a transcript, and to which session anything of it was sent or ended."""

    transcript: Transcript
    counts: UploadCounts = field(default_factory=UploadCounts)
    session_id: str = ""
    fault: ClientError | None = None

    def as_json(self) -> dict[str, Any]:
        """Write it down."""
        row = {
            "transcript": str(self.transcript.path),
            "external_id": self.transcript.external_id,
            "session": self.session_id,
            **{one.name: getattr(self.counts, one.name) for one in fields(self.counts)},
        }
        return row if self.fault is None else {**row, "error": self.fault.detail}


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadPlan:
    """How transcripts are sent; without an `api` they are only read."""

    api: "Client | None"
    bookmarks: Bookmarks
    project: str
    ends: bool = True
    is_shared: bool = False
    resumes: bool = True
    progress: Progress = lambda _: None


@dataclass(slots=True, kw_only=True)
class _Target:
    """The session to which a file is sent, opened with the first row; `part` counts from 1."""

    api: "Client"
    plan: UploadPlan
    result: UploadResult
    transcript: Transcript
    part: int
    session_id: str = ""

    def send(self, batch: tuple[ReadLine, ...]) -> None:
        """Send the rows of some lines; count what the server answers."""
        for rows in portions(rows=(row for one in batch for row in one.turns), most=TURNS_MOST):
            self._send(rows, "turns")
        for rows in portions(rows=(row for one in batch for row in one.events), most=EVENTS_MOST):
            self._send(rows, "events")

    def _send(self, rows: list[Row], kind: str) -> None:
        """Send rows, each to the first part that takes it."""
        self.session_id = self.session_id or self._open()
        try:
            answer = self.api.append(session_id=self.session_id, kind=kind, rows=rows)
            counts = self.result.counts
            counts.stored += answer["stored"]
            counts.known += answer["known"]
            counts.refused += len(answer.get("refused") or ())
            return
        except Problem as problem:
            if not any(fault.code == FULL for fault in problem.faults):
                raise
        if len(rows) == 1:  # the session is full: the row opens the one behind it
            _end(self.api, self.session_id)
            self.part, self.session_id = self.part + 1, ""
            self._send(rows, kind)
            return
        half = len(rows) // 2
        for some in (rows[:half], rows[half:]):
            self._send(some, kind)

    def _open(self) -> str:
        place = reader.work_place(transcript=self.transcript)
        name = self.transcript.external_id
        session = self.api.open_session(
            external_id=name if self.part == 1 else f"{name[:NAME_MOST]}#{self.part}",
            thread=name,
            project=self.plan.project,
            agent=f"{self.transcript.source.name} transcript",
            shared=self.plan.is_shared,
            cwd=place.cwd,
            root=place.root or None,
            branch=place.branch,
            commit=place.commit,
        )
        return str(session["id"])


def send_transcripts(
    *, plan: UploadPlan, transcripts: Iterable[Transcript]
) -> Iterator[UploadResult]:
    """Yield what became of each transcript; one that the server refuses stops no other.

    Raises Problem where none of the others would fare better, and Unreachable.
    """
    for transcript in transcripts:
        result = UploadResult(transcript=transcript)
        try:
            _send_session(plan, result)
        except Problem as problem:
            if problem.status in _STOPS_ALL:
                raise
            result.fault = problem
        except Misused as error:
            result.fault = error
        except OSError as error:
            result.fault = _unreadable(transcript, error)
        yield result


def portions(
    *, rows: Iterable[Row], most: int, bytes_most: int = BYTES_MOST
) -> Iterator[list[Row]]:
    """Yield rows in lists that one call takes, by number and by bytes."""
    held: list[Row] = []
    size = 0
    for row in rows:
        length = len(json.dumps(row))
        if held and (len(held) >= most or size + length > bytes_most):
            yield held
            held, size = [], 0
        held.append(row)
        size += length
    if held:
        yield held


def _send_session(plan: UploadPlan, result: UploadResult) -> None:
    """Send a transcript and those of its subagents, and end its session when all of it is sent."""
    main = result.transcript
    bookmark = _send_file(plan, main, result)
    subagents = reader.subagents(of=main, ranks=bookmark.ranks)
    ranks = {**bookmark.ranks, **{one.path.stem: one.rank for one in subagents}}
    if plan.api is not None and ranks != bookmark.ranks:  # before anything of new ones is sent
        bookmark = replace(bookmark, ranks=ranks)
        plan.bookmarks.save(transcript=main, bookmark=bookmark)
    bookmarks = {main: bookmark}
    silent = replace(plan, progress=lambda _: None)
    for one in subagents:
        if one.rank > RANKS_MOST:
            result.fault = ClientError(
                detail=f"{one.path} is not sent: a session takes {RANKS_MOST} subagents.",
                hint="What the others did is sent.",
            )
            continue
        try:
            bookmarks[one] = _send_file(silent, one, result)
        except OSError as error:
            result.fault = _unreadable(one, error)
    if plan.ends and result.fault is None:
        result.session_id = _end_sessions(plan, bookmarks) or result.session_id


def _end_sessions(plan: UploadPlan, bookmarks: Mapping[Transcript, Bookmark]) -> str:
    """End the sessions of a transcript; return the first, nothing where none is open."""
    is_open = [one.session_id for one in bookmarks.values() if one.session_id]
    if plan.api is None or not is_open:
        return ""
    for session_id in dict.fromkeys(is_open):
        _end(plan.api, session_id)
    for transcript, sent in bookmarks.items():
        plan.bookmarks.save(transcript=transcript, bookmark=replace(sent, session_id=""))
    return is_open[0]


def _send_file(plan: UploadPlan, transcript: Transcript, result: UploadResult) -> Bookmark:
    """Send what a file has gained, and note to which session; return how far it is sent."""
    bookmark = plan.bookmarks.find(transcript=transcript)
    bookmark = bookmark if plan.resumes else Bookmark(ranks=bookmark.ranks)
    plan.progress(bookmark.position.offset)
    target: _Target | None = None
    if plan.api is not None:
        target = _Target(
            api=plan.api, plan=plan, result=result, transcript=transcript, part=bookmark.part
        )
    for batch in _batches(transcript, bookmark):
        for line in batch:
            result.counts.count(line)
        position = batch[-1].position
        plan.progress(position.offset - bookmark.position.offset)
        bookmark = replace(bookmark, position=position)
        if target is not None:
            target.send(batch)
            session_id = target.session_id or bookmark.session_id
            bookmark = replace(bookmark, session_id=session_id, part=target.part)
            plan.bookmarks.save(transcript=transcript, bookmark=bookmark)
    if target is not None:  # a refused file has raised: it has no session to speak of
        result.session_id = result.session_id or target.session_id
    return bookmark


def _batches(transcript: Transcript, bookmark: Bookmark) -> Iterator[tuple[ReadLine, ...]]:
    """Yield the lines behind a bookmark, in batches that fit into a call or two."""
    held: list[ReadLine] = []
    size = 0
    for line in reader.read(
        path=transcript.path,
        parser=transcript.source.parser,
        start=bookmark.position,
        rank=transcript.rank,
    ):
        held.append(line)
        rows = (*line.turns, *line.events)
        size += sum(len(row.get("text", "")) for row in rows) + EVENT_BYTES * len(line.events)
        if size >= BYTES_MOST or len(held) >= LINES_MOST:
            yield tuple(held)
            held, size = [], 0
    if held:
        yield tuple(held)


def _end(api: "Client", session_id: str) -> None:
    """End a session; one that is gone needs no end."""
    try:
        api.end_session(session_id=session_id)
    except Problem as problem:
        if problem.status != _GONE:
            raise


def _unreadable(transcript: Transcript, error: OSError) -> ClientError:
    return ClientError(detail=f"{transcript.path} cannot be read: {error.strerror}")


class Round(NamedTuple):
    """What a round came to, and how many seconds there are until the next."""

    results: tuple[UploadResult, ...]
    fault: ClientError | None
    wait_seconds: float


@dataclass(slots=True, kw_only=True)
class Watch:
    """Transcripts that are followed: of those that are there the ones that belong to the work.

    `seen` is how each was when all of it had been sent, or nothing of it was to be; `faults` are
    those with a fault of their own, which is reported once, and when each is tried again.
    """

    plan: UploadPlan
    find: Callable[[], Iterable[Transcript]]
    belongs: Callable[[Transcript], bool]
    every_seconds: float
    seen: dict[Path, Stamp] = field(default_factory=dict)
    faults: dict[Path, tuple[str, float]] = field(default_factory=dict)
    wait_seconds: float = 0.0

    def round(self, *, now_seconds: float) -> Round:
        """Send what has come since the last round. Raises Problem where none may be sent."""
        results: list[UploadResult] = []
        fault: ClientError | None = None
        try:
            for one in self._send_changed(now_seconds):
                results.append(one)
                if _is_away(one.fault):
                    fault = one.fault
                    break
        except Unreachable as away:
            fault = away
        wait = self.every_seconds
        if fault is not None:
            wait = min(max(self.wait_seconds, wait) * 2, LONGEST_WAIT_SECONDS)
        self.wait_seconds = wait
        return Round(tuple(results), fault, wait)

    def _send_changed(self, now_seconds: float) -> Iterator[UploadResult]:
        for transcript in self.find():
            stamp = _stamp(transcript)
            if not stamp or not self._is_due(transcript, stamp, now_seconds):
                continue
            if not self.belongs(transcript):
                self.seen[transcript.path] = stamp
                continue
            for one in send_transcripts(plan=self.plan, transcripts=(transcript,)):
                if self._is_news(one, stamp, now_seconds):
                    yield one

    def _is_due(self, transcript: Transcript, stamp: Stamp, now_seconds: float) -> bool:
        """Say whether a transcript is written now, or was begun to be sent; note it if not."""
        path = transcript.path
        if path in self.faults:
            return now_seconds >= self.faults[path][1]
        if path in self.seen:
            return self.seen[path] != stamp
        is_live = any(not at or at / 1e9 >= now_seconds - LIVE_SECONDS for _, _, at in stamp)
        if is_live or self.plan.bookmarks.is_begun(transcript=transcript):
            return True
        self.seen[path] = stamp
        return False

    def _is_news(self, one: UploadResult, stamp: Stamp, now_seconds: float) -> bool:
        """Note when a transcript is sent next; say whether the result is to be reported."""
        path = one.transcript.path
        if one.fault is None:
            self.faults.pop(path, None)
            self.seen[path] = stamp
            return True
        if _is_away(one.fault):
            return True
        before, _ = self.faults.get(path, ("", 0.0))
        self.faults[path] = (one.fault.detail, now_seconds + LONGEST_WAIT_SECONDS)
        return before != one.fault.detail or bool(one.session_id)


def _is_away(fault: ClientError | None) -> bool:
    """Say whether the next transcript would be refused as well, and this one accepted later."""
    return isinstance(fault, Problem) and (
        fault.status >= _AWAY or fault.status in _BUSY or fault.code == STILL_RUNNING
    )


def _stamp(transcript: Transcript) -> Stamp:
    """Return size and time of each file of a transcript; nothing of one that went.

    A time of 0: it cannot be looked at.
    """
    stamps: list[tuple[str, int, int]] = []
    for path in (transcript.path, *sorted(reader.subagent_files(of=transcript))):
        try:
            seen = path.stat()
            stamps.append((path.name, seen.st_size, seen.st_mtime_ns))
        except FileNotFoundError:
            if path == transcript.path:
                return ()
        except OSError:
            stamps.append((path.name, 0, 0))
    return tuple(stamps)
