"""The whole start: hold the folder, servers, steps, programs, credentials, then watch.

A step is a command run to its end before anything serves; every one may be run again, except those
of the first start, whose names are kept in the data folder once they are done.
"""

import errno
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from config import env
from config.embedded import home as homes
from config.embedded import servers
from config.embedded.home import Home, StartError, write_private
from config.embedded.processes import NOTHING, Console, Group, Process, Program, StopRequested
from config.embedded.servers import Durability
from memory.client.install import HARNESSES

SETTINGS_MODULE = "config.settings.production"
OWNERS_ALONE = "DATABASE_OWNER_URL"  # for what makes tables, never for what serves
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - compared only
ANSWER_SECONDS = 2.0
GRACEFUL_WEB_SECONDS = 7  # requests in flight; then sockets are closed with 1012
KEEP_ALIVE_SECONDS = 75  # uvicorn's 5 s closed connections under busy clients (measured)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The settings the supervisor itself needs."""

    home: Path
    host: str
    port: int
    base_url: str
    models: Path
    workers: int
    with_demo: bool
    database_url: str
    redis_url: str
    database_owner_url: str = ""


def read(*, environment: Mapping[str, str]) -> Setup:
    """Read and check the environment; raises env.WrongEnvironment naming a wrong variable."""
    values = env.read(environment)
    home = values["CAIRN_HOME"].absolute()
    host, port = values["CAIRN_HOST"], values["CAIRN_PORT"]
    own_url = environment.get("CAIRN_BASE_URL") or base_url(host=host, port=port)
    return Setup(
        home=home,
        host=host,
        port=port,
        base_url=own_url.rstrip("/"),
        models=values["CAIRN_MODELS"] if environment.get("CAIRN_MODELS") else home / "models",
        workers=values["CAIRN_WORKERS"],
        with_demo=values["CAIRN_DEMO"],
        database_url=values["DATABASE_URL"],
        redis_url=values["REDIS_URL"],
        database_owner_url=values["DATABASE_OWNER_URL"],
    )


def run(*, environment: Mapping[str, str], console: Console) -> None:
    """Start everything over the data folder and look after it until asked to stop.

    Raises StartError with one sentence when the start cannot go on; by then all is stopped.
    """
    setup = read(environment=environment)
    home = homes.prepare(root=setup.home)
    with homes.held(home=home):
        check_free(host=setup.host, port=setup.port)
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


def start_servers(
    *, group: Group, setup: Setup, environment: Mapping[str, str], durability: Durability
) -> Setup:
    """Start what is not given and await it; return the setup with both addresses.

    Raises StartError when a server cannot be started.
    """

    def await_server(program: Program, is_ready: Callable[[], bool]) -> None:
        group.await_ready(group.keep_running(program, is_ready=is_ready))

    if not setup.database_url:
        with group.console.step("database server"):
            cluster = servers.prepare_postgres(
                home=setup.home, environment=environment, durability=durability
            )
            await_server(cluster.program(environment=environment), cluster.is_ready)
            cluster.create_database()
        setup = replace(setup, database_url=cluster.url, database_owner_url=cluster.owner_url)
    if not setup.redis_url:
        with group.console.step("queue server"):
            store = servers.prepare_store(home=setup.home, environment=environment)
            await_server(store.program(environment=environment), store.is_ready)
        setup = replace(setup, redis_url=store.url)
    return setup


def _start(group: Group, setup: Setup, home: Home, environment: Mapping[str, str]) -> None:
    secrets = homes.load_secrets(home=home)
    setup = start_servers(
        group=group, setup=setup, environment=environment, durability=Durability.SAFE
    )
    given = given_to_children(setup=setup, secrets=secrets, environment=environment)
    write_private(path=home.environment, text=json.dumps(given))
    completed = {**environment, **given}
    serving = {
        **without_owner(environment=completed),
        "PROMETHEUS_MULTIPROC_DIR": str(homes.empty_folder(path=home.run / "metrics")),
    }
    done = read_done(home=home)
    for path in homes.tighten(home=home):
        group.console.say(f"{path} could be read by others; its mode is 600 now")
    is_known = home.credentials.exists()
    for title, step in due_steps(
        setup=setup,
        credentials=home.credentials if is_known else home.first_credentials,
        tokens=home.tokens,
        done=done,
        environment=completed,
    ):
        with group.console.step(title):
            code = group.run_to_end(step)
            if code != 0:
                raise StartError(f"{title}: the step failed (code {code}); see its lines above.")
        if step.name == DEMO:
            mark_done(home=home, name=DEMO)
    with group.console.step("web server"):
        server = group.keep_running(
            web(setup=setup, environment=serving),
            is_ready=lambda: is_live(host=setup.host, port=setup.port),
        )
        group.await_ready(server)
    group.keep_running(worker(setup=setup, environment=serving))
    group.keep_running(beat(run_folder=home.run, environment=serving))
    fields = publish_credentials(home=home, url=setup.base_url)
    _welcome(group.console, home, fields, is_known=is_known and WELCOME in done)
    mark_done(home=home, name=WELCOME)
    if setup.with_demo and DEMO_SESSION not in done:  # played once at the running web server
        python, manage = MANAGE
        command = (python, "-W", "ignore", manage, "demo", "--play", "--skip-checks")
        played = Program(name=DEMO, command=command, environment=serving, folder=env.ROOT)
        group.add(Process(program=played, console=group.console))
        mark_done(home=home, name=DEMO_SESSION)


