"""Follow transcripts while they are written: what they gain is sent as it comes (spec 8.3).

A round looks which files have changed and replays those from their bookmarks, so whatever stops it
(a signal, a crash, a server that is away) loses nothing and sends nothing twice. Files are asked
for their size and moment: what tells of changes itself differs on every system, and a round over a
thousand files takes milliseconds. While the server is away the rounds become rarer.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from . import finding, replay
from .errors import ClientError, Problem, Unreachable
from .finding import Transcript
from .replay import Done, Run

LIVE_SECONDS: Final = 3_600.0  # a transcript that was written within the last hour is followed
LONGEST_WAIT_SECONDS: Final = 60.0
_AWAY: Final = 500  # from this status on the server is at fault, and is asked again

Stamp = tuple[tuple[str, int, int], ...]  # name, size and moment of a transcript's files


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What a round came to, and how many seconds there are until the next."""

    done: tuple[Done, ...]
    fault: ClientError | None
    wait_seconds: float


@dataclass(slots=True, kw_only=True)
class Watch:
    """Transcripts that are followed, of those that are there the ones that belong to the work.

    `seen` is how each was when all of it had been sent, or did not belong.
    """

    run: Run
    look: Callable[[], Iterable[Transcript]]
    belongs: Callable[[Transcript], bool]
    every_seconds: float
    seen: dict[Path, Stamp] = field(default_factory=dict)
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
            if self.seen.get(transcript.path) == stamp or not self._is_due(
                transcript, stamp, now_seconds
            ):
                continue
            if not self.belongs(transcript):
                self.seen[transcript.path] = stamp
                continue
            for one in replay.replay(run=self.run, transcripts=(transcript,)):
                yield one
                if not _is_away(one.fault):
                    self.seen[transcript.path] = stamp

    def _is_due(self, transcript: Transcript, stamp: Stamp, now_seconds: float) -> bool:
        """Say whether a transcript is written now, or was begun to be sent."""
        if transcript.path in self.seen:
            return True
        newest = max((moment for _, _, moment in stamp), default=0) / 1e9
        is_live = newest >= now_seconds - LIVE_SECONDS
        return is_live or bool(self.run.shelf.find(transcript=transcript).session_id)

    def _next_wait(self, fault: ClientError | None) -> float:
        if fault is None:
            return self.every_seconds
        return min(max(self.wait_seconds, self.every_seconds) * 2, LONGEST_WAIT_SECONDS)


def _is_away(fault: ClientError | None) -> bool:
    return isinstance(fault, Problem) and fault.status >= _AWAY


def _stamp(transcript: Transcript) -> Stamp:
    """Return what tells whether any file of a transcript has changed; nothing of one that went."""
    try:
        files = (transcript.path, *(one.path for one in finding.subagents(of=transcript)))
        told = [(path.name, path.stat()) for path in files]
    except FileNotFoundError:
        return ()
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in told)
