"""Two web processes under the product's supervisor, over the environment it is given.

SIGHUP replaces them, SIGTERM ends everything. It says on its standard output when it is done.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

from config.embedded import fleet, startup
from config.embedded.processes import Console, Group, StopRequested

PROCESSES = 2
RESTARTED = "all web processes were replaced"


def main() -> None:
    """Serve on CAIRN_PORT until told to end."""
    setup = startup.read(environment=os.environ)
    group = Group(console=Console(stream=sys.stdout))
    group.listen()
    with startup.reserve(host=setup.host, port=setup.port) as listener:
        startup.listen(listener, setup=setup)
        served = fleet.Fleet(
            group=group,
            environment=os.environ,
            programs=tuple(
                fleet.web(number=number, listener=listener.fileno(), environment=os.environ)
                for number in range(1, PROCESSES + 1)
            ),
        )

        def restart() -> None:
            served.replace()
            group.console.say(RESTARTED)

        try:
            served.load()
            served.start()
            group.run_until_stopped(on_restart=restart)
        except StopRequested:
            group.stop()


def process_ids(*, supervisor: int) -> set[int]:
    """Return the web processes that a supervisor has now; old and new ones have one name."""
    text = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text()
    found = set()
    for child in text.split():
        with suppress(FileNotFoundError, ProcessLookupError):  # it may end before it is looked at
            if Path(f"/proc/{child}/comm").read_text().startswith("cairn web"):
                found.add(int(child))
    return found


if __name__ == "__main__":
    main()