def given_to_children(
    *, setup: Setup, secrets: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, str]:
    """Return what the steps are told beyond the caller's environment."""
    return {
        "DJANGO_SETTINGS_MODULE": SETTINGS_MODULE,
        "DATABASE_URL": setup.database_url,
        OWNERS_ALONE: setup.database_owner_url,
        "REDIS_URL": setup.redis_url,
        "CAIRN_HOME": str(setup.home),
        "CAIRN_PORT": str(setup.port),
        "CAIRN_HOST": setup.host,
        "CAIRN_BASE_URL": setup.base_url,
        "CAIRN_MODELS": str(setup.models),
        "CAIRN_SECRET_KEY": environment.get("CAIRN_SECRET_KEY") or secrets["secret_key"],
        "CAIRN_TOKEN_PEPPER": environment.get("CAIRN_TOKEN_PEPPER") or secrets["token_pepper"],
        "PYTHONUNBUFFERED": "1",
    }


def without_owner(*, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what web, worker and beat are told: everything but how to become the owner."""
    return {name: value for name, value in environment.items() if name != OWNERS_ALONE}


def due_steps(
    *,
    setup: Setup,
    credentials: Path,
    tokens: Path,
    done: frozenset[str],
    environment: Mapping[str, str],
) -> tuple[tuple[str, Program], ...]:
    """Return the steps of a start in their order, each with its title.

    `done` are the names of those done for good.
    """
    python, models = sys.executable, ("--into", str(setup.models))
    named = ("--skip-checks", "--credentials", str(credentials))
    bootstrap = (*MANAGE, "bootstrap", *named, "--tokens", str(tokens))
    has_tokens = all((tokens / name).exists() for name in HARNESSES)
    steps = [
        ("weights", "model weights", (python, "-m", "memory.providers.weights", *models)),
        ("rules", "rules about secrets", (python, "-m", "memory.secrets.scanner", *models)),
        ("words", "translations", (python, "-m", "config.translations", "compile")),
        ("migrate", "tables", (*MANAGE, "migrate", "-v", "0", "--skip-checks")),
    ]
    if not (credentials.exists() and has_tokens):
        steps.append((BOOTSTRAP, "owner account", bootstrap))
    if setup.with_demo and DEMO not in done:
        steps.append((DEMO, "demo data", (*MANAGE, "demo", *named)))
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

    The file means that the web server answers, so at the first start it comes only then.

    Raises StartError when the owner's step left no usable file.
    """
    try:
        is_known = home.credentials.exists()
        stored = json.loads((home.credentials if is_known else home.first_credentials).read_text())
        fields = {name: str(stored[name]) for name in FIELDS if name != "url"}
    except (FileNotFoundError, ValueError, KeyError, TypeError) as error:
        raise StartError(
            f"{home.credentials} is missing or damaged; delete it and start again: "
            f"the owner then gets a new password and token."
        ) from error
    complete = {"url": url, **fields}
    write_private(path=home.credentials, text=json.dumps(complete, indent=2) + "\n")
    home.first_credentials.unlink(missing_ok=True)
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
    console.heading(f"\n  Shown once; also kept in {home.credentials}. Agents use the tokens in")
    console.heading(f"  {home.tokens}, which read and write. Ctrl-C stops everything.\n")


def web(*, setup: Setup, environment: Mapping[str, str]) -> Program:
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
        halts=((signal.SIGTERM, 9),),
    )


def worker(*, setup: Setup, environment: Mapping[str, str]) -> Program:
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
        halts=((signal.SIGTERM, 5), (signal.SIGQUIT, 3)),
    )


def beat(*, run_folder: Path, environment: Mapping[str, str]) -> Program:
    """Describe the clock that wakes the recurring jobs."""
    return Program(
        name="beat",
        command=(
            *(sys.executable, *CELERY, "beat"),
            *("-s", str(run_folder / "beat"), "--pidfile=", "-l", "WARNING"),
        ),
        environment=environment,
        folder=env.ROOT,
        halts=((signal.SIGTERM, 3),),
    )


def check_free(*, host: str, port: int) -> None:
    """Raise StartError with the way out unless a server may listen on the address."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _name, address = found[0]
        with socket.socket(family, kind, protocol) as line:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            line.bind(address)
            line.listen(1)
    except OSError as error:
        reasons = {
            errno.EADDRINUSE: (
                f"Port {port} is used by another program; stop it or choose another port, "
                f"for example: CAIRN_PORT={port + 1} make run"
            ),
            errno.EACCES: (
                f"This user may not listen on port {port}; choose one above 1023 by CAIRN_PORT."
            ),
        }
        reason = error.strerror or os.strerror(error.errno or 0)
        other = f"{host} cannot be listened on ({reason}); correct CAIRN_HOST."
        raise StartError(reasons.get(error.errno or 0, other)) from error


def base_url(*, host: str, port: int) -> str:
    """Return the address to print: http, with brackets around an IPv6 host."""
    name = EVERYWHERE.get(host, host)
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def is_live(*, host: str, port: int) -> bool:
    """Say whether the web server answers its liveness page without a fault of its own."""
    request = b"GET /health/live HTTP/1.0\r\nHost: localhost\r\n\r\n"
    address = (EVERYWHERE.get(host, host), port)
    try:
        with socket.create_connection(address, timeout=ANSWER_SECONDS) as line:
            line.sendall(request)
            status = line.recv(64).split(b" ", 2)
    except OSError:
        return False
    return len(status) > 1 and status[1] < b"500"
