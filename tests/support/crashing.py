"""An installation whose processes a test kills: durable servers, worker, beat and a writer."""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psycopg

from config import env
from config.embedded import launch, postgres, programs, servers, valkey
from config.embedded import setup as setups
from config.embedded.launch import Program
from config.embedded.postgres import Durability

PROGRAM = ("-m", "tests.support.crash_program")
READY_SECONDS = 60
POLL_SECONDS = 0.05
AHEAD = 4  # writes under way while the reader does something else


@dataclass(slots=True, kw_only=True)
class Installation:
    """The processes by name, and the environment they share."""

    home: Path
    log: IO[bytes]
    given: dict[str, str]
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """What every process is told."""
        return {**os.environ, **self.given}

    def start(self, name: str) -> None:
        """Start one of postgres, redis, worker, beat, and wait for a server to be ready."""
        starters = {"postgres": self._start_postgres, "redis": self._start_redis}
        if name in starters:
            starters[name]()
            return
        setup = setups.read(environment=self.given)
        told = tuple(self.environment.items())
        described = {
            "worker": programs.worker(setup=setup, environment=told),
            "beat": programs.beat(run_folder=self.home, environment=told),
        }
        self._launch(described[name])

    def kill(self, name: str) -> None:
        """End a process and everything it started, without a warning."""
        child = self.running.pop(name)
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()

    def kill_and_start(self, name: str) -> None:
        """Kill a process and start it again; the store starts empty."""
        self.kill(name)
        if name == "redis":
            shutil.rmtree(self.home / "redis")
        self.start(name)

    def ask(self, command: str, given: str = "") -> str:
        """Run a command of the program to its end; return what it printed."""
        done = subprocess.run(
            [sys.executable, *PROGRAM, command],
            env=self.environment,
            cwd=env.ROOT,
            input=given,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            check=True,
            timeout=READY_SECONDS,
        )
        return done.stdout

    def migrate(self) -> None:
        """Make the tables."""
        command = [sys.executable, "manage.py", "migrate", "-v", "0"]
        subprocess.run(
            command, env=self.environment, cwd=env.ROOT, check=True, stdout=self.log, timeout=120
        )

    def written(self, times: int) -> Iterator[str]:
        """Store memories, a few ahead of the reader; yield each line when it is acknowledged."""
        with subprocess.Popen(
            [sys.executable, *PROGRAM, "write"],
            env=self.environment,
            cwd=env.ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            bufsize=1,
        ) as writer:
            assert writer.stdin is not None
            assert writer.stdout is not None
            writer.stdin.write("\n" * min(AHEAD, times))
            for number in range(times):
                yield writer.stdout.readline()
                if number + AHEAD < times:
                    writer.stdin.write("\n")
            writer.stdin.close()

    def job_states(self) -> dict[str, int]:
        """Count the jobs by state."""
        question = "SELECT state, count(*) FROM accounts_job GROUP BY 1"
        with psycopg.connect(self.given["DATABASE_OWNER_URL"]) as connection:
            return dict(connection.execute(question).fetchall())

    def _start_postgres(self) -> None:
        cluster = servers.prepare_postgres(
            home=self.home, environment=os.environ, durability=Durability.SAFE
        )
        self._launch(postgres.program(cluster=cluster, environment=os.environ))
        await_that(lambda: postgres.is_ready(cluster=cluster))
        postgres.create_database(cluster=cluster)
        self.given["DATABASE_URL"] = cluster.url
        self.given["DATABASE_OWNER_URL"] = cluster.owner_url

    def _start_redis(self) -> None:
        store = servers.prepare_store(home=self.home, environment=os.environ)
        self._launch(valkey.program(store=store, environment=os.environ))
        await_that(lambda: valkey.is_ready(store=store))
        self.given["REDIS_URL"] = store.url

    def _launch(self, program: Program) -> None:
        self.running[program.name] = launch.start(program=program, output=self.log.fileno())


@contextmanager
def installation(*, home: Path) -> Iterator[Installation]:
    """Start everything over a folder; kill what still runs at the end."""
    given = {
        "DJANGO_SETTINGS_MODULE": "config.settings.production",
        "CAIRN_SECRET_KEY": secrets.token_urlsafe(40),
        "CAIRN_TOKEN_PEPPER": secrets.token_urlsafe(40),
        "CAIRN_HOME": str(home),
        "CAIRN_EMBEDDER": "hashing/words-384",
        "CAIRN_EMBED_INLINE": "0",
    }
    with (home / "crashes.log").open("wb") as log:
        site = Installation(home=home, log=log, given=given)
        try:
            site.start("postgres")
            site.start("redis")
            site.migrate()
            site.ask("found")
            site.start("worker")
            site.start("beat")
            yield site
        finally:
            for name in reversed(tuple(site.running)):
                site.kill(name)
            servers.tidy(home=home, environment=os.environ)


def await_that(is_so: Callable[[], bool], *, seconds: float = READY_SECONDS) -> None:
    """Wait until something is so. Raises TimeoutError when that takes too long."""
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(f"It did not come about within {seconds} s.")
        time.sleep(POLL_SECONDS)
