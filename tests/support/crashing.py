"""An installation whose processes a test kills: durable servers, web, worker and beat.

Web and worker stand still at named moments when a test wants it (`tests.support.moments`). One
that ends by itself, as Celery does when the store goes in the middle of a message, is started
again: that is what the process group does.
"""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, RLock, Thread
from typing import IO, Any, LiteralString

import httpx
import psycopg

from config import env
from config.embedded import fleet, processes, servers, startup
from config.embedded.processes import Program
from config.embedded.servers import Durability
from tests.support.site import free_port

PROGRAM = ("-m", "tests.support.crash_program")
JOBS_OF: LiteralString = (
    "FROM accounts_job AS j JOIN accounts_organization AS o ON o.id = j.organization_id"
    " WHERE o.slug = %s"
)
MOMENTS_OF = {
    "worker": ("claimed", "inside", "stored", "retrying", "sweeping"),
    "web": ("inserted", "committed"),
}
MOMENTS = "tests.support.moments"
READY_SECONDS = 180  # on a machine that many share
ANSWER_SECONDS = 600  # of a command that looks for thousands of memories
POLL_SECONDS = 0.05
WATCH_SECONDS = 1.0
BEATS = ("beat", "other beat")
KEPT = ("worker", "beat")


@dataclass(slots=True, kw_only=True)
class Beside:
    """A command that runs beside the test; what it printed is there when it has ended."""

    child: subprocess.Popen[str]
    printed: str = ""

    def say(self, line: str) -> None:
        """Send it a line."""
        assert self.child.stdin is not None
        self.child.stdin.write(f"{line}\n")
        self.child.stdin.flush()


