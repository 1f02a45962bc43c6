"""Our programs as the supervisor knows them: a loader, web processes, a worker, the clock.

All web processes accept from one socket that the supervisor holds, so it refuses nobody while they
are replaced or die. To replace them all, a new loader reads the code as it is now; then one new web
process after another is made ready before an old one is retired, and worker and clock follow. What
does not come up changes nothing: the old programs go on.
"""

import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from config import env
from config.embedded.home import StartError
from config.embedded.loader import Loader
from config.embedded.processes import Group, Process, Program

COMMAND: Final = (sys.executable, "-m", "config.embedded.serving")
STOP_WEB_SECONDS: Final = 9  # at an end of all; one that is replaced has a minute


class Fleet:
    """What serves, started and replaced as a whole."""

    def __init__(
        self, *, group: Group, programs: tuple[Program, ...], environment: Mapping[str, str]
    ) -> None:
        self._group = group
        self._programs = programs
        self._environment = environment
        self._loaders: list[Loader] = []
        self._running: dict[str, Process] = {}

    def load(self) -> None:
        """Begin to load the product; that takes seconds, which others may use."""
        if sys.platform == "linux":
            loader = Loader(environment=self._environment, console=self._group.console)
            self._loaders.append(loader)
            self._group.add(loader)

    def start(self) -> None:
        """Start all programs; return when those that report are ready. Raises StartError."""
        self._await_loader()
        self._running = {program.name: self._begin(program) for program in self._programs}
        for child in self._running.values():
            if child.program.reports:
                self._group.await_ready(child)

    def replace(self) -> None:
        """Replace all programs by newly loaded ones.

        Raises StartError when one does not come up; those not yet replaced go on.
        """
        self.load()
        try:
            self._await_loader()
            for program in self._programs:
                if program.reports:
                    self._replace((program,))
            self._replace(tuple(one for one in self._programs if not one.reports))
        finally:
            self._retire_loaders()

    def _await_loader(self) -> None:
        if self._loaders:
            self._group.await_ready(self._loaders[-1])

    def _begin(self, program: Program) -> Process:
        loader = self._loaders[-1] if self._loaders else None
        return self._group.keep_running(replace(program, loader=loader))

    def _replace(self, programs: tuple[Program, ...]) -> None:
        fresh: list[Process] = []
        try:
            for program in programs:
                fresh.append(self._begin(program))  # noqa: PERF401 - kept if a later one fails
            for child in fresh:
                self._group.await_ready(child)
        except (StartError, OSError):
            for child in fresh:
                self._group.retire(child)
            raise
        for child in fresh:
            self._group.retire(self._running[child.name])
            self._running[child.name] = child

    def _retire_loaders(self) -> None:
        """Let the loaders go that no running program would be started again by."""
        used = [child.program.loader for child in self._running.values()]
        for loader in tuple(self._loaders):
            if loader not in used:
                self._loaders.remove(loader)
                self._group.retire(loader)


def web(*, number: int, listener: int, environment: Mapping[str, str]) -> Program:
    """Describe one web process: pages, API, sockets and MCP, from connections of `listener`."""
    return Program(
        name=f"web.{number}",
        command=(*COMMAND, "web"),
        environment=environment,
        folder=env.ROOT,
        descriptors=(listener,),
        reports=True,
        halts=((signal.SIGTERM, STOP_WEB_SECONDS),),
    )


def worker(*, count: int, job_seconds: int, environment: Mapping[str, str]) -> Program:
    """Describe the worker, which does the jobs kept in Postgres, `count` at once.

    One that is replaced finishes what it does, which takes it `job_seconds` at most.
    """
    arguments = (
        *("-P", "prefork", "-c", str(count), "-l", "WARNING"),
        *("--without-gossip", "--without-mingle"),
    )
    return Program(
        name="worker",
        command=(*COMMAND, "worker", *arguments),
        arguments=arguments,
        environment=environment,
        folder=env.ROOT,
        halts=((signal.SIGTERM, 5), (signal.SIGQUIT, 3)),
        retirement=((signal.SIGTERM, job_seconds), (signal.SIGQUIT, 30)),
    )


def keep_backups(*, group: Group, environment: Mapping[str, str]) -> None:
    """Start what makes a backup every night, where that is configured.

    Of all that serves, it alone may become the owner.
    """
    if environment.get("CAIRN_BACKUP_TO"):
        command = (sys.executable, "-m", "config.backup.nightly")
        group.keep_running(
            Program(name="backup", command=command, environment=environment, folder=env.ROOT)
        )


def beat(*, run_folder: Path, environment: Mapping[str, str]) -> Program:
    """Describe the clock that wakes the recurring jobs."""
    arguments = ("-s", str(run_folder / "beat"), "--pidfile=", "-l", "WARNING")
    return Program(
        name="beat",
        command=(*COMMAND, "beat", *arguments),
        arguments=arguments,
        environment=environment,
        folder=env.ROOT,
        halts=((signal.SIGTERM, 3),),
    )
