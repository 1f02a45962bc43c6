"""What the one-command start prints: steps with their times, and each child's lines prefixed."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

NAME_WIDTH = 9
RESET = "\x1b[0m"
BOLD = "\x1b[1m"
DIM = "\x1b[2m"
GREEN = "\x1b[32m"
RED = "\x1b[31m"
COLORS = {  # one color a child, readable on dark and light terminals
    "postgres": "\x1b[34m",
    "redis": "\x1b[31m",
    "web": "\x1b[32m",
    "worker": "\x1b[35m",
    "beat": "\x1b[33m",
    "cairn": "\x1b[36m",
}


class Console:
    """Prints to one stream, in color when a person watches."""

    def __init__(self, *, stream: TextIO) -> None:
        self._stream = stream
        self._colored = stream.isatty() and not os.environ.get("NO_COLOR")

    def line(self, *, name: str, text: str) -> None:
        """Print one line of a child after its name."""
        prefix = self._paint(f"{name:<{NAME_WIDTH}}|", COLORS.get(name, DIM))
        self._print(f"{prefix} {text}")

    def say(self, text: str) -> None:
        """Print one line of the supervisor itself among the children's."""
        self.line(name="cairn", text=text)

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Print that a step begins, and at its end how long it took."""
        began = time.monotonic()
        self._print(self._paint(f"  … {title}", DIM))
        yield
        seconds = time.monotonic() - began
        self._print(f"  {self._paint('✓', GREEN)} {title:<34} {seconds:6.1f} s")

    def failed(self, *, reason: str) -> None:
        """Print why the start stopped."""
        self._print(f"  {self._paint('✗', RED)} {reason}")

    def heading(self, text: str) -> None:
        """Print a line that stands out."""
        self._print(self._paint(text, BOLD))

    def _paint(self, text: str, color: str) -> str:
        return f"{color}{text}{RESET}" if self._colored else text

    def _print(self, text: str) -> None:
        try:
            print(text, file=self._stream, flush=True)
        except BrokenPipeError:
            # Whoever read the log has gone; the servers still have to be looked after.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())


def standard() -> Console:
    """Return the console on standard output; what it cannot encode is replaced, never fatal."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    return Console(stream=sys.stdout)


def on_errors() -> Console:
    """Return the console on standard error, for when standard output is read by a script."""
    return Console(stream=sys.stderr)


# Why the one-command start stops: one sentence that also says the way out.


class StartError(Exception):
    """The start cannot go on; the message is one sentence for the person who typed `make run`."""


class HomeError(StartError):
    """The data folder cannot be used: locked, not writable, disk full."""


class BinaryError(StartError):
    """A server's program was not found or cannot run on this machine."""


class ServerError(StartError):
    """A server did not become ready in time."""
