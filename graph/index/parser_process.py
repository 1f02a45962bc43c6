"""Parse files that nobody vouches for, in a process that may be lost.

One process lives long and parses one file at a time, for whoever asks in this one. When a file
takes too long it is killed. When it dies of a file it is started anew and asked once more, because
it may have died of what came before; one that had no other file before is not asked again. So a
file is refused only for itself, and what it holds reaches no further than the answer, which is read
as data.
"""

import atexit
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock
from typing import Final
from uuid import UUID, uuid4

from django.core.cache import cache
from pydantic import TypeAdapter
from redis.exceptions import RedisError

from accounts import live, tenancy
from accounts.errors import RateLimited
from accounts.messages import message
from graph.code.values import Parsed, Refused
from graph.index import parse_worker

SECONDS: Final = 10.0  # of the clock for one file, which takes two thousandths as a rule
MEMORY_BYTES: Final = 1_000_000_000  # of address space; a default
TOO_LONG: Final = message("Reading the file takes too long.")
TOO_MUCH: Final = message("Reading the file takes too much memory.")
TOO_LARGE: Final = message("The file is too large to index.")
_FOREVER: Final = -1
_GRACE_SECONDS: Final = 1.0  # for a process that nobody asks any more
_LEFT: Final[list[object]] = []  # of the process this was forked from
_ANSWER: Final = TypeAdapter(Parsed)  # reads it as data
_ROOT: Final = Path(__file__).resolve().parents[2]
AT_ONCE: Final = 2  # calls of an organization; a default
AGAIN_SECONDS: Final = 5  # until one of them may be done, which takes less as a rule
LEASE_SECONDS: Final = 120  # of a slot; a call begins no file after 20, and one takes 10 at most
log = logging.getLogger(__name__)


class _Lost(Exception):
    """The process died of the file that it was given, or was killed for it."""


class Busy(Exception):
    """The time is over before it was the turn of a file; nothing is known of it."""


@dataclass(slots=True, kw_only=True)
class Parser:
    """A process that parses, started when it is first needed; shared by threads, one at a time."""

    seconds: float = SECONDS
    memory_bytes: int = MEMORY_BYTES
    _process: subprocess.Popen[bytes] | None = None
    _line: Connection | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def parse(self, *, path: str, content: bytes, until: float | None = None) -> Parsed | Refused:
        """Return what a file holds, or why it could not be read.

        `until` is a moment of the monotonic clock: a file that has begun by then is read to its
        end. Raises Busy when it has not.
        """
        if len(content) > parse_worker.LARGEST_MESSAGE:
            return Refused(path=path, reason=TOO_LARGE)
        left = _FOREVER if until is None else until - time.monotonic()
        if (until is not None and left <= 0) or not self._lock.acquire(timeout=left):
            raise Busy
        try:
            return self._parse_twice(path, content)
        finally:
            self._lock.release()

    def close(self) -> None:
        """End the process; the next file starts another."""
        with self._lock:
            self._end()

    def forget(self) -> None:
        """Leave the process to the one that started it, after this one was forked off."""
        _LEFT.append((self._process, self._line))
        self._process, self._line, self._lock = None, None, threading.Lock()

    def _parse_twice(self, path: str, content: bytes) -> Parsed | Refused:
        is_new = False
        while not is_new:
            is_new, late = self._process is None, threading.Event()
            try:
                return self._ask(path, content, late)
            except _Lost:
                code = self._end()
                if late.is_set() or code == -signal.SIGXCPU:
                    return Refused(path=path, reason=TOO_LONG)
        return Refused(path=path, reason=TOO_MUCH)

    def _ask(self, path: str, content: bytes, late: threading.Event) -> Parsed:
        """Ask the process, and set `late` when it is killed. Raises _Lost without an answer."""
        process, line = self._start()

        def give_up() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self.seconds, give_up)
        timer.start()
        try:
            line.send_bytes(path.encode())
            line.send_bytes(content)
            return _ANSWER.validate_json(line.recv_bytes(parse_worker.LARGEST_MESSAGE))
        except (OSError, EOFError, ValueError) as error:
            raise _Lost from error
        finally:
            timer.cancel()
            timer.join()

    def _start(self) -> tuple[subprocess.Popen[bytes], Connection]:
        """Return the process and the line to it, begun where there is none."""
        if self._process is None or self._line is None:
            self._line, theirs = Pipe()
            words = (parse_worker.__name__, str(self.memory_bytes), str(theirs.fileno()))
            self._process = subprocess.Popen(  # noqa: S603 - fixed words only
                [sys.executable, "-m", *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,  # what it says of a file that it died of would quote it
                cwd=_ROOT,
                env={"PYTHONDONTWRITEBYTECODE": "1"},  # and no secret
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # an interrupt at the terminal is for who waits for it
            )
            theirs.close()
        return self._process, self._line

    def _end(self) -> int:
        """End the process, and return by which signal it went, as a negative number."""
        process, self._process = self._process, None
        if self._line is not None:
            self._line.close()
            self._line = None
        if process is None:
            return 0
        try:
            return process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


PARSER: Final = Parser()
atexit.register(PARSER.close)
os.register_at_fork(after_in_child=PARSER.forget)


# How many calls of one organization have files read at a time.
#
# All calls of a process share one parser, and each that waits for it keeps a thread. So nobody's
# calls take all of them: what is more than a few is told to come again. The slots are in Redis,
# where all processes see them; no call holds a connection to the database meanwhile. One whose
# process died is free when its lease ends. Where Redis is away, each process counts for itself.


class ParseSlots:
    """The calls whose files are read, by organization; those counted here while Redis is away."""

    def __init__(self) -> None:
        self._held: Counter[UUID] = Counter()
        self._lock = Lock()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold a slot of the entered organization. Raises RateLimited where all are taken."""
        organization_id, holder = tenancy.current().organization_id, uuid4().hex
        key = _take(holder)
        if key is None:
            with self._lock:
                if self._held[organization_id] >= AT_ONCE:
                    raise _full()
                self._held[organization_id] += 1
        try:
            yield
        finally:
            if key is not None:
                _free(key, holder)
            else:
                with self._lock:
                    self._held -= Counter((organization_id,))  # leaves no count of zero


def _take(holder: str) -> str | None:
    """Take a slot that all processes see; None where Redis is away. Raises RateLimited."""
    if live.redis.is_active():
        return None
    try:
        for number in range(AT_ONCE):
            key = tenancy.key("reading", str(number))
            if cache.add(key, holder, LEASE_SECONDS):
                return key
    except RedisError as error:
        live.redis.start()
        log.warning("Calls that are read are counted in this process alone: %s", error)
        return None
    raise _full()


def _free(key: str, holder: str) -> None:
    """Free a slot, unless its lease has ended and somebody else has it."""
    try:
        if cache.get(key) == holder:
            cache.delete(key)
    except RedisError as error:
        live.redis.start()
        log.warning("A slot of a call that was read is free when its lease ends: %s", error)


def _full() -> RateLimited:
    return RateLimited(
        detail=message("{count} calls of this organization are being read.", count=AT_ONCE),
        retry_after_seconds=AGAIN_SECONDS,
    )


READING: Final = ParseSlots()
