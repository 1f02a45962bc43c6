"""A process that has loaded the product, and becomes a web process, worker or clock by forking.

Loading costs five seconds of processor time and 300 MB, most of it the model; a fork costs a few
hundredths of a second and shares all of that until one writes to it. So a program that died is back
at once, and four web processes take little more memory than one. Only systems with Linux's
`PR_SET_CHILD_SUBREAPER` can do that; elsewhere each program loads by itself (`serving.main`).

Each program is forked twice and the one between ends, so the kernel gives the program to the
supervisor, which waits for it like for any child. A loader may therefore die, or be replaced by one
with newer code, while its programs go on. What a fork would break must not be open in a loader:
no thread of Python's, no connection. Those of numpy and the runtime do nothing while one waits.
"""

import json
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, NoReturn

from config import env
from config.embedded import serving
from config.embedded.home import LIBC, StartError
from config.embedded.processes import (
    ORPHANED_EXIT,
    PR_SET_PDEATHSIG,
    Console,
    ForkedChild,
    Process,
    Program,
    kind_of,
)

PR_SET_NAME: Final = 15  # linux/prctl.h; the name in `ps -e` and `top`, 15 bytes
FORK_SECONDS: Final = 30.0  # a fork takes hundredths; a default for a machine that swaps
READY: Final = b"ready"
MESSAGE_BYTES: Final = 65_536
MOST_DESCRIPTORS: Final = 8


class Loader(Process):
    """The loader as the supervisor's child; `fork` makes it a program's parent for a moment."""

    def __init__(self, *, environment: Mapping[str, str], console: Console) -> None:
        command = (sys.executable, "-m", "config.embedded.loader")
        program = Program(name="loader", command=command, environment=environment, folder=env.ROOT)
        super().__init__(program=program, console=console, restarts=True)
        self._line: socket.socket | None = None

    def start(self, *, now: float) -> None:
        """Start it with a fresh line to it; `now` in seconds, monotonic."""
        if self._line is not None:
            self._line.close()
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.program = replace(self.program, descriptors=(theirs.fileno(),))
            super().start(now=now)

    def has_become_ready(self, *, now: float) -> bool:
        """Say whether it was not ready before, and has said now that all is loaded."""
        if self.child is None or self.ready or self._line is None:
            return False
        if select.select([self._line], [], [], 0)[0]:
            self.ready = self._line.recv(MESSAGE_BYTES) == READY
        return self.ready

    def fork(self, *, program: Program, output: int, descriptors: tuple[int, ...]) -> ForkedChild:
        """Have a program forked, its outputs on `output`. Raises StartError when that fails."""
        if self._line is None or not self.ready or self.child is None:
            raise StartError(f"{program.name} cannot be started before the loader is ready")
        message = json.dumps([program.name, *program.arguments]).encode()
        self._line.settimeout(FORK_SECONDS)
        try:
            socket.send_fds(self._line, [message], [output, *descriptors])
            answer = self._line.recv(MESSAGE_BYTES)
        except OSError as error:
            self.send(signal.SIGKILL)  # one that does not answer is of no use
            raise StartError(f"{program.name} was not forked by the loader: {error}") from error
        if not answer:
            raise StartError(f"{program.name} was not forked, the loader has ended")
        return ForkedChild(pid=int(answer))


def main(*, descriptor: int) -> None:
    """Load everything, then fork whatever is asked for until the supervisor hangs up."""
    supervisor = os.getppid()
    serving.load()
    with socket.socket(fileno=descriptor) as line:
        line.send(READY)
        while True:
            message, given, _flags, _address = socket.recv_fds(
                line, MESSAGE_BYTES, MOST_DESCRIPTORS
            )
            if not message:
                return
            pid = _fork_twice()
            if pid == 0:
                break
            for one in given:
                os.close(one)
            line.send(str(pid).encode())
    output, *descriptors = given
    name, *arguments = json.loads(message)
    _settle(name=name, supervisor=supervisor, output=output)
    end_with(lambda: serving.run(kind_of(name=name), arguments=arguments, descriptors=descriptors))


def end_with(run: Callable[[], int]) -> NoReturn:
    """Run a program and end the process by its code, as Python would but without its destructors.

    Those of the runtime would wait for threads that a fork does not have.
    """
    code = 1
    try:
        code = run()
    except SystemExit as ending:
        if isinstance(ending.code, str):
            print(ending.code, file=sys.stderr)
        else:
            code = int(ending.code or 0)
    except BaseException:  # noqa: BLE001 - whatever it is, the process ends here
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _fork_twice() -> int:
    """Fork a process that belongs to the supervisor; return its id, and 0 inside of it."""
    reading, writing = os.pipe()
    between = os.fork()
    if between == 0:
        pid = os.fork()
        if pid:
            os.write(writing, str(pid).encode())
            os._exit(0)
        os.close(reading)
        os.close(writing)
        return 0
    os.close(writing)
    with os.fdopen(reading) as answer:
        pid = int(answer.read())
    os.waitpid(between, 0)  # from here on the supervisor is its parent
    return pid


def _settle(*, name: str, supervisor: int, output: int) -> None:
    """Become a child like one that is executed: own group, own outputs, ended with its parent."""
    while os.getppid() != supervisor:
        if os.getppid() == 1 and supervisor != 1:
            os._exit(ORPHANED_EXIT)
        os.sched_yield()
    LIBC.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != supervisor:
        os._exit(ORPHANED_EXIT)
    os.setpgid(0, 0)
    LIBC.prctl(PR_SET_NAME, f"cairn {name}".encode(), 0, 0, 0)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(output, stream.fileno())
    os.close(output)


if __name__ == "__main__":
    main(descriptor=int(sys.argv[1]))
