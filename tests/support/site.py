"""A whole site on loopback for browsers: its own database, seeded people, two web processes.

The servers of the test run are used, with a database of its own, so that what a browser writes does
not meet the tests that roll back.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from urllib.request import urlopen

import psycopg

from tests.support import servers

ROOT = Path(__file__).resolve().parent.parent.parent
DATABASE = "cairn_site"
READY_S = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where the site is, who can sign in, and a token of theirs."""

    url: str
    email: str
    password: str
    stranger: str
    token: str
    organization: str
    project: str
    supervisor: int  # its process id
    log: Path


@contextmanager
def running(
    *, log: Path, database: str = DATABASE, over: Mapping[str, str] | None = None
) -> Iterator[Site]:
    """Serve a seeded site until the block ends; what it prints goes to `log`.

    `over` are addresses that the web server alone is told instead of the true ones.
    """
    servers.start()
    environment = {**os.environ, **_environment(new_database(database), free_port())}
    environment["DJANGO_SETTINGS_MODULE"] = "config.settings.test"
    run("manage.py", "migrate", "-v", "0", environment=environment)
    seeded = json.loads(run("-m", "tests.support.seed", environment=environment))
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.support.web_group"],
            env={**environment, **(over or {})}, cwd=ROOT, stdout=output, stderr=output,
        )  # fmt: skip
        try:
            _await(environment["CAIRN_BASE_URL"], server, log)
            url = environment["CAIRN_BASE_URL"]
            yield Site(url=url, supervisor=server.pid, log=log, **seeded)
        finally:
            server.terminate()
            server.wait(timeout=20)


def _environment(database_url: str, port: int) -> dict[str, str]:
    return {
        "DATABASE_URL": database_url,
        "CAIRN_PORT": str(port),
        "CAIRN_BASE_URL": f"http://127.0.0.1:{port}",
    }


def new_database(name: str) -> str:
    """Make an empty database on the test servers; return its address."""
    url = urlsplit(os.environ["DATABASE_URL"])
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name}")
    return urlunsplit(url._replace(path=f"/{name}"))


def run(*arguments: str, environment: dict[str, str]) -> str:
    """Run a program to its end; return what it printed."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment, cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _await(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        assert server.poll() is None, log.read_text()
        try:
            with urlopen(f"{url}/login/", timeout=READY_S):
                return
        except OSError:  # refused, or cut off, or slow on a busy machine: until the deadline
            with suppress(subprocess.TimeoutExpired):
                server.wait(timeout=0.1)
    raise AssertionError(f"The site did not start: {log.read_text()}")
