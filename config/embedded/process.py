"""One child across its restarts: started, its lines read, its death noticed."""

import os
import re
import signal
import subprocess
from collections.abc import Callable
from enum import Enum

from config.embedded import launch
from config.embedded.console import Console
from config.embedded.restarts import Restarts, after_death, delay_seconds

READ_BYTES = 65_536
LONGEST_LINE_BYTES = 65_536
SETTLED_SECONDS = 3.0  # a program that cannot run ends sooner than that


class After(Enum):
    """What happens when a child has ended."""

    RESTART = "restart"
    NOTHING = "nothing"


class Process:
    """A program under supervision.

    `is_ready` is asked from the start until it says yes; without one, a program counts as ready
    when it has run for a few seconds.
    """

    def __init__(
        self,
        *,
        program: launch.Program,
        after: After,
        is_ready: Callable[[], bool] | None,
        console: Console,
    ) -> None:
        self.program = program
        self.after = after
        self.is_ready = is_ready
        self.ready = False
        self.started_at = 0.0
        self.restart_at: float | None = None
        self.restarts = Restarts()
        self.output: int | None = None
        self.returncode: int | None = None
        self._console = console
        self._child: subprocess.Popen[bytes] | None = None
        self._rest = b""

    @property
    def name(self) -> str:
        """The name its lines are prefixed with."""
        return self.program.name

    @property
    def is_running(self) -> bool:
        """Whether it has been started and has not been seen to end."""
        return self._child is not None

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return None if self._child is None else self._child.pid

    def start(self, *, now: float) -> None:
        """Start the program with a fresh pipe for its output; `now` in seconds, monotonic."""
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        try:
            self._child = launch.start(program=self.program, output=writing)
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        self.output, self.started_at = reading, now
        self.restart_at, self.returncode, self.ready = None, None, False

    def read(self) -> None:
        """Print the whole lines that have come in since the last call."""
        while self.output is not None:
            try:
                chunk = os.read(self.output, READ_BYTES)
            except BlockingIOError:
                return
            if not chunk:
                self.close()
                return
            self._take(chunk)

    def close(self) -> None:
        """Print what is left of a last line and close the pipe."""
        if self._rest:
            self._take(b"\n")
        if self.output is not None:
            os.close(self.output)
            self.output = None

    def has_ended(self) -> bool:
        """Say whether the child has just ended; if so, end what it left and take its exit code."""
        child = self._child
        if child is None:
            return False
        if os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            return False
        self.send_group(signal.SIGKILL)
        self.returncode, self._child = child.wait(), None
        self.read()
        self.close()
        return True

    def has_become_ready(self, *, now: float) -> bool:
        """Say whether it runs, was not ready before, and is now."""
        if self._child is None or self.ready:
            return False
        settled = now - self.started_at >= SETTLED_SECONDS
        self.ready = settled if self.is_ready is None else self.is_ready()
        return self.ready

    def plan_restart(self, *, now: float) -> float:
        """Decide when to start again; return the delay in seconds."""
        ran_seconds = now - self.started_at
        self.restarts = after_death(restarts=self.restarts, ran_seconds=ran_seconds)
        delay = delay_seconds(restarts=self.restarts)
        self.restart_at = now + delay
        return delay

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the program itself."""
        if self._child is not None:
            os.kill(self._child.pid, number)

    def send_group(self, number: signal.Signals) -> None:
        """Send a signal to the program and everything in its process group."""
        if self._child is None:
            return
        try:
            os.killpg(self._child.pid, number)
        except ProcessLookupError:
            self.send(number)

    def _take(self, chunk: bytes) -> None:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._print(line)
        if len(self._rest) > LONGEST_LINE_BYTES:
            self._print(self._rest)
            self._rest = b""

    def _print(self, line: bytes) -> None:
        text = line.decode(errors="replace").rstrip("\r")
        if text.strip() and not re.search(self.program.noise, text):
            self._console.line(name=self.name, text=text)


def how_it_ended(*, returncode: int) -> str:
    """Put an exit code in words: the signal's name when one ended it."""
    if returncode < 0:
        return f"was ended by {signal.Signals(-returncode).name}"
    return f"ended with code {returncode}"
