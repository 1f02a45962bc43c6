"""Run a command of manage.py inside the running group: with its addresses and secrets (10.1)."""

import json
import os
import sys
from collections.abc import Mapping

from config import env
from config.embedded import home as homes
from config.embedded import setup as setups
from config.embedded.errors import HomeError
from config.embedded.home import Home

FILE_NAME = "environment.json"


def remember(*, home: Home, given: Mapping[str, str]) -> None:
    """Keep what the children were told, for commands of the person who started them."""
    homes.write_private(path=home.run / FILE_NAME, text=json.dumps(dict(given)))


def forget(*, home: Home) -> None:
    """Remove it: nothing runs any more."""
    (home.run / FILE_NAME).unlink(missing_ok=True)


def manage(*, environment: Mapping[str, str], arguments: tuple[str, ...]) -> None:
    """Become `manage.py` with the running group's environment; raises HomeError without one."""
    root = setups.read(environment=environment).home
    try:
        given = json.loads((root / "run" / FILE_NAME).read_text())
    except FileNotFoundError as error:
        raise HomeError(f"Cairn does not run over {root}; start it with: make run") from error
    command = (sys.executable, str(env.ROOT / "manage.py"), *arguments)
    os.execve(sys.executable, command, {**environment, **given})  # noqa: S606 - no shell needed