@dataclass(slots=True, kw_only=True)
class Installation:
    """The processes by name, and the environment they share."""

    home: Path
    log: IO[bytes]
    given: dict[str, str]
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)  # moments nobody came to in time
    launched: dict[str, Program] = field(default_factory=dict)  # as each was last started
    changing: RLock = field(default_factory=RLock)  # held while processes are started and ended

    @property
    def environment(self) -> dict[str, str]:
        """What every process is told."""
        return {**os.environ, **self.given}

    def start(self, name: str, **over: str) -> None:
        """Start postgres, redis, web, worker, hands or a beat, and wait for a server to be ready.

        Hands are a worker without a queue: they look for jobs themselves, and begin sooner.
        `over` is what this process alone is told instead.
        """
        starters = {"postgres": self._start_postgres, "redis": self._start_redis}
        if name in starters:
            starters[name]()
            return
        told = startup.without_owner(environment={**self.environment, **over})
        self._launch(self._described(name, told))
        if name == "web":
            setup = startup.read(environment=self.given)
            await_that(lambda: _is_live(setup.base_url))

    def kill(self, name: str) -> None:
        """End a process and everything it started, without a warning."""
        with self.changing:
            child = self.running.pop(name)
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()

    def kill_and_start(self, name: str) -> None:
        """Kill a process and start it again; the store starts empty."""
        self.kill(name)
        if name == "redis":
            shutil.rmtree(self.home / "redis")
        self.start(name)

    def arm(self, moment: str) -> None:
        """Have the next process that comes to a moment stand still there."""
        (self.home / "moments" / moment).touch()

    def is_reached(self, moment: str) -> bool:
        """Say whether a process stands still at a moment that was armed."""
        reached = self.home / "moments" / f"{moment}.reached"
        if reached.exists():
            reached.unlink()
            return True
        return False

    def disarm(self) -> None:
        """Let nobody stand still any more."""
        for file in (self.home / "moments").iterdir():
            file.unlink()

    def ask(self, *command: str, given: str = "") -> str:
        """Run a command of the program to its end; return what it printed."""
        done = subprocess.run(
            [sys.executable, *PROGRAM, *command],
            env=self.environment,
            cwd=env.ROOT,
            input=given,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            check=True,
            timeout=ANSWER_SECONDS,
        )
        return done.stdout

    @contextmanager
    def beside(self, *command: str) -> Iterator[Beside]:
        """Run a command of the program while the block lasts; the end of its input ends it."""
        with subprocess.Popen(
            [sys.executable, *PROGRAM, *command],
            env=self.environment,
            cwd=env.ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        ) as child:
            running = Beside(child=child)
            try:
                yield running
            finally:
                running.printed = child.communicate(timeout=ANSWER_SECONDS)[0]

    def migrate(self) -> None:
        """Make the tables."""
        command = [sys.executable, "manage.py", "migrate", "-v", "0"]
        subprocess.run(
            command, env=self.environment, cwd=env.ROOT, check=True, stdout=self.log, timeout=120
        )

    def slots(self, since: int = 0) -> list[str]:
        """Return what workers have noted of slots, from a line on."""
        file = self.home / "slots.log"
        return file.read_text().splitlines()[since:] if file.exists() else []

    def job_states(self, organization: str) -> dict[str, int]:
        """Count the jobs of an organization by state."""
        return dict(self.read(f"SELECT state, count(*) {JOBS_OF} GROUP BY 1", organization))

    def open_jobs(self, organization: str) -> int:
        """Count the jobs of an organization that have not ended."""
        states = self.job_states(organization)
        return states.get("queued", 0) + states.get("running", 0)

    def read(self, question: LiteralString, *given: object) -> list[tuple[Any, ...]]:
        """Ask the database as its owner, whom no row is hidden from."""
        with psycopg.connect(self.given["DATABASE_OWNER_URL"]) as connection:
            return connection.execute(question, given).fetchall()

    def change(self, statement: LiteralString) -> int:
        """Change rows as their owner, to have time pass; return how many."""
        with psycopg.connect(self.given["DATABASE_OWNER_URL"]) as connection:
            return connection.execute(statement).rowcount

    def _described(self, name: str, told: dict[str, str]) -> Program:
        setup = startup.read(environment=self.given)
        if name in BEATS:
            return replace(fleet.beat(run_folder=self.home, environment=told), name=name)
        if name == "hands":
            command = (sys.executable, *PROGRAM, "work")
            return Program(name=name, command=command, environment=told, folder=env.ROOT)
        if name == "worker":
            worker = fleet.worker(
                count=setup.workers, job_seconds=setup.job_seconds, environment=told
            )
            return replace(worker, command=(*worker.command, "-I", MOMENTS))
        address = ("--host", setup.host, "--port", str(setup.port), "--log-level", "warning")
        command = (sys.executable, "-m", "uvicorn", f"{MOMENTS}_web:application", *address)
        return Program(name="web", command=command, environment=told, folder=env.ROOT)

    def _start_postgres(self) -> None:
        cluster = servers.prepare_postgres(
            home=self.home, environment=os.environ, durability=Durability.SAFE
        )
        self._launch(cluster.program(environment=os.environ))
        await_that(cluster.is_ready)
        cluster.create_database()
        self.given["DATABASE_URL"] = cluster.url
        self.given["DATABASE_OWNER_URL"] = cluster.owner_url

    def _start_redis(self) -> None:
        store = servers.prepare_store(home=self.home, environment=os.environ)
        self._launch(store.program(environment=os.environ))
        await_that(store.is_ready)
        self.given["REDIS_URL"] = store.url

    def _launch(self, program: Program) -> None:
        with self.changing:
            self.launched[program.name] = program
            self.running[program.name] = processes.start_program(
                program=program, output=self.log.fileno()
            )

    def keep(self, *, until: Event) -> None:
        """Start worker and beat again when they end by themselves, until told to stop."""
        while not until.wait(WATCH_SECONDS):
            with self.changing:
                ended = [name for name in KEPT if self._has_ended(name)]
                for name in ended:
                    self.log.write(f"{name} ended by itself and is started again\n".encode())
                    self._launch(self.launched[name])

    def _has_ended(self, name: str) -> bool:
        return name in self.running and self.running[name].poll() is not None


@contextmanager
def installation(*, home: Path) -> Iterator[Installation]:
    """Start everything over a folder; kill what still runs at the end."""
    port = free_port()
    (home / "moments").mkdir()
    given = {
        "FIRE_MOMENTS": str(home / "moments"),
        "CAIRN_PORT": str(port),
        "CAIRN_BASE_URL": f"http://127.0.0.1:{port}",
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
            site.start("worker")
            site.start("beat")
            with _watched(site):
                yield site
        finally:
            for name in reversed(tuple(site.running)):
                site.kill(name)
            servers.tidy(home=home, environment=os.environ)


@contextmanager
def _watched(site: Installation) -> Iterator[None]:
    until = Event()
    thread = Thread(target=site.keep, kwargs={"until": until}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        until.set()
        thread.join()


def _is_live(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health/live").is_success
    except httpx.TransportError:
        return False


def await_that(is_so: Callable[[], bool], *, seconds: float = READY_SECONDS) -> None:
    """Wait until something is so. Raises TimeoutError when that takes too long."""
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(f"It did not come about within {seconds} s.")
        time.sleep(POLL_SECONDS)
