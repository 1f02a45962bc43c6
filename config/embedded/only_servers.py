"""Only Postgres and Valkey in the foreground, their addresses printed for a shell.

They run until SIGTERM, Ctrl-C, or the end of standard input, so a script that holds the other end
of the pipe takes them down with itself.
"""

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from config.embedded import home as homes
from config.embedded import servers
from config.embedded import setup as setups
from config.embedded.console import Console
from config.embedded.group import Group, StopRequested
from config.embedded.postgres import Durability
from config.embedded.setup import Setup
from config.embedded.starting import Starter, start_servers

READ_BYTES = 4096


def serve_lasting(*, environment: Mapping[str, str], console: Console) -> None:
    """Serve the data folder until asked to stop; raises StartError."""
    setup = setups.read(environment=environment)
    _serve(setup=setup, environment=environment, console=console, durability=Durability.SAFE)


def serve_fast(*, environment: Mapping[str, str], console: Console) -> None:
    """Serve a throw-away folder without the cost of durability; raises StartError."""
    setup = setups.read(environment=environment)
    with _temporary_folder() as folder:
        _serve(
            setup=replace(setup, home=folder),
            environment=environment,
            console=console,
            durability=Durability.FAST,
        )


def _serve(
    *, setup: Setup, environment: Mapping[str, str], console: Console, durability: Durability
) -> None:
    home = homes.prepare(root=setup.home)
    with homes.held(home=home):
        group = Group(console=console)
        group.listen()
        group.watch(descriptor=sys.stdin.fileno(), on_input=_until_end(group))
        starter = Starter(group=group, console=console)
        try:
            served = start_servers(
                starter=starter, setup=setup, environment=environment, durability=durability
            )
            _print_addresses(served)
            group.run_until_stopped()
        except StopRequested:
            console.say("stopping")
        finally:
            group.stop()
            servers.tidy(home=home.root, environment=environment)


def _until_end(group: Group) -> Callable[[], None]:
    def throw_away() -> None:
        if not os.read(sys.stdin.fileno(), READ_BYTES):
            group.request_stop()

    return throw_away


def _print_addresses(setup: Setup) -> None:
    for name, value in (
        ("DATABASE_URL", setup.database_url),
        ("REDIS_URL", setup.redis_url),
        ("DATABASE_OWNER_URL", setup.database_owner_url),
    ):
        print(f"export {name}={shlex.quote(value)}", flush=True)


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="cairn-servers-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
