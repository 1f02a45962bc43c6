"""Cairn's own three long-running programs: web, worker and beat."""

import signal
import sys
from pathlib import Path

from config import env
from config.embedded.launch import Halt, Program
from config.embedded.setup import Setup

GRACEFUL_WEB_SECONDS = 7  # requests in flight; then sockets are closed with 1012
KEEP_ALIVE_SECONDS = 75  # uvicorn's 5 s closed connections under busy clients (measured)
WEB_HALTS = (Halt(signal=signal.SIGTERM, seconds=9),)
WORKER_HALTS = (
    Halt(signal=signal.SIGTERM, seconds=5),
    Halt(signal=signal.SIGQUIT, seconds=3),
)
BEAT_HALTS = (Halt(signal=signal.SIGTERM, seconds=3),)
CELERY = ("-m", "celery", "-q", "-A", "config")
SERVER = (  # addresses that callers name themselves are read by Cairn, with CAIRN_TRUSTED_PROXIES
    *("-m", "uvicorn", "config.asgi:application", "--no-proxy-headers"),
    *("--ws", "websockets-sansio", "--lifespan", "on", "--log-level", "warning"),
)
ROOT_WARNING = "ignore:You're running the worker with superuser"  # containers do so by design

Environment = tuple[tuple[str, str], ...]


def web(*, setup: Setup, environment: Environment) -> Program:
    """Describe the web server: pages, API, sockets and MCP in one process."""
    return Program(
        name="web",
        command=(
            *(sys.executable, *SERVER),
            *("--host", setup.host, "--port", str(setup.port)),
            *("--timeout-keep-alive", str(KEEP_ALIVE_SECONDS)),
            *("--timeout-graceful-shutdown", str(GRACEFUL_WEB_SECONDS)),
        ),
        environment=environment,
        folder=env.ROOT,
        halts=WEB_HALTS,
    )


def worker(*, setup: Setup, environment: Environment) -> Program:
    """Describe the worker, which does the jobs kept in Postgres."""
    return Program(
        name="worker",
        command=(
            *(sys.executable, "-W", ROOT_WARNING, *CELERY, "worker"),
            *("-P", "prefork", "-c", str(setup.workers), "-l", "WARNING"),
            *("--without-gossip", "--without-mingle"),
        ),
        environment=environment,
        folder=env.ROOT,
        halts=WORKER_HALTS,
    )


def session(*, environment: Environment) -> Program:
    """Describe the demo's recorded agent session, played once at the running web server."""
    return Program(
        name="demo",
        command=(
            sys.executable,
            "-W",
            "ignore",
            str(env.ROOT / "manage.py"),
            "demo",
            "--play",
            "--skip-checks",
        ),
        environment=environment,
        folder=env.ROOT,
    )


def beat(*, run_folder: Path, environment: Environment) -> Program:
    """Describe the clock that wakes the recurring jobs."""
    return Program(
        name="beat",
        command=(
            *(sys.executable, *CELERY, "beat"),
            *("-s", str(run_folder / "beat"), "--pidfile=", "-l", "WARNING"),
        ),
        environment=environment,
        folder=env.ROOT,
        halts=BEAT_HALTS,
    )
