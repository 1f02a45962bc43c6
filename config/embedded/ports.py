"""The web server's address: is it free, and does the server behind it answer."""

import errno
import os
import socket

from config.embedded.errors import PortError

ANSWER_SECONDS = 2.0
LIVE_PATH = "/health/live"
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - compared only


def check_free(*, host: str, port: int) -> None:
    """Raise PortError with the way out unless a server may listen on the address."""
    try:
        family, kind, protocol, _name, address = _resolve(host=host, port=port)
        with socket.socket(family, kind, protocol) as line:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            line.bind(address)
            line.listen(1)
    except OSError as error:
        raise PortError(_sentence(host=host, port=port, error=error)) from error


def reachable_host(*, host: str) -> str:
    """Return the name under which a browser on this machine reaches the host listened on."""
    return EVERYWHERE.get(host, host)


def base_url(*, host: str, port: int) -> str:
    """Return the address to print: http, with brackets around an IPv6 host."""
    name = reachable_host(host=host)
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def is_live(*, host: str, port: int) -> bool:
    """Say whether the web server answers its liveness page without a fault of its own."""
    request = f"GET {LIVE_PATH} HTTP/1.0\r\nHost: localhost\r\n\r\n"
    address = (reachable_host(host=host), port)
    try:
        with socket.create_connection(address, timeout=ANSWER_SECONDS) as line:
            line.sendall(request.encode())
            status = line.recv(64).split(b" ", 2)
    except OSError:
        return False
    return len(status) > 1 and status[1] < b"500"


def _resolve(*, host: str, port: int) -> tuple[int, int, int, str, tuple[object, ...]]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return found[0]


def _sentence(*, host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} is used by another program; stop it or choose another port, "
            f"for example: CAIRN_PORT={port + 1} make run"
        )
    if error.errno == errno.EACCES:
        return f"This user may not listen on port {port}; choose one above 1023 by CAIRN_PORT."
    reason = error.strerror or os.strerror(error.errno or 0)
    return f"{host} cannot be listened on ({reason}); correct CAIRN_HOST."
