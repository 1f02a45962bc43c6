"""Restore a whole backup into a new data folder, with only the two servers running meanwhile.

The folder gets the secrets that an encrypted backup holds, unless it has some. Where the
environment gives them, the backup need not.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from config import env
from config.backup.archive import HOME, open_backup
from config.backup.keys import read_secret
from config.backup.places import BackupError
from config.embedded import home as homes
from config.embedded import servers, startup
from config.embedded.home import Home, StartError, write_private
from config.embedded.processes import Console, Group, Program, StopRequested
from config.embedded.servers import Durability
from config.embedded.startup import Setup

SECRETS = ("CAIRN_SECRET_KEY", "CAIRN_TOKEN_PEPPER")  # given by the environment, or kept


def run(
    *,
    setup: Setup,
    environment: Mapping[str, str],
    console: Console,
    source: str,
    key_file: Path | None,
) -> None:
    """Restore the backup at `source`, or the newest there. Raises StartError."""
    home = homes.prepare(root=setup.home)
    address = source if "://" in source else str(Path(source).absolute())
    options = () if key_file is None else ("--key-file", str(key_file.absolute()))
    with homes.held(home=home):
        if home.is_first_start:
            are_set = all(environment.get(name) for name in SECRETS)
            if text := _secrets(home, address, key_file, are_needed=not are_set):
                write_private(path=home.root / "secrets.json", text=text)
        if not _restore(setup, environment, console, (address, *options)):
            raise StartError(f"{source} was not restored; the reason is above.")
    console.say(f"{home.root} is restored; start it with: make run")


def _secrets(home: Home, address: str, key_file: Path | None, *, are_needed: bool) -> str:
    """Return the secrets that the backup holds. Raises StartError when it lacks needed ones."""
    try:
        backup = open_backup(address=address, secret=read_secret(path=key_file))
        files = json.loads(b"".join(backup.read(HOME)))
    except BackupError as error:
        raise StartError(str(error)) from error
    if "secrets.json" not in files and are_needed:
        raise StartError(
            f"{backup.name} is not encrypted, so it holds no secrets; put the secrets.json of that "
            f"installation into {home.root} first, or set {' and '.join(SECRETS)}."
        )
    return str(files.get("secrets.json", ""))


def _restore(
    setup: Setup, environment: Mapping[str, str], console: Console, arguments: tuple[str, ...]
) -> bool:
    """Start the servers, run `manage.py restore`, stop them; say whether it ended well."""
    home = Home(root=setup.home)
    group = Group(console=console)
    group.listen()
    try:
        served = startup.start_servers(
            group=group, setup=setup, environment=environment, durability=Durability.SAFE
        )
        given = startup.given_to_children(
            setup=served, secrets=homes.load_secrets(home=home), environment=environment
        )
        restore = Program(
            name="restore",
            command=(sys.executable, str(env.ROOT / "manage.py"), "restore", *arguments),
            environment={**environment, **given},
            folder=env.ROOT,
        )
        return group.run_to_end(restore) == 0
    except StopRequested:
        return False
    finally:
        group.stop()
        servers.tidy(home=home.root, environment=environment)
