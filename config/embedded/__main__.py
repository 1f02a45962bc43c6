"""`python -m config.embedded run|restart|servers|stop-check|restore|manage`: door of the start."""

import argparse
import json
import os
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from config import env
from config.embedded import home as homes
from config.embedded import servers, startup
from config.embedded.home import StartError
from config.embedded.processes import Console, Group, StopRequested
from config.embedded.servers import Durability
from config.embedded.startup import Setup

READ_BYTES = 4096
POLL_SECONDS = 0.1


def main(*, arguments: list[str]) -> int:
    """Run the chosen command; return 0, or 1 after printing why it could not go on."""
    chosen = _parse(arguments)
    is_run = chosen.command == "run"  # else a script reads standard output
    if is_run and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # what cannot be encoded is never fatal
    out = Console(stream=sys.stdout if is_run else sys.stderr)
    try:
        _run(chosen, os.environ, out)
    except StartError as error:
        out.failed(reason=str(error))
        return 1
    except OSError as error:
        if error.errno not in homes.REASONS:
            raise
        root = Path(os.environ.get("CAIRN_HOME") or "var")
        out.failed(reason=f"{homes.unusable(root=root, error=error)} ({error})")
        return 1
    return 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m config.embedded", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("run", help="start everything; settings come from the environment")
    commands.add_parser("restart", help="replace the running programs, refusing nobody meanwhile")
    only = commands.add_parser("servers", help="start database and queue alone")
    only.add_argument("--fast", action="store_true", help="throw-away folder, no fsync")
    restore = commands.add_parser("restore", help="restore a backup into a new data folder")
    restore.add_argument("source", metavar="FROM", help="a backup, or a place: its newest")
    restore.add_argument("--key-file", type=Path, help="file with a passphrase or a key, as text")
    commands.add_parser("stop-check", help="say whether anything of a start still works")
    manage = commands.add_parser("manage", help="run a command of manage.py in the home")
    manage.add_argument("rest", nargs=argparse.REMAINDER, help="the command with its arguments")
    return parser.parse_args(arguments)


def _run(chosen: argparse.Namespace, environment: Mapping[str, str], out: Console) -> None:
    if chosen.command == "run":
        startup.run(environment=environment, console=out)
        return
    setup = startup.read(environment=environment)
    if chosen.command == "stop-check":
        _check_stopped(setup, environment, out)
    elif chosen.command == "restart":
        _restart(setup, out)
    elif chosen.command == "restore":
        from config.embedded import restoration  # noqa: PLC0415 - 20 MB that a supervisor lacks

        restoration.run(
            setup=setup,
            environment=environment,
            console=out,
            source=chosen.source,
            key_file=chosen.key_file,
        )
    elif chosen.command == "manage":
        _manage(setup, environment, tuple(chosen.rest))
    elif chosen.fast:
        folder = Path(tempfile.mkdtemp(prefix="cairn-servers-"))
        try:
            _serve(replace(setup, home=folder), environment, out, Durability.FAST)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    else:
        _serve(setup, environment, out, Durability.SAFE)


def _check_stopped(setup: Setup, environment: Mapping[str, str], out: Console) -> None:
    """Print that nothing runs over the folder; raises StartError naming what does."""
    home = homes.Home(root=setup.home)
    if home.run.exists():
        with homes.held(home=home):
            servers.check_stopped(environment=environment, home=home.root)
    out.say(f"nothing runs over {home.root}")


def _restart(setup: Setup, out: Console) -> None:
    """Have the running group replace its programs; raises StartError when it did not."""
    home = homes.Home(root=setup.home)
    supervisor = homes.holder(home=home)
    if supervisor is None or not home.environment.exists():
        raise StartError(f"Cairn does not run over {setup.home}; start it with: make run")
    before, _ = homes.read_restarts(home=home)
    began = time.monotonic()
    os.kill(supervisor, signal.SIGHUP)
    count, failure = before, ""
    while count == before:
        time.sleep(POLL_SECONDS)
        if homes.holder(home=home) != supervisor:
            raise StartError("Cairn was stopped meanwhile.")
        count, failure = homes.read_restarts(home=home)
    if failure:
        raise StartError(f"Not restarted, what ran before goes on: {failure}")
    out.say(f"restarted in {time.monotonic() - began:.1f} s")


def _manage(setup: Setup, environment: Mapping[str, str], arguments: tuple[str, ...]) -> None:
    """Become `manage.py` with the running group's environment; raises StartError without one."""
    try:
        given = json.loads(homes.Home(root=setup.home).environment.read_text())
    except FileNotFoundError as error:
        fix = "start it with: make run"
        raise StartError(f"Cairn does not run over {setup.home}; {fix}") from error
    command = (sys.executable, str(env.ROOT / "manage.py"), *arguments)
    os.execve(sys.executable, command, {**environment, **given})  # noqa: S606 - no shell needed


def _serve(
    setup: Setup, environment: Mapping[str, str], out: Console, durability: Durability
) -> None:
    """Serve Postgres and Valkey alone, their addresses printed for a shell; raises StartError.

    They run until SIGTERM, Ctrl-C, or the end of standard input, so a script that holds the other
    end of the pipe takes them down with itself.
    """
    home = homes.prepare(root=setup.home)
    with homes.held(home=home):
        group = Group(console=out)

        def stop_at_end_of_input() -> None:
            if not os.read(sys.stdin.fileno(), READ_BYTES):
                group.request_stop()

        group.listen()
        group.watch(descriptor=sys.stdin.fileno(), on_input=stop_at_end_of_input)
        try:
            served = startup.start_servers(
                group=group, setup=setup, environment=environment, durability=durability
            )
            for name, value in (
                ("DATABASE_URL", served.database_url),
                ("REDIS_URL", served.redis_url),
                ("DATABASE_OWNER_URL", served.database_owner_url),
            ):
                print(f"export {name}={shlex.quote(value)}", flush=True)
            group.run_until_stopped()
        except StopRequested:
            out.say("stopping")
        finally:
            group.stop()
            servers.tidy(home=home.root, environment=environment)


if __name__ == "__main__":
    sys.exit(main(arguments=sys.argv[1:]))
