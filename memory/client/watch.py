"""Follow transcripts while they are written: what they gain is sent as it comes.

A round looks which files have changed and replays those from their bookmarks, so whatever stops it
(a signal, a crash, a server that is away) loses nothing and sends nothing twice. Files are asked
for their size and moment: what tells of changes itself differs on every system, and a round over a
thousand files takes milliseconds. While the server is away the rounds become rarer. What is wrong
with one file alone keeps no other: that file is tried again ever more rarely.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from . import finding, replay
from .errors import STILL_RUNNING, ClientError, Problem, Unreachable
from .finding import Transcript
from .replay import Done, Run

LIVE_SECONDS: Final = 3_600.0  # a transcript that was written within the last hour is followed
LONGEST_WAIT_SECONDS: Final = 60.0
_AWAY: Final = 500  # from this status on the server is at fault, and is asked again
_BUSY: Final = frozenset({408, 429})  # it has no time, whatever is sent

Stamp = tuple[tuple[str, int, int], ...]  # name, size and moment of a transcript's files


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What a round came to, and how many seconds there are until the next."""

    done: tuple[Done, ...]
    fault: ClientError | None
    wait_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """When a transcript with a fault is tried again, how long that waits, and what was told."""

    at_seconds: float
    wait_seconds: float
    detail: str


@dataclass(slots=True, kw_only=True)
class Watch:
    """Transcripts that are followed, of those that are there the ones that belong to the work.

    `seen` is how each was when all of it had been sent, or nothing of it was to be; `again` are
    those with a fault of their own, which is told once.
    """

    run: Run
    look: Callable[[], Iterable[Transcript]]
    belongs: Callable[[Transcript], bool]
    every_seconds: float
    seen: dict[Path, Stamp] = field(default_factory=dict)
    again: dict[Path, Again] = field(default_factory=dict)
    wait_seconds: float = 0.0

    def round(self, *, now_seconds: float) -> Round:
        """Send what has come since the last round. Raises Problem where none may be sent."""
        done: list[Done] = []
        fault: ClientError | None = None
        try:
            for one in self._sent(now_seconds):
                done.append(one)
                fault = one.fault if _is_away(one.fault) else None
                if fault is not None:
                    break
        except Unreachable as away:
            fault = away
        self.wait_seconds = self._next_wait(fault)
        return Round(done=tuple(done), fault=fault, wait_seconds=self.wait_seconds)

    def _sent(self, now_seconds: float) -> Iterator[Done]:
        for transcript in self.look():
            stamp = _stamp(transcript)
            if not stamp or not self._is_due(transcript, stamp, now_seconds):
                continue
            if not self.belongs(transcript):
                self.seen[transcript.path] = stamp
                continue
            for one in replay.replay(run=self.run, transcripts=(transcript,)):
                if self._is_news(one, stamp, now_seconds):
                    yield one

    def _is_due(self, transcript: Transcript, stamp: Stamp, now_seconds: float) -> bool:
        """Say whether a transcript is written now, or was begun to be sent; note it if not."""
        path = transcript.path
        if path in self.again:
            return now_seconds >= self.again[path].at_seconds
        if path in self.seen:
            return self.seen[path] != stamp
        is_live = any(moment / 1e9 >= now_seconds - LIVE_SECONDS for _, _, moment in stamp)
        is_told = is_live or not all(moment for _, _, moment in stamp)
        if is_told or self.run.shelf.is_begun(transcript=transcript):
            return True
        self.seen[path] = stamp
        return False

    def _is_news(self, one: Done, stamp: Stamp, now_seconds: float) -> bool:
        """Note how a transcript is to be gone on with; say whether anybody is to be told."""
        path = one.transcript.path
        before = self.again.get(path)
        if one.fault is None:
            self.again.pop(path, None)
            self.seen[path] = stamp
            return True
        if _is_away(one.fault):
            return True
        wait = min(
            (before.wait_seconds if before else self.every_seconds) * 2, LONGEST_WAIT_SECONDS
        )
        self.again[path] = Again(
            at_seconds=now_seconds + wait, wait_seconds=wait, detail=one.fault.detail
        )
        return before is None or before.detail != one.fault.detail or bool(one.session_id)

    def _next_wait(self, fault: ClientError | None) -> float:
        if fault is None:
            return self.every_seconds
        return min(max(self.wait_seconds, self.every_seconds) * 2, LONGEST_WAIT_SECONDS)


def _is_away(fault: ClientError | None) -> bool:
    """Say whether the next transcript would be told the same, and this one something else later."""
    return isinstance(fault, Problem) and (
        fault.status >= _AWAY or fault.status in _BUSY or fault.code == STILL_RUNNING
    )


def _stamp(transcript: Transcript) -> Stamp:
    """Return what tells whether any file of a transcript has changed; nothing of one that went."""
    main = _told(transcript.path)
    if main is None:
        return ()
    beside = map(_told, finding.beside(of=transcript))
    return (main, *sorted(told for told in beside if told is not None))


def _told(path: Path) -> tuple[str, int, int] | None:
    """Return a file's part of a stamp, None for one that went; a moment of 0: it tells none."""
    try:
        seen = path.stat()
    except FileNotFoundError:
        return None
    except OSError:
        return (path.name, 0, 0)
    return (path.name, seen.st_size, seen.st_mtime_ns)
