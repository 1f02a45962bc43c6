"""The whole start: hold the folder, servers, steps, programs, credentials, then watch.

A step is a command run to its end before anything serves; every one may be run again, except those
of the first start, whose names are kept in the data folder once they are done.
"""

import errno
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from config import env
from config.embedded import home as homes
from config.embedded import servers
from config.embedded.fleet import Fleet, beat, keep_backups, web, worker
from config.embedded.home import Home, StartError, write_private
from config.embedded.processes import NOTHING, Console, Group, Process, Program, StopRequested
from config.embedded.servers import Durability
from memory.client.install import HARNESSES

SETTINGS_MODULE = "config.settings.production"
OWNERS_ALONE = "DATABASE_OWNER_URL"  # for what makes tables, never for what serves
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - compared only
BACKLOG = 2_048  # connections that wait for a web process; the kernel's own bound is 4,096
MOST_WEB_PROCESSES = 4  # by default; more do not help while one database answers
MANAGE = (sys.executable, str(env.ROOT / "manage.py"))
CREDENTIALS = r'^[{}]$|^ *"(url|email|password|token|organization|project)": '  # shown at the end
FIELDS = ("url", "email", "password", "token", "organization", "project")
DONE_NAME = "steps.json"
WEIGHTS, TABLES, BOOTSTRAP = "weights", "migrate", "bootstrap"
DEMO, DEMO_SESSION, WELCOME = "demo", "session", "welcome"  # done once, kept under these names


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The settings the supervisor itself needs."""

    home: Path
    host: str
    port: int
    base_url: str
    models: Path
    web_processes: int
    workers: int
    job_seconds: int
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
        web_processes=values["CAIRN_WEB_PROCESSES"] or min(cores(), MOST_WEB_PROCESSES),
        workers=values["CAIRN_WORKERS"],
        job_seconds=values["CAIRN_JOB_SECONDS"],
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
    homes.allow_files()
    home = homes.prepare(root=setup.home)
    with homes.held(home=home), reserve(host=setup.host, port=setup.port) as listener:
        group = Group(console=console)
        group.listen()
        console.heading(f"Cairn starts over {home.root}")
        try:
            _start(group, setup, home, environment, listener)
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


def _start(
    group: Group,
    setup: Setup,
    home: Home,
    environment: Mapping[str, str],
    listener: socket.socket,
) -> None:
    """Start everything, print where it is, and look after it. Raises StartError, StopRequested."""
    are_set = all(environment.get(name) for name in ("CAIRN_SECRET_KEY", "CAIRN_TOKEN_PEPPER"))
    secrets = {} if are_set and not home.is_first_start else homes.load_secrets(home=home)
    setup = start_servers(
        group=group, setup=setup, environment=environment, durability=Durability.SAFE
    )
    home.restarts.unlink(missing_ok=True)
    given = given_to_children(setup=setup, secrets=secrets, environment=environment)
    write_private(path=home.environment, text=json.dumps(given))
    completed = {**environment, **given}
    serving = {
        "OPENBLAS_NUM_THREADS": "1",  # its threads wait by computing, while requests want the cores
        **without_owner(environment=completed),
        "PROMETHEUS_MULTIPROC_DIR": str(homes.empty_folder(path=home.run / "metrics")),
    }
    fleet = Fleet(
        group=group,
        environment=serving,
        programs=(
            *(
                web(number=number, listener=listener.fileno(), environment=serving)
                for number in range(1, setup.web_processes + 1)
            ),
            worker(count=setup.workers, job_seconds=setup.job_seconds, environment=serving),
            beat(run_folder=home.run, environment=serving),
        ),
    )
    for path in homes.tighten(home=home):
        group.console.say(f"{path} could be read by others; its mode is 600 now")
    is_known = home.credentials.exists()
    damage = damaged_credentials(home=home)
    if damage:
        group.console.say(f"{damage} Everything else is started.")
    is_later = WELCOME in read_done(home=home)  # what is loaded is there since an earlier start
    load_before = WEIGHTS if is_later else TABLES
    run_steps(
        group=group,
        setup=setup,
        home=home,
        environment=completed,
        callbacks={load_before: fleet.load},
    )
    with group.console.step(f"{setup.web_processes} web processes"):
        listen(listener, setup=setup)
        fleet.start()
    keep_backups(group=group, environment=completed)
    if damage:
        group.console.heading(f"\n  Cairn is ready: {setup.base_url}\n")
    else:
        _greet(group, setup, home, serving, is_known=is_known)
    group.run_until_stopped(
        on_restart=lambda: _restart(group, setup, home, completed, fleet),
    )


def _greet(
    group: Group, setup: Setup, home: Home, environment: Mapping[str, str], *, is_known: bool
) -> None:
    """Say where everything is and how to come in; play the demo once."""
    done = read_done(home=home)
    fields = publish_credentials(home=home, url=setup.base_url)
    _welcome(group.console, home, fields, is_known=is_known and WELCOME in done)
    mark_done(home=home, name=WELCOME)
    if setup.with_demo and DEMO_SESSION not in done:
        _play_demo(group, home, environment)


def _restart(
    group: Group, setup: Setup, home: Home, environment: Mapping[str, str], fleet: Fleet
) -> None:
    """Replace all programs after the steps that are due, and note how it ended."""
    began, failure = time.monotonic(), ""
    try:
        run_steps(group=group, setup=setup, home=home, environment=environment)
        fleet.replace()
        group.console.say(f"restarted in {time.monotonic() - began:.1f} s")
    except (StartError, OSError, ValueError) as error:  # a full disk, no descriptors, a torn file
        failure = str(error)
        group.console.say(f"not restarted, what ran before goes on: {failure}")
    try:
        homes.note_restart(home=home, failure=failure)
    except (StartError, OSError) as error:
        group.console.say(f"how the restart ended cannot be kept: {error}")


def _play_demo(group: Group, home: Home, environment: Mapping[str, str]) -> None:
    """Play the demo's session at the running web server, once."""
    python, manage = MANAGE
    command = (python, "-W", "ignore", manage, "demo", "--play", "--skip-checks")
    played = Program(name=DEMO, command=command, environment=environment, folder=env.ROOT)
    group.add(Process(program=played, console=group.console))
    mark_done(home=home, name=DEMO_SESSION)


