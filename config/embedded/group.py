"""The supervised process group: one loop that prints, notices deaths, restarts, and stops (10.1).

One thread and one `poll`, because a child must be started from the main thread to die with it, and
because a supervisor that is always there should cost next to nothing. Signals only count and wake
the loop; everything happens in `turn`.
"""

import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from types import FrameType

from config.embedded.console import Console
from config.embedded.errors import BinaryError, ServerError
from config.embedded.halting import signal_after
from config.embedded.process import After, Process, how_it_ended

STOP_ORDER = (("web",), ("worker", "beat"), ("redis",), ("postgres",))
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
TURN_SECONDS = 0.5
READY_POLL_SECONDS = 0.1
READY_SECONDS = 120.0
HOPELESS_DEATHS = 3  # a child that never was ready and died so often will not come up
SECOND_REQUEST_SECONDS = 1.0  # make passes SIGTERM on, so one request may arrive twice


class StopRequested(Exception):
    """Someone asked for the end: Ctrl-C, SIGTERM, or the closed terminal."""


class Group:
    """The children, in the order they were started."""

    def __init__(self, *, console: Console) -> None:
        self._console = console
        self._children: list[Process] = []
        self._requests = 0
        self._watched: dict[int, Callable[[], None]] = {}

    def listen(self) -> None:
        """Take over the signals of this process; call once, from the main thread."""
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        os.set_blocking(writing, False)
        self.watch(descriptor=reading, on_input=lambda: _drain(reading))
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _only_wake)
        for number in STOP_SIGNALS:
            signal.signal(number, self._on_stop_signal)

    def watch(self, *, descriptor: int, on_input: Callable[[], None]) -> None:
        """Call `on_input` whenever the descriptor has something to read."""
        self._watched[descriptor] = on_input

    def request_stop(self) -> None:
        """Ask for the end as a signal would."""
        self._requests += 1

    def add(self, child: Process) -> None:
        """Start a child and look after it from now on; raises BinaryError when it cannot start."""
        self._children.append(child)
        child.start(now=time.monotonic())

    def run_to_end(self, child: Process) -> int:
        """Start a child that ends by itself; return its exit code."""
        self.add(child)
        while child.returncode is None:
            self.turn()
        self._children.remove(child)
        return child.returncode

    def await_ready(self, child: Process) -> None:
        """Wait until the child is ready. Raises ServerError when that is hopeless."""
        deadline = time.monotonic() + READY_SECONDS
        while not child.ready:
            if child.restarts.deaths >= HOPELESS_DEATHS:
                raise ServerError(f"{child.name} does not start; its last lines are above.")
            if time.monotonic() > deadline:
                raise ServerError(f"{child.name} was not ready within {READY_SECONDS:.0f} s.")
            self.turn()

    def run_until_stopped(self) -> None:
        """Look after the children; ends only by StopRequested."""
        while True:
            self.turn()

    def turn(self) -> None:
        """Wait shortly for something to do and do it. Raises StopRequested."""
        if self._requests:
            raise StopRequested
        self._wait()
        now = time.monotonic()
        for child in tuple(self._children):
            self._look_after(child, now)

    def stop(self) -> None:
        """Stop all children in order, each by its stages; a second request kills what is left."""
        began = time.monotonic()
        named = {name for names in STOP_ORDER for name in names}
        steps = [child for child in self._children if child.name not in named]
        self._stop_together(steps, began)
        for names in STOP_ORDER:
            self._stop_together([child for child in self._children if child.name in names], began)

    def _look_after(self, child: Process, now: float) -> None:
        if child.has_ended():
            self._after_end(child, now)
        elif child.restart_at is not None and now >= child.restart_at:
            self._restart(child, now)
        elif child.has_become_ready(now=now) and child.restarts.deaths:
            self._console.say(f"{child.name} is back")

    def _after_end(self, child: Process, now: float) -> None:
        if child.after is After.NOTHING or child.returncode is None:
            return
        delay = child.plan_restart(now=now)
        ended = how_it_ended(returncode=child.returncode)
        self._console.say(f"{child.name} {ended}; starting it again in {delay:.0f} s")

    def _restart(self, child: Process, now: float) -> None:
        try:
            child.start(now=now)
        except BinaryError as error:
            delay = child.plan_restart(now=now)
            self._console.say(f"{error}; trying again in {delay:.0f} s")

    def _stop_together(self, children: Sequence[Process], stop_began: float) -> None:
        began = time.monotonic()
        sent: dict[str, signal.Signals] = {}
        while running := [child for child in children if child.is_running]:
            now = time.monotonic()
            forced = self._is_forced(since=stop_began, now=now)
            for child in running:
                halts = () if forced else child.program.halts
                wanted = signal_after(halts=halts, elapsed_seconds=now - began)
                if sent.get(child.name) is not wanted:
                    sent[child.name] = wanted
                    _send(child, wanted)
            self._wait()
            for child in running:
                child.has_ended()

    def _is_forced(self, *, since: float, now: float) -> bool:
        if now - since < SECOND_REQUEST_SECONDS:
            self._requests = 0
        return self._requests > 0

    def _wait(self) -> None:
        readers = dict(self._watched)
        for child in self._children:
            if child.output is not None:
                readers[child.output] = child.read
        poller = select.poll()
        for descriptor in readers:
            poller.register(descriptor, select.POLLIN)
        waiting = any(child.is_running and not child.ready for child in self._children)
        seconds = READY_POLL_SECONDS if waiting else TURN_SECONDS
        for descriptor, _event in poller.poll(seconds * 1000):
            readers[descriptor]()

    def _on_stop_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._requests += 1


def _drain(descriptor: int) -> None:
    while True:
        try:
            os.read(descriptor, 4096)
        except BlockingIOError:
            return


def _send(child: Process, wanted: signal.Signals) -> None:
    if wanted is signal.SIGKILL:
        child.send_group(wanted)
    else:
        child.send(wanted)


def _only_wake(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: the wake-up descriptor has already been written to."""
