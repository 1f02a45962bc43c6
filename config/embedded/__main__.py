"""`python -m config.embedded run|servers|stop-check|manage`: the door of the start."""

import argparse
import os
import sys
from pathlib import Path

from config.embedded import console, home, inside, only_servers, run, stop_check
from config.embedded.console import Console
from config.embedded.errors import StartError


def main(*, arguments: list[str]) -> int:
    """Run the chosen command; return 0, or 1 after printing why it could not go on."""
    chosen = _parse(arguments)
    out = console.standard() if chosen.command == "run" else console.on_errors()
    try:
        _run(chosen, out)
    except StartError as error:
        out.failed(sentence=str(error))
        return 1
    except OSError as error:
        if error.errno not in home.REASONS:
            raise
        root = Path(os.environ.get("CAIRN_HOME") or "var")
        out.failed(sentence=f"{home.unusable(root=root, error=error)} ({error})")
        return 1
    return 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m config.embedded", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("run", help="start everything; settings come from the environment")
    servers = commands.add_parser("servers", help="start database and queue alone")
    servers.add_argument("--fast", action="store_true", help="throw-away folder, no fsync")
    commands.add_parser("stop-check", help="say whether anything of a start still works")
    manage = commands.add_parser("manage", help="run a command of manage.py in the home")
    manage.add_argument("rest", nargs=argparse.REMAINDER, help="the command with its arguments")
    return parser.parse_args(arguments)


def _run(chosen: argparse.Namespace, out: Console) -> None:
    if chosen.command == "run":
        run.run(environment=os.environ, console=out)
    elif chosen.command == "stop-check":
        stop_check.check(environment=os.environ, console=out)
    elif chosen.command == "manage":
        inside.manage(environment=os.environ, arguments=tuple(chosen.rest))
    elif chosen.fast:
        only_servers.serve_fast(environment=os.environ, console=out)
    else:
        only_servers.serve_lasting(environment=os.environ, console=out)


if __name__ == "__main__":
    sys.exit(main(arguments=sys.argv[1:]))
