"""Programs under supervision: started, watched, restarted, stopped together, and their lines.

The kernel signals a child when the *thread* that started it ends, so children are started from the
main thread only and cannot outlive the supervisor. Each child leads a process group of its own:
Ctrl-C in the terminal reaches the supervisor alone, which then stops everything in order. One loop
and one `poll` serve all children, because a supervisor that is always there should cost next to
nothing. Signals only count and wake the loop; everything happens in `Group.turn`.

SIGHUP asks for a restart of the programs, unless it came because the terminal was closed, which
ends everything. A child that was replaced is retired: it may finish what it has begun.
"""

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TextIO

from config.embedded.home import LIBC, SELF, Identity, StartError, enter_namespace

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h
ORPHANED_EXIT = 125
NOTHING = r"(?!)"  # matches no line
READ_BYTES = 65_536
LONGEST_LINE_BYTES = 65_536
STOP_ORDER = (("web",), ("worker", "beat"), ("loader",), ("redis",), ("postgres",))
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
# Defaults, not measured.
SETTLED_SECONDS = 3.0  # a program that cannot run ends sooner than that
LONGEST_DELAY_SECONDS = 30.0
GOOD_RUN_SECONDS = 60.0
TURN_SECONDS = 0.5
READY_POLL_SECONDS = 0.1
READY_SECONDS = 1_800.0  # one that gets no processor time is not ended and begun again for ever
PATIENCE_SECONDS = 60.0  # after which the wait is explained, each time
HOPELESS_DEATHS = 3  # a child that never was ready and died so often will not come up
SECOND_REQUEST_SECONDS = 1.0  # make passes SIGTERM on, so one request may arrive twice

NAME_WIDTH = 9
RESET, BOLD, DIM, GREEN, RED = "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[31m"
COLORS = {  # one color a child, readable on dark and light terminals
    "postgres": "\x1b[34m",
    "redis": RED,
    "web": GREEN,
    "worker": "\x1b[35m",
    "beat": "\x1b[33m",
    "loader": DIM,
    "cairn": "\x1b[36m",
}

Halts = tuple[tuple[signal.Signals, float], ...]  # the signals to stop by, the seconds after each


class Forks(Protocol):
    """What starts programs by forking them from what it has loaded, once it is ready."""

    ready: bool

    def fork(
        self, *, program: "Program", output: int, descriptors: tuple[int, ...]
    ) -> "ForkedChild":
        """Start a program. Raises StartError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkedChild:
    """A child that somebody else started and the kernel gave to this process."""

    pid: int

    def wait(self) -> int:
        """Wait for its end; return the exit code, a signal's number below zero."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class Console:
    """Prints to one stream, in color when a person watches."""

    def __init__(self, *, stream: TextIO) -> None:
        self._stream = stream
        self._colored = stream.isatty() and not os.environ.get("NO_COLOR")

    def line(self, *, name: str, text: str) -> None:
        """Print one line of a child after its name."""
        color = COLORS.get(kind_of(name=name), DIM)
        prefix = self._paint(f"{name:<{NAME_WIDTH}}|", color)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What is run, as whom, with which environment, and how it is asked to stop.

    Of several of one kind each has a number: "web.1". `descriptors` stay open in it; their numbers,
    after them that of a pipe if it `reports` when it is ready, follow its command. One of a
    `loader` is not executed: `arguments` are what it is told.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path
    arguments: tuple[str, ...] = ()
    descriptors: tuple[int, ...] = ()
    reports: bool = False
    loader: Forks | None = None
    halts: Halts = ((signal.SIGTERM, 5),)
    retirement: Halts = ((signal.SIGTERM, 60),)  # the same for one that is replaced
    identity: Identity = SELF
    noise: str = NOTHING  # a pattern of lines that are not shown
    orphan_signal: signal.Signals = signal.SIGKILL  # what the kernel sends when we are gone


def kind_of(*, name: str) -> str:
    """Return the name without the number of one of several."""
    return name.partition(".")[0]


