"""A real PgBouncer in transaction pooling in front of the test servers' Postgres.

It runs as whom the embedded Postgres does: it refuses root as well, and then reaches the socket.
"""

import os
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

import psycopg
import pytest

from config.embedded import identity, launch
from config.embedded.testing import _stop
from tests.support.crashing import await_that

USUAL_PLACE = Path("/usr/sbin/pgbouncer")
NEEDED = (
    "No PgBouncer: install it (Debian: apt-get install pgbouncer), name it by CAIRN_PGBOUNCER, "
    "or run make test-nobrowser"
)
ADDRESS = "127.0.0.1"
POSTGRES_PORT = 5432


def program() -> Path:
    """Return the path of PgBouncer; fail the test saying what is missing."""
    named = os.environ.get("CAIRN_PGBOUNCER") or shutil.which("pgbouncer")
    found = Path(named) if named else USUAL_PLACE
    if not found.is_file():
        pytest.fail(NEEDED, pytrace=False)
    return found


@contextmanager
def pooler(*, home: Path, database_url: str, size: int) -> Iterator[str]:
    """Pool the connections to a database until the block ends; yield the database's address there.

    `size` connections reach Postgres, however many clients there are.
    """
    port = _free_port()
    settings = home / "pgbouncer.ini"
    settings.write_text(_settings(database_url, port, size))
    owner = identity.choose(environment=os.environ)
    os.chown(settings, owner.uid, owner.gid)
    home.chmod(0o711)
    described = launch.Program(
        name="pgbouncer",
        command=(str(program()), str(settings)),
        environment=tuple(os.environ.items()),
        folder=Path("/"),
        identity=owner,
    )
    pooled = _behind(database_url, port)
    with (home / "pgbouncer.log").open("ab") as log:
        child = launch.start(program=described, output=log.fileno())
        try:
            await_that(lambda: _answers(pooled))
            yield pooled
        finally:
            _stop(child=child, program=described)


def rows_of(*, pooled: str, command: str) -> list[Mapping[str, str]]:
    """Ask PgBouncer's own console, as in SHOW SERVERS."""
    console = urlunsplit(urlsplit(pooled)._replace(path="/pgbouncer"))
    with psycopg.ClientCursor(psycopg.connect(console, autocommit=True)) as cursor:
        cursor.execute(command)
        names = [column.name for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _settings(database_url: str, port: int, size: int) -> str:
    parts = urlsplit(database_url)
    target = {
        "host": unquote(parts.hostname or ""),
        "port": str(parts.port or POSTGRES_PORT),
        "user": parts.username or "",
        "password": unquote(parts.password or ""),
    }
    words = " ".join(f"{name}={value}" for name, value in target.items() if value)
    return (
        f"[databases]\n* = {words}\n[pgbouncer]\n"
        f"listen_addr = {ADDRESS}\nlisten_port = {port}\nunix_socket_dir =\n"
        "auth_type = any\nadmin_users = postgres\nmax_client_conn = 500\n"
        f"pool_mode = transaction\ndefault_pool_size = {size}\n"
    )


def _behind(database_url: str, port: int) -> str:
    parts = urlsplit(database_url)
    return f"postgresql://{parts.username or 'postgres'}@{ADDRESS}:{port}{parts.path}"


def _answers(pooled: str) -> bool:
    try:
        with psycopg.connect(pooled, autocommit=True, prepare_threshold=None) as line:
            return line.execute("SELECT 1").fetchone() == (1,)
    except psycopg.OperationalError:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])
