"""Real Postgres and Valkey for a test run, started once and stopped with it.

The test settings call `start` before anything reads the environment. Addresses given from outside
(DATABASE_URL, DATABASE_OWNER_URL and REDIS_URL) are used as they are: the application's role, the
owner that may make databases, and a database in whose template pgvector is. Where several processes
share a run, each has servers of its own: tests empty the store. A run of unit tests alone starts
none.
"""

import atexit
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from config.embedded.testing import servers

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
    environment = _running.enter_context(servers(home=home))
    os.environ["DATABASE_URL"] = environment.database_url
    os.environ["REDIS_URL"] = environment.redis_url
    os.environ["DATABASE_OWNER_URL"] = environment.database_owner_url
    os.environ[STARTED_BY] = process
    atexit.register(_running.close)


def _is_unit_run(arguments: list[str]) -> bool:
    """Say whether the paths that the run was given, at least one, are all of unit tests."""
    paths = [Path(part.partition("::")[0]) for part in arguments if not part.startswith("-")]
    named = [path.resolve() for path in paths if path.exists()]
    return bool(named) and all(path.is_relative_to(UNIT) for path in named)