def run_steps(
    *,
    group: Group,
    setup: Setup,
    home: Home,
    environment: Mapping[str, str],
    callbacks: Mapping[str, Callable[[], object]] = MappingProxyType({}),
) -> None:
    """Run the steps that are due, each to its end. Raises StartError when one fails.

    `callbacks` are called before the steps of these names.
    """
    is_known = home.credentials.exists()
    left_out = {BOOTSTRAP, DEMO} if damaged_credentials(home=home) else set()
    for title, step in due_steps(
        setup=setup,
        credentials=home.credentials if is_known else home.first_credentials,
        tokens=home.tokens,
        done=read_done(home=home),
        environment=environment,
    ):
        if step.name in left_out:
            continue
        if step.name in callbacks:
            callbacks[step.name]()
        with group.console.step(title):
            code = group.run_to_end(step)
            if code != 0:
                raise StartError(f"{title}: the step failed (code {code}); see its lines above.")
        if step.name == DEMO:
            mark_done(home=home, name=DEMO)


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
    """Return what web, worker and beat are told: everything but how to become the owner.

    Nor the port of a worker's own metrics: web processes answer for it, and a replaced worker
    would still have the port when the next one comes up.
    """
    left_out = {OWNERS_ALONE, "CAIRN_METRICS_PORT"}
    return {name: value for name, value in environment.items() if name not in left_out}


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
        (WEIGHTS, "model weights", (python, "-m", "memory.providers.weights", *models)),
        ("rules", "rules about secrets", (python, "-m", "memory.secrets.scanner", *models)),
        ("words", "translations", (python, "-m", "config.translations", "compile")),
        (TABLES, "tables", (*MANAGE, "migrate", "-v", "0", "--skip-checks")),
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
    try:
        return frozenset(json.loads(path.read_text())) if path.exists() else frozenset()
    except (ValueError, TypeError) as error:
        raise StartError(
            f"{path} is damaged; delete it and start again: the demo is then loaded again."
        ) from error


def mark_done(*, home: Home, name: str) -> None:
    """Keep that something is done that is done once."""
    names = sorted({*read_done(home=home), name})
    write_private(path=home.run / DONE_NAME, text=json.dumps(names))


def read_credentials(*, path: Path) -> dict[str, str]:
    """Return the owner's way in, without the address. Raises StartError for a damaged file."""
    try:
        stored = json.loads(path.read_text())
        return {name: str(stored[name]) for name in FIELDS if name != "url"}
    except (FileNotFoundError, ValueError, KeyError, TypeError) as error:
        raise StartError(
            f"{path} is missing or damaged; delete it and start again: "
            f"the owner then gets a new password and token."
        ) from error


def damaged_credentials(*, home: Home) -> str:
    """Say what is wrong with the owner's file, and the way out; empty where nothing is."""
    if not home.credentials.exists():
        return ""
    try:
        read_credentials(path=home.credentials)
    except StartError as error:
        return str(error)
    return ""


def publish_credentials(*, home: Home, url: str) -> dict[str, str]:
    """Write the present address into the credentials file and return its fields.

    The file means that the web server answers, so at the first start it comes only then.

    Raises StartError when the owner's step left no usable file.
    """
    is_known = home.credentials.exists()
    fields = read_credentials(path=home.credentials if is_known else home.first_credentials)
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


def cores() -> int:
    """Return the processor cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def reserve(*, host: str, port: int) -> socket.socket:
    """Take the address without listening yet. Raises StartError with the way out."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _name, address = found[0]
        line = socket.socket(family, kind, protocol)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        line.bind(address)
    except OSError as error:
        raise _refused(error, host, port) from error
    return line


def listen(line: socket.socket, *, setup: Setup) -> None:
    """Take connections, which wait for a web process. Raises StartError with the way out."""
    try:
        line.listen(BACKLOG)
    except OSError as error:  # another program took the address and listened meanwhile
        raise _refused(error, setup.host, setup.port) from error


def _refused(error: OSError, host: str, port: int) -> StartError:
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
    return StartError(reasons.get(error.errno or 0, other))


def base_url(*, host: str, port: int) -> str:
    """Return the address to print: http, with brackets around an IPv6 host."""
    name = EVERYWHERE.get(host, host)
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