def start_program(
    *, program: Program, output: int, descriptors: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    """Execute the program with both its outputs on the descriptor `output`.

    Raises StartError when it cannot be executed.
    """
    switched = program.identity.user is not None
    parent = os.getpid()

    def before_running() -> None:
        if program.identity.namespace_uid is not None:
            enter_namespace(inside_uid=program.identity.namespace_uid)
        if sys.platform == "linux":
            LIBC.prctl(PR_SET_PDEATHSIG, int(program.orphan_signal), 0, 0, 0)
            if os.getppid() != parent:
                os._exit(ORPHANED_EXIT)

    try:
        return subprocess.Popen(
            (*program.command, *map(str, descriptors)),
            env=dict(program.environment),
            cwd=program.folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=descriptors,
            process_group=0,
            user=program.identity.user,
            group=program.identity.gid if switched else None,
            extra_groups=[] if switched else None,
            preexec_fn=before_running,  # noqa: PLW1509 - one thread only, see above
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise StartError(
            f"{program.name} cannot be started ({program.command[0]}): {error}"
        ) from error


def signal_after(*, halts: Halts, elapsed_seconds: float) -> signal.Signals:
    """Return the signal of the stage that `elapsed_seconds` falls into; after them SIGKILL."""
    ends_at = 0.0
    for number, seconds in halts:
        ends_at += seconds
        if elapsed_seconds < ends_at:
            return number
    return signal.SIGKILL


class Process:
    """A program under supervision, across its restarts.

    `restarts`: it is started again whenever it ends. `is_ready` is asked from the start until it
    says yes; without one, a program that reports is ready when it has, and any other when it has
    run for a few seconds. `deaths` counts those without a good run in between.
    """

    def __init__(
        self,
        *,
        program: Program,
        console: Console,
        restarts: bool = False,
        is_ready: Callable[[], bool] | None = None,
    ) -> None:
        self.program = program
        self.name = program.name
        self.restarts = restarts
        self.is_ready = is_ready
        self.ready = False
        self.started_at = 0.0
        self.restart_at: float | None = None
        self.deaths = 0
        self.output: int | None = None
        self.returncode: int | None = None
        self.child: subprocess.Popen[bytes] | ForkedChild | None = None  # while it runs
        self.retired_at: float | None = None
        self.sent: signal.Signals | None = None  # the last that asked it to end
        self._report: int | None = None
        self._console = console
        self._rest = b""

    def start(self, *, now: float) -> None:
        """Start the program with a fresh pipe for its output; `now` in seconds, monotonic."""
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        try:
            self.child = self._begin(writing)
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        self.output, self.started_at = reading, now
        self.restart_at, self.returncode, self.ready, self.sent = None, None, False, None

    def _begin(self, output: int) -> subprocess.Popen[bytes] | ForkedChild:
        program, reporting = self.program, -1
        descriptors = program.descriptors
        if program.reports:
            self._close_report()
            self._report, reporting = os.pipe()
            os.set_blocking(self._report, False)
            descriptors = (*descriptors, reporting)
        try:
            if program.loader is None:
                return start_program(program=program, output=output, descriptors=descriptors)
            return program.loader.fork(program=program, output=output, descriptors=descriptors)
        finally:
            if program.reports:
                os.close(reporting)

    def read(self) -> None:
        """Print the whole lines that have come in since the last call."""
        while self.output is not None:
            try:
                chunk = os.read(self.output, READ_BYTES)
            except BlockingIOError:
                return
            if not chunk:
                self._close_output()
                return
            self._print_lines(chunk)

    def has_ended(self) -> bool:
        """Say whether the child has just ended; if so, end what it left and take its exit code."""
        child = self.child
        if child is None:
            return False
        if os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            return False
        self.send(signal.SIGKILL)
        self.returncode, self.child = child.wait(), None
        self.read()
        self._close_output()
        self._close_report()
        return True

    def has_become_ready(self, *, now: float) -> bool:
        """Say whether it runs, was not ready before, and is now."""
        if self.child is None or self.ready:
            return False
        if self.is_ready is not None:
            self.ready = self.is_ready()
        elif self._report is not None:
            self.ready = self._has_reported(self._report)
        else:
            self.ready = now - self.started_at >= SETTLED_SECONDS
        return self.ready

    @staticmethod
    def _has_reported(report: int) -> bool:
        try:
            return bool(os.read(report, READ_BYTES))
        except BlockingIOError:
            return False

    def is_due(self, *, now: float) -> bool:
        """Say whether it is to be started again now, and can be."""
        if self.restart_at is None or now < self.restart_at:
            return False
        return self.program.loader is None or self.program.loader.ready

    def plan_restart(self, *, now: float) -> float:
        """Decide when to start again; return the delay in seconds: 1, 2, 4 … 30 by its deaths.

        A run of a minute and more wipes the deaths before it.
        """
        self.deaths = 1 if now - self.started_at >= GOOD_RUN_SECONDS else self.deaths + 1
        delay = min(2.0 ** min(self.deaths - 1, 10), LONGEST_DELAY_SECONDS)
        self.restart_at = now + delay
        return delay

    def press(self, *, halts: Halts, elapsed_seconds: float) -> None:
        """Ask it to end by the signal of its stage, once each."""
        wanted = signal_after(halts=halts, elapsed_seconds=elapsed_seconds)
        if self.sent is not wanted:
            self.sent = wanted
            self.send(wanted)

    def press_retired(self, *, now: float) -> None:
        """Ask one that was replaced to end, by the stage it has come to."""
        if self.retired_at is not None and self.child is not None:
            halts = self.program.retirement
            self.press(halts=halts, elapsed_seconds=now - self.retired_at)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the program; SIGKILL to everything in its process group."""
        if self.child is None:
            return
        try:
            (os.killpg if number is signal.SIGKILL else os.kill)(self.child.pid, number)
        except ProcessLookupError:
            os.kill(self.child.pid, number)

    def _close_report(self) -> None:
        if self._report is not None:
            os.close(self._report)
            self._report = None

    def _close_output(self) -> None:
        """Print what is left of a last line and close the pipe."""
        if self._rest:
            self._print_lines(b"\n")
        if self.output is not None:
            os.close(self.output)
            self.output = None

    def _print_lines(self, chunk: bytes) -> None:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > LONGEST_LINE_BYTES:
            lines.append(self._rest)
            self._rest = b""
        for line in lines:
            text = line.decode(errors="replace").rstrip("\r")
            if text.strip() and not re.search(self.program.noise, text):
                self._console.line(name=self.name, text=text)


class StopRequested(Exception):
    """Someone asked for the end: Ctrl-C, SIGTERM, or the closed terminal."""


class Group:
    """The children, in the order they were started."""

    def __init__(self, *, console: Console) -> None:
        self.console = console
        self._children: list[Process] = []
        self._requests = 0
        self._restarts_requested = 0
        self._adopts = False
        self._has_terminal = os.isatty(0)
        self._watched: dict[int, Callable[[], object]] = {}

    def listen(self) -> None:
        """Take over signals, and what descendants leave behind; call once, from the main thread."""
        if sys.platform == "linux":
            self._adopts = LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        os.set_blocking(writing, False)
        self.watch(descriptor=reading, on_input=lambda: os.read(reading, READ_BYTES))
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)  # it has written there already
        for number in STOP_SIGNALS:
            signal.signal(number, lambda _number, _frame: self.request_stop())
        signal.signal(signal.SIGHUP, lambda _number, _frame: self._hang_up())

    def watch(self, *, descriptor: int, on_input: Callable[[], object]) -> None:
        """Call `on_input` whenever the descriptor has something to read."""
        self._watched[descriptor] = on_input

    def request_stop(self) -> None:
        """Ask for the end as a signal would."""
        self._requests += 1

    def request_restart(self) -> None:
        """Ask for new programs as SIGHUP would."""
        self._restarts_requested += 1

    def _hang_up(self) -> None:
        """Restart; stop instead when the terminal that we were started from has gone."""
        if self._has_terminal and not os.isatty(0):
            self.request_stop()
        else:
            self.request_restart()

    def add(self, child: Process) -> None:
        """Start a child and look after it from now on; raises StartError when it cannot start."""
        child.start(now=time.monotonic())
        self._children.append(child)

    def keep_running(
        self, program: Program, *, is_ready: Callable[[], bool] | None = None
    ) -> Process:
        """Start a program and start it again whenever it ends."""
        child = Process(program=program, console=self.console, restarts=True, is_ready=is_ready)
        self.add(child)
        return child

    def run_to_end(self, program: Program) -> int:
        """Start a program that ends by itself; return its exit code."""
        child = Process(program=program, console=self.console)
        self.add(child)
        while child.returncode is None:
            self.turn()
        self._children.remove(child)
        return child.returncode

    def await_ready(self, child: Process) -> None:
        """Wait until the child is ready. Raises StartError when that is hopeless."""
        began = time.monotonic()
        explained = began
        while not child.ready:
            now = time.monotonic()
            if child.deaths >= HOPELESS_DEATHS:
                raise StartError(f"{child.name} does not start; its last lines are above.")
            if now - began > READY_SECONDS:
                raise StartError(f"{child.name} was not ready within {READY_SECONDS:.0f} s.")
            if now - explained > PATIENCE_SECONDS:
                explained = now
                self.console.say(f"{child.name} starts since {now - began:.0f} s; still waiting")
            self.turn()

    def run_until_stopped(self, *, on_restart: Callable[[], object] = lambda: None) -> None:
        """Look after the children, and restart by `on_restart`; ends only by StopRequested."""
        while True:
            self.turn()
            if self._restarts_requested:
                self._restarts_requested = 0  # those during one are for what it had begun with
                on_restart()

    def retire(self, child: Process) -> None:
        """Ask a child to end when it has finished what it has begun, and never start it again."""
        child.restarts, child.restart_at, child.retired_at = False, None, time.monotonic()
        if child.child is None and child in self._children:
            self._children.remove(child)  # it ended before, and waited to be started again

    def turn(self) -> None:
        """Wait shortly for something to do and do it. Raises StopRequested."""
        if self._requests:
            raise StopRequested
        self._wait()
        now = time.monotonic()
        self._reap_adopted()
        for child in tuple(self._children):
            child.press_retired(now=now)
            if child.has_ended():
                self._after_end(child, now)
            elif child.is_due(now=now):
                self._restart(child, now)
            elif child.has_become_ready(now=now) and child.deaths:
                self.console.say(f"{child.name} is back")

    def stop(self) -> None:
        """Stop all children in order, each by its stages; a second request kills what is left."""
        began = time.monotonic()
        named = {name for names in STOP_ORDER for name in names}
        kinds = {child: kind_of(name=child.name) for child in self._children}
        self._stop_all([child for child, kind in kinds.items() if kind not in named], began)
        for names in STOP_ORDER:
            self._stop_all([child for child, kind in kinds.items() if kind in names], began)

    def _reap_adopted(self) -> None:
        """Take the exit codes of descendants that the kernel gave us when their parents ended."""
        if not self._adopts:
            return
        ours = {child.child.pid for child in self._children if child.child is not None}
        options = os.WEXITED | os.WNOWAIT | os.WNOHANG
        try:
            while (ended := os.waitid(os.P_ALL, 0, options)) and ended.si_pid not in ours:
                os.waitpid(ended.si_pid, 0)
        except ChildProcessError:  # there are no children
            return

    def _after_end(self, child: Process, now: float) -> None:
        code = child.returncode
        if child.retired_at is not None:
            self._children.remove(child)
        if not child.restarts or code is None:
            return
        delay = child.plan_restart(now=now)
        ended = f"ended with code {code}"
        if code < 0:
            ended = f"was ended by {signal.Signals(-code).name}"
        self.console.say(f"{child.name} {ended}; starting it again in {delay:.0f} s")

    def _restart(self, child: Process, now: float) -> None:
        try:
            child.start(now=now)
        except (StartError, OSError) as error:  # no descriptors, no memory: the others go on
            delay = child.plan_restart(now=now)
            self.console.say(f"{child.name}: {error}; trying again in {delay:.0f} s")

    def _stop_all(self, children: Sequence[Process], stop_began: float) -> None:
        began = time.monotonic()
        while running := [child for child in children if child.child is not None]:
            now = time.monotonic()
            if now - stop_began < SECOND_REQUEST_SECONDS:
                self._requests = 0
            for child in running:
                halts = () if self._requests else child.program.halts
                child.press(halts=halts, elapsed_seconds=now - began)
            self._wait()
            for child in running:
                child.has_ended()

    def _wait(self) -> None:
        readers = dict(self._watched)
        for child in self._children:
            if child.output is not None:
                readers[child.output] = child.read
        poller = select.poll()
        for descriptor in readers:
            poller.register(descriptor, select.POLLIN)
        waiting = any(child.child is not None and not child.ready for child in self._children)
        seconds = READY_POLL_SECONDS if waiting else TURN_SECONDS
        for descriptor, _event in poller.poll(seconds * 1000):
            readers[descriptor]()
