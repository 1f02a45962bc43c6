"""Real Postgres and Valkey for a test run, started once and stopped with it.

The test settings call `start` before anything reads the environment. Addresses given from outside
(DATABASE_URL, DATABASE_OWNER_URL and REDIS_URL) are used as they are: the application's role, the
owner that may make databases, and a database in whose template pgvector is. Where several processes
share a run, each has servers of its own: tests empty the store. A run of unit tests alone starts
none.
"""

import atexit
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from config.embedded import servers
from config.embedded.home import StartError
from config.embedded.processes import Program, start_program
from config.embedded.servers import Durability

READY_SECONDS = 60
POLL_SECONDS = 0.05
LOG_NAME = "servers.log"
STARTED_BY = "CAIRN_TEST_SERVERS"  # which process of the run started those that are named
PROCESS = "PYTEST_XDIST_WORKER"  # the name of this one, in a run that several share
ALONE = "alone"
NONE = "none"  # started by nobody: what a run of unit tests says to the processes that share it
UNIT = Path(__file__).resolve().parents[1] / "unit"
NOWHERE = {
    "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
    "DATABASE_OWNER_URL": "postgresql://nobody@127.0.0.1:1/none",
    "REDIS_URL": "redis://127.0.0.1:1/0",
}

_running = ExitStack()


def start(*, home: Path | None = None) -> None:
    """Start both servers unless their addresses are given, and put the addresses in place.

    What they hold is kept in `home`, or goes with the process.
    """
    if os.environ.get(STARTED_BY) == NONE or _is_unit_run(sys.argv[1:]):
        os.environ.update({**NOWHERE, STARTED_BY: NONE})
        return
    is_given = os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL")
    process = os.environ.get(PROCESS, ALONE)
    if is_given and os.environ.get(STARTED_BY, process) == process:
        return
    if home is None:
        home = Path(_running.enter_context(tempfile.TemporaryDirectory(prefix="cairn-test-")))
    cluster, store = _running.enter_context(throw_away(home=home))
    os.environ["DATABASE_URL"] = cluster.url
    os.environ["REDIS_URL"] = store.url
    os.environ["DATABASE_OWNER_URL"] = cluster.owner_url
    os.environ[STARTED_BY] = process
    atexit.register(_running.close)


@contextmanager
def throw_away(*, home: Path) -> Iterator[tuple[servers.Cluster, servers.Store]]:
    """Start both servers with their data under `home`, without surviving a power cut; stop them.

    What they print goes to `servers.log` in `home`. Raises StartError when one does not start.
    Both die with the process that started them, even when that is killed.
    """
    home.mkdir(parents=True, exist_ok=True)
    cluster = servers.prepare_postgres(
        home=home, environment=os.environ, durability=Durability.FAST
    )
    store = servers.prepare_store(home=home, environment=os.environ)
    log = home / LOG_NAME
    with ExitStack() as stack:
        stack.callback(servers.tidy, home=home, environment=os.environ)
        output = stack.enter_context(log.open("ab"))
        for program in (
            cluster.program(environment=os.environ),
            store.program(environment=os.environ),
        ):
            child = start_program(program=program, output=output.fileno())
            stack.callback(_stop, child, program)
        _await("postgres", log, cluster.is_ready)
        _await("redis", log, store.is_ready)
        cluster.create_database()
        for statement in servers.PREPARATION:  # tests make databases and roles of their own
            cluster.ask(statement, database="template1")
        cluster.ask(f"alter role {servers.OWNER} createdb createrole")
        yield cluster, store


def _await(name: str, log: Path, is_ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not is_ready():
        if time.monotonic() > deadline:
            raise StartError(f"{name} was not ready within {READY_SECONDS} s; see {log}.")
        time.sleep(POLL_SECONDS)


def _stop(child: subprocess.Popen[bytes], program: Program) -> None:
    for number, seconds in program.halts:
        child.send_signal(number)
        try:
            child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            continue
        return
    child.send_signal(signal.SIGKILL)
    child.wait()


def _is_unit_run(arguments: list[str]) -> bool:
    """Say whether the paths that the run was given, at least one, are all of unit tests."""
    paths = [Path(part.partition("::")[0]) for part in arguments if not part.startswith("-")]
    named = [path.resolve() for path in paths if path.exists()]
    return bool(named) and all(path.is_relative_to(UNIT) for path in named)
