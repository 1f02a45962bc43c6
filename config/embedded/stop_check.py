"""Say whether anything of a start still works over the data folder."""

from collections.abc import Mapping

from config.embedded import home as homes
from config.embedded import identity, places, postgres, remains, valkey
from config.embedded import setup as setups
from config.embedded.console import Console
from config.embedded.errors import HomeError


def check(*, environment: Mapping[str, str], console: Console) -> None:
    """Print that nothing runs over the folder; raises HomeError naming what does."""
    setup = setups.read(environment=environment)
    home = homes.Home(root=setup.home)
    if not home.run.exists():
        console.say(f"nothing runs over {home.root}")
        return
    with homes.held(home=home):
        owner = identity.choose(environment=environment)
        for folder, pid_name in (
            (places.data_folder(home=home.root, owner=owner), postgres.PID_NAME),
            (home.root / "redis", valkey.PID_NAME),
        ):
            pid = remains.running_server(folder=folder, pid_file=folder / pid_name)
            if pid is not None:
                raise HomeError(f"Process {pid} still works in {folder}.")
    console.say(f"nothing runs over {home.root}")
