"""Replay transcripts into sessions: read, masked here, sent in batches, ended.

A session is found again by the name of its transcript, and what it holds by sequence numbers that
follow from lines: so a transcript that is sent twice, in whole or in part, is stored once.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from . import finding, reading
from .bookmarks import Bookmark, Shelf
from .errors import ClientError, Problem
from .finding import Transcript
from .reading import BLOCK, FIRST_BLOCK, Place, Read
from .sending import BYTES_MOST, TURNS_MOST, About, Sink, Tally, Target, end

RANKS_MOST: Final = (2**31 - FIRST_BLOCK) // BLOCK  # subagents whose numbers fit into a session
_ENOUGH: Final = (401, 403)  # what the next transcript would be told as well


class TooMany(ClientError):
    """A session has more subagents than it has numbers for."""


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
    for session_id in dict.fromkeys(one.mark.session_id for one in marks.values()):
        if session_id:
            end(sink=run.sink, session_id=session_id)
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
    start = mark.place
    about = About(transcript=transcript, project=run.project, is_shared=run.is_shared)
    target = None if run.sink is None else Target(sink=run.sink, about=about, part=mark.part)
    lines = reading.read(
        path=transcript.path, parser=transcript.source.parser, start=start, rank=transcript.rank
    )
    for batch, place in _batches(_counted(lines, start, tally, run.progress)):
        if target is None:
            continue
        target.take(batch=batch, tally=tally)
        session_id = target.session_id or mark.session_id
        mark = replace(mark, place=place, session_id=session_id, part=target.part)
        run.shelf.keep(transcript=transcript, mark=mark)
    return Sent(mark=mark, sent_to="" if target is None else target.session_id)


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
