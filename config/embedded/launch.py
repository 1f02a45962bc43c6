"""Start one program so that it cannot outlive the supervisor.

The kernel signals a child when the *thread* that started it ends, so children are started from the
main thread only. Each child leads a process group of its own: Ctrl-C in the terminal reaches the
supervisor alone, which then stops everything in order.
"""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from config.embedded.errors import BinaryError
from config.embedded.identity import SELF, Identity, enter_namespace

PR_SET_PDEATHSIG = 1  # linux/prctl.h
ORPHANED_EXIT = 125
NOTHING = r"(?!)"  # matches no line

_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt:
    """One stage of stopping: the signal sent and how long the program then has."""

    signal: signal.Signals
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What is run, as whom, with which environment, and how it is asked to stop."""

    name: str
    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    folder: Path
    halts: tuple[Halt, ...] = field(default=(Halt(signal=signal.SIGTERM, seconds=5),))
    identity: Identity = SELF
    noise: str = NOTHING  # a pattern of lines that are not shown
    orphan_signal: signal.Signals = signal.SIGKILL  # what the kernel sends when we are gone


def start(*, program: Program, output: int) -> subprocess.Popen[bytes]:
    """Start the program with both its outputs on the descriptor `output`.

    Raises BinaryError when it cannot be executed.
    """
    switched = program.identity.user is not None
    try:
        return subprocess.Popen(
            program.command,
            env=dict(program.environment),
            cwd=program.folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            process_group=0,
            user=program.identity.user,
            group=program.identity.gid if switched else None,
            extra_groups=[] if switched else None,
            preexec_fn=_before_running(program),  # noqa: PLW1509 - one thread only, see above
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise BinaryError(
            f"{program.name} cannot be started ({program.command[0]}): {error}"
        ) from error


def _before_running(program: Program) -> Callable[[], None]:
    parent = os.getpid()
    inside_uid = program.identity.namespace_uid
    orphan_signal = int(program.orphan_signal)

    def prepare() -> None:
        if inside_uid is not None:
            enter_namespace(inside_uid=inside_uid)
        if sys.platform != "linux":
            return
        _LIBC.prctl(PR_SET_PDEATHSIG, orphan_signal, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(ORPHANED_EXIT)

    return prepare
