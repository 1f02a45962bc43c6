"""What a killed start left behind: a server still shutting down, or only its pid file.

The caller holds the data folder's lock, so no other start of ours can be behind these. A server
that works in the folder is waited for and then ended; a pid file whose number belongs to something
else, as after a reboot, is removed, because Postgres would refuse to start over it.
"""

import os
import signal
import sys
import time
from pathlib import Path

from config.embedded.errors import HomeError

POLL_SECONDS = 0.1
STAGES = (  # signal sent after the wait before it, and the seconds then waited
    (None, 5.0),
    (signal.SIGINT, 15.0),
    (signal.SIGQUIT, 5.0),
    (signal.SIGKILL, 5.0),
)


def clear(*, folder: Path, pid_file: Path) -> None:
    """Wait until no earlier server works in `folder`, and remove its stale pid file.

    Raises HomeError when a server does not go away even when killed.
    """
    pid = _read_pid(pid_file)
    if pid is None or sys.platform != "linux":
        return
    for number, seconds in STAGES:
        if number is not None and works_in(pid=pid, folder=folder):
            os.kill(pid, number)
        if _gone_within(seconds=seconds, pid=pid, folder=folder):
            pid_file.unlink(missing_ok=True)
            return
    raise HomeError(f"Process {pid} still works in {folder} and does not end; end it first.")


def works_in(*, pid: int, folder: Path) -> bool:
    """Say whether the process is alive with `folder` as its working directory."""
    try:
        return Path(f"/proc/{pid}/cwd").samefile(folder)
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False


def running_server(*, folder: Path, pid_file: Path) -> int | None:
    """Return the process id of a server that works in `folder`, or None."""
    pid = _read_pid(pid_file)
    return pid if pid is not None and works_in(pid=pid, folder=folder) else None


def _gone_within(*, seconds: float, pid: int, folder: Path) -> bool:
    deadline = time.monotonic() + seconds
    while works_in(pid=pid, folder=folder):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _read_pid(pid_file: Path) -> int | None:
    try:
        first = pid_file.read_text().split("\n", 1)[0].strip()
    except FileNotFoundError:
        return None
    return int(first) if first.isdecimal() else None
