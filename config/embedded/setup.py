"""What one start is made of, read from the environment, and the address of its web server."""

import errno
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from config import env
from config.embedded.console import StartError
from config.embedded.home import Secrets

ANSWER_SECONDS = 2.0
LIVE_PATH = "/health/live"
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - compared only


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
    request = f"GET {LIVE_PATH} HTTP/1.0\r\nHost: localhost\r\n\r\n"
    address = (EVERYWHERE.get(host, host), port)
    try:
        with socket.create_connection(address, timeout=ANSWER_SECONDS) as line:
            line.sendall(request.encode())
            status = line.recv(64).split(b" ", 2)
    except OSError:
        return False
    return len(status) > 1 and status[1] < b"500"


SETTINGS_MODULE = "config.settings.production"
OWNERS_ALONE = "DATABASE_OWNER_URL"  # for what makes tables, never for what serves


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


def given_to_children(
    *, setup: Setup, secrets: Secrets, environment: Mapping[str, str]
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
        "CAIRN_SECRET_KEY": environment.get("CAIRN_SECRET_KEY") or secrets.secret_key,
        "CAIRN_TOKEN_PEPPER": environment.get("CAIRN_TOKEN_PEPPER") or secrets.token_pepper,
        "PYTHONUNBUFFERED": "1",
    }


def without_owner(*, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what web, worker and beat are told: everything but how to become the owner."""
    return {name: value for name, value in environment.items() if name != OWNERS_ALONE}
