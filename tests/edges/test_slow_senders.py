"""Who sends a request too slowly is refused, and holds no connection."""

import os
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from accounts.api import jobs
from config import asgi
from config.embedded import web
from tests.support.live import Place
from tests.support.served import address, place

__all__ = ["address", "place"]

pytestmark = pytest.mark.django_db
ANSWER_S = 20  # far more than is allowed in here
ALLOWED_S = 0.2


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow little time, so that no test waits long."""
    monkeypatch.setattr(asgi, "BODY_S", ALLOWED_S)
    monkeypatch.setattr(web, "HEAD_SECONDS", ALLOWED_S)


@pytest.fixture
def web_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """The address of a web process's server, here in a thread; its end ends no other waiting."""
    monkeypatch.setattr(jobs, "_is_ending", threading.Event())
    reading, writing = os.pipe()
    with socket.create_server(("127.0.0.1", 0)) as line:
        server = web.WebServer(report=writing)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [line]})
        thread.start()
        assert os.read(reading, 16) == b"ready"
        yield line.getsockname()
        server.should_exit = True
        thread.join(ANSWER_S)
    os.close(reading)
    os.close(writing)


def until_closed(line: socket.socket) -> bytes:
    """Return what comes until the server closes the line."""
    line.settimeout(ANSWER_S)
    return b"".join(iter(lambda: line.recv(65_536), b""))


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("path", ["/api/v1/search", "/mcp"])
def test_a_body_that_does_not_come_is_refused_and_the_line_closed(
    address: str, place: Place, path: str
) -> None:
    where = urlsplit(address)
    with socket.create_connection((str(where.hostname), int(where.port or 0))) as line:
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {where.netloc}\r\n"
            f"Authorization: Bearer {place.token}\r\n"
            'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"que'
        )
        line.sendall(head.encode())
        answer = until_closed(line)

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in answer.lower()


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    "sent", [b"", b"GET /health/live HTTP/1.1\r\nHost: "], ids=["none", "half"]
)
def test_a_head_that_does_not_come_closes_the_line(
    web_server: tuple[str, int], sent: bytes
) -> None:
    with socket.create_connection(web_server) as line:
        line.sendall(sent)

        assert until_closed(line) == b""


def test_a_whole_head_is_answered_and_the_line_kept(web_server: tuple[str, int]) -> None:
    ask = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.create_connection(web_server) as line:
        line.settimeout(ANSWER_S)
        for _ in range(2):
            line.sendall(ask)
            assert line.recv(65_536).startswith(b"HTTP/1.1 200 ")
