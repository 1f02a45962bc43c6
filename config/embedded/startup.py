"""The whole start: hold the folder, servers, steps, programs, credentials, then watch.

A step is a command run to its end before anything serves; every one may be run again, except those
of the first start, whose names are kept in the data folder once they are done.
"""

import json
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from config import env
from config.embedded import home as homes
from config.embedded import servers
from config.embedded import setup as setups
from config.embedded.console import Console, StartError
from config.embedded.home import Home, write_private
from config.embedded.postgres import Durability
from config.embedded.processes import (
    NOTHING,
    Group,
    Halt,
    Process,
    Program,
    StopRequested,
)
from config.embedded.setup import Setup

GRACEFUL_WEB_SECONDS = 7  # requests in flight; then sockets are closed with 1012
KEEP_ALIVE_SECONDS = 75  # uvicorn's 5 s closed connections under busy clients (measured)
WEB_HALTS = (Halt(signal=signal.SIGTERM, seconds=9),)
WORKER_HALTS = (Halt(signal=signal.SIGTERM, seconds=5), Halt(signal=signal.SIGQUIT, seconds=3))
BEAT_HALTS = (Halt(signal=signal.SIGTERM, seconds=3),)
CELERY = ("-m", "celery", "-q", "-A", "config")
SERVER = (  # addresses that callers name themselves are read by Cairn, with CAIRN_TRUSTED_PROXIES
    *("-m", "uvicorn", "config.asgi:application", "--no-proxy-headers"),
    *("--ws", "websockets-sansio", "--lifespan", "on", "--log-level", "warning"),
)
ROOT_WARNING = "ignore:You're running the worker with superuser"  # containers do so by design
MANAGE = (sys.executable, str(env.ROOT / "manage.py"))
CREDENTIALS = r'^[{}]$|^ *"(url|email|password|token|organization|project)": '  # shown at the end
FIELDS = ("url", "email", "password", "token", "organization", "project")
DONE_NAME = "steps.json"
BOOTSTRAP = "bootstrap"
DEMO, DEMO_SESSION, WELCOME = "demo", "session", "welcome"  # done once, kept under these names

Environment = tuple[tuple[str, str], ...]


def run(*, environment: Mapping[str, str], console: Console) -> None:
    """Start everything over the data folder and look after it until asked to stop.

    Raises StartError with one sentence when the start cannot go on; by then all is stopped.
    """
    setup = setups.read(environment=environment)
    home = homes.prepare(root=setup.home)
    with homes.held(home=home):
        setups.check_free(host=setup.host, port=setup.port)
        group = Group(console=console)
        group.listen()
        console.heading(f"Cairn starts over {home.root}")
        try:
            _start(group, setup, home, environment)
            group.run_until_stopped()
        except StopRequested:
            console.say("stopping; once more Ctrl-C ends everything at once")
        finally:
            began = time.monotonic()
            group.stop()
            console.say(f"stopped in {time.monotonic() - began:.1f} s")
            home.environment.unlink(missing_ok=True)  # nothing runs any more
            servers.tidy(home=home.root, environment=environment)


def _start(group: Group, setup: Setup, home: Home, environment: Mapping[str, str]) -> None:
    secrets = homes.load_secrets(home=home)
    setup = servers.start_servers(
        group=group, setup=setup, environment=environment, durability=Durability.SAFE
    )
    given = setups.given_to_children(setup=setup, secrets=secrets, environment=environment)
    write_private(path=home.environment, text=json.dumps(given))
    completed = {**environment, **given}
    without_owner = tuple(setups.without_owner(environment=completed).items())
    done = read_done(home=home)
    has_credentials = home.credentials.exists()
    for title, step in due_steps(
        setup=setup,
        credentials=home.credentials,
        has_credentials=has_credentials,
        done=done,
        environment=tuple(completed.items()),
    ):
        with group.console.step(title):
            code = group.run_to_end(step)
            if code != 0:
                raise StartError(f"{title}: the step failed (code {code}); see its lines above.")
        if step.name == DEMO:
            mark_done(home=home, name=DEMO)
    with group.console.step("web server"):
        serving = group.keep_running(
            web(setup=setup, environment=without_owner),
            is_ready=lambda: setups.is_live(host=setup.host, port=setup.port),
        )
        group.await_ready(serving)
    group.keep_running(worker(setup=setup, environment=without_owner))
    group.keep_running(beat(run_folder=home.run, environment=without_owner))
    fields = publish_credentials(home=home, url=setup.base_url)
    _welcome(group.console, home, fields, is_known=has_credentials and WELCOME in done)
    mark_done(home=home, name=WELCOME)
    if setup.with_demo and DEMO_SESSION not in done:  # played once at the running web server
        python, manage = MANAGE
        command = (python, "-W", "ignore", manage, "demo", "--play", "--skip-checks")
        played = Program(name=DEMO, command=command, environment=without_owner, folder=env.ROOT)
        group.add(Process(program=played, console=group.console))
        mark_done(home=home, name=DEMO_SESSION)


