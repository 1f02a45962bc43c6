"""A database of its own with canaries in it, and the processes that read them at the same time."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config import env
from tests.support import site

PROGRAM = ("-m", "tests.support.canary_program")
PATIENCE_S = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CanarySite:
    """Where the database is, and where it is written who is in it."""

    worlds: Path
    told: Mapping[str, str]

    def start(self, command: str, *given: object) -> subprocess.Popen[str]:
        """Start a command of the program."""
        return subprocess.Popen(
            [sys.executable, *PROGRAM, command, str(self.worlds), *map(str, given)],
            env={**os.environ, **self.told},
            cwd=env.ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ask(self, command: str, *given: object) -> dict[str, Any]:
        """Run a command to its end; return what it printed."""
        return answer(self.start(command, *given))

    def at_once(self, *, reads: int) -> list[dict[str, Any]]:
        """Read from one process of coroutines and threads, and from two that do jobs."""
        share = reads // 4
        started = [
            self.start("mix", 0, reads - 2 * share),
            self.start("work", reads, share),
            self.start("work", 2 * reads, share),
        ]
        return [answer(process) for process in started]


def answer(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Return what a started command prints. Fails with what it said when it does."""
    printed, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, said
    found: dict[str, Any] = json.loads(printed)
    return found


def told(*, database_url: str) -> dict[str, str]:
    """Return the environment of processes on a database; memories are embedded by jobs."""
    return {
        "DATABASE_URL": database_url,
        "DATABASE_OWNER_URL": os.environ.get("DATABASE_OWNER_URL", ""),
        "DJANGO_SETTINGS_MODULE": "config.settings.test",
        "CAIRN_EMBED_INLINE": "0",
    }


def made(*, home: Path, told: Mapping[str, str], organizations: int) -> CanarySite:
    """Migrate a database and plant organizations in it."""
    made = CanarySite(worlds=home / "worlds.json", told=told)
    site.run("manage.py", "migrate", "-v", "0", environment={**os.environ, **told})
    made.ask("plant", organizations)
    return made
