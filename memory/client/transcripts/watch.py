"""Follow transcripts while they are written: what they gain is sent as it comes.

A round finds which files have changed and sends those on from their bookmarks, so whatever stops it
(a signal, a crash, a server that is away) loses nothing and sends nothing twice. Files are compared
by size and time: notifications differ on every system, and a round over a thousand files takes
milliseconds. While the server is away the rounds become rarer. A fault of one file holds up no
other: that file is tried again after a minute.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from ..errors import STILL_RUNNING, ClientError, Problem, Unreachable
from . import finder
from .finder import Transcript
from .upload import UploadPlan, UploadResult, send_transcripts

LIVE_SECONDS: Final = 3_600.0  # a transcript that was written within the last hour is followed
LONGEST_WAIT_SECONDS: Final = 60.0
_AWAY: Final = 500  # from this status on the server is at fault, and is asked again
_BUSY: Final = frozenset({408, 429})  # it has no time, whatever is sent

Stamp = tuple[tuple[str, int, int], ...]  # name, size and time of a transcript's files


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
    for path in (transcript.path, *sorted(finder.subagent_files(of=transcript))):
        try:
            seen = path.stat()
            stamps.append((path.name, seen.st_size, seen.st_mtime_ns))
        except FileNotFoundError:
            if path == transcript.path:
                return ()
        except OSError:
            stamps.append((path.name, 0, 0))
    return tuple(stamps)