def due_steps(
    *,
    setup: Setup,
    credentials: Path,
    has_credentials: bool,
    done: frozenset[str],
    environment: Environment,
) -> tuple[tuple[str, Program], ...]:
    """Return the steps of a start in their order, each with its title.

    `done` are the names of those done for good.
    """
    python, models = sys.executable, ("--into", str(setup.models))
    bootstrap = (*MANAGE, "bootstrap", "--skip-checks", "--credentials", str(credentials))
    steps = [
        ("weights", "model weights", (python, "-m", "memory.providers.weights", *models)),
        ("rules", "rules about secrets", (python, "-m", "memory.secrets.scanner", *models)),
        ("words", "translations", (python, "-m", "config.translations", "compile")),
        ("migrate", "tables", (*MANAGE, "migrate", "-v", "0", "--skip-checks")),
    ]
    if not has_credentials:
        steps.append((BOOTSTRAP, "owner account", bootstrap))
    if setup.with_demo and DEMO not in done:
        steps.append((DEMO, "demo data", (*MANAGE, "demo", "--skip-checks")))
    return tuple(
        (
            title,
            Program(
                name=name,
                command=command,
                environment=environment,
                folder=env.ROOT,
                noise=CREDENTIALS if name == BOOTSTRAP else NOTHING,
            ),
        )
        for name, title, command in steps
    )


def read_done(*, home: Home) -> frozenset[str]:
    """Return the names of what is done once and has been."""
    path = home.run / DONE_NAME
    return frozenset(json.loads(path.read_text())) if path.exists() else frozenset()


def mark_done(*, home: Home, name: str) -> None:
    """Keep that something is done that is done once."""
    names = sorted({*read_done(home=home), name})
    write_private(path=home.run / DONE_NAME, text=json.dumps(names))


def publish_credentials(*, home: Home, url: str) -> dict[str, str]:
    """Write the present address into the credentials file and return its fields.

    Raises StartError when the owner's step left no usable file.
    """
    try:
        stored = json.loads(home.credentials.read_text())
        fields = {name: str(stored[name]) for name in FIELDS if name != "url"}
    except (FileNotFoundError, ValueError, KeyError, TypeError) as error:
        raise StartError(
            f"{home.credentials} is missing or damaged; delete it and start again: "
            f"the owner then gets a new password and token."
        ) from error
    complete = {"url": url, **fields}
    write_private(path=home.credentials, text=json.dumps(complete, indent=2) + "\n")
    return complete


def _welcome(console: Console, home: Home, fields: Mapping[str, str], *, is_known: bool) -> None:
    """Print the address, and the credentials as long as they have not been shown."""
    if is_known:
        console.heading(f"\n  Cairn is ready: {fields['url']}")
        console.heading(f"  Credentials: {home.credentials}. Ctrl-C stops everything.\n")
        return
    console.heading(f"\n  Cairn is ready: {fields['url']}\n")
    for label, name in (("e-mail", "email"), ("password", "password"), ("token", "token")):
        console.heading(f"    {label:<9} {fields[name]}")
    console.heading(f"\n  Shown once; also kept in {home.credentials}. Ctrl-C stops everything.\n")


def web(*, setup: Setup, environment: Environment) -> Program:
    """Describe the web server: pages, API, sockets and MCP in one process."""
    return Program(
        name="web",
        command=(
            *(sys.executable, *SERVER),
            *("--host", setup.host, "--port", str(setup.port)),
            *("--timeout-keep-alive", str(KEEP_ALIVE_SECONDS)),
            *("--timeout-graceful-shutdown", str(GRACEFUL_WEB_SECONDS)),
        ),
        environment=environment,
        folder=env.ROOT,
        halts=WEB_HALTS,
    )


def worker(*, setup: Setup, environment: Environment) -> Program:
    """Describe the worker, which does the jobs kept in Postgres."""
    return Program(
        name="worker",
        command=(
            *(sys.executable, "-W", ROOT_WARNING, *CELERY, "worker"),
            *("-P", "prefork", "-c", str(setup.workers), "-l", "WARNING"),
            *("--without-gossip", "--without-mingle"),
        ),
        environment=environment,
        folder=env.ROOT,
        halts=WORKER_HALTS,
    )


def beat(*, run_folder: Path, environment: Environment) -> Program:
    """Describe the clock that wakes the recurring jobs."""
    return Program(
        name="beat",
        command=(
            *(sys.executable, *CELERY, "beat"),
            *("-s", str(run_folder / "beat"), "--pidfile=", "-l", "WARNING"),
        ),
        environment=environment,
        folder=env.ROOT,
        halts=BEAT_HALTS,
    )
