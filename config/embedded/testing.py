"""Throw-away Postgres and Valkey for the tests, without the cost of surviving a power cut.

Use it as a session fixture: `with servers(home=tmp_path_factory.mktemp("servers")) as environment`.
Both die with the process that started them, even when that is killed.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from config.embedded import launch, postgres, valkey
from config.embedded import servers as preparation
from config.embedded.errors import ServerError
from config.embedded.postgres import Durability

READY_SECONDS = 60
POLL_SECONDS = 0.05
LOG_NAME = "servers.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The addresses of the two servers, in the form of the variables of the same names."""

    database_url: str
    redis_url: str
    database_owner_url: str


@contextmanager
def servers(home: Path) -> Iterator[Environment]:
    """Start both servers with their data under `home`, yield their addresses, stop them.

    What they print goes to `servers.log` in `home`. Raises StartError when one does not start.
    """
    home.mkdir(parents=True, exist_ok=True)
    cluster = preparation.prepare_postgres(
        home=home, environment=os.environ, durability=Durability.FAST
    )
    store = preparation.prepare_store(home=home, environment=os.environ)
    with ExitStack() as stack:
        stack.callback(preparation.tidy, home=home, environment=os.environ)
        log = stack.enter_context((home / LOG_NAME).open("ab"))
        for program in (
            postgres.program(cluster=cluster, environment=os.environ),
            valkey.program(store=store, environment=os.environ),
        ):
            child = launch.start(program=program, output=log.fileno())
            stack.callback(_stop, child=child, program=program)
        _await(name="postgres", log=home / LOG_NAME, is_ready=lambda: _answers(cluster))
        _await(name="redis", log=home / LOG_NAME, is_ready=lambda: valkey.is_ready(store=store))
        postgres.create_database(cluster=cluster)
        postgres.let_owner_create_databases(cluster=cluster)
        yield Environment(
            database_url=cluster.url, redis_url=store.url, database_owner_url=cluster.owner_url
        )


def _answers(cluster: postgres.Cluster) -> bool:
    return postgres.is_ready(cluster=cluster)


def _await(*, name: str, log: Path, is_ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not is_ready():
        if time.monotonic() > deadline:
            raise ServerError(f"{name} was not ready within {READY_SECONDS} s; see {log}.")
        time.sleep(POLL_SECONDS)


def _stop(*, child: subprocess.Popen[bytes], program: launch.Program) -> None:
    for halt in program.halts:
        child.send_signal(halt.signal)
        try:
            child.wait(timeout=halt.seconds)
        except subprocess.TimeoutExpired:
            continue
        return
    child.send_signal(signal.SIGKILL)
    child.wait()
