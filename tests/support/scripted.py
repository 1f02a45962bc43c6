"""A server that answers what it was told to: what callers make of answers that are rare."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from memory.client.api import Client
from memory.client.configuration import Connection

Answer = tuple[int, dict[str, str], object]  # status, headers, and a text or what becomes JSON


@dataclass(slots=True, kw_only=True)
class Script:
    """A server on the loopback interface, its answers in order, and what it was sent.

    Its last answer is repeated. A slow one says nothing until it is closed.
    """

    answers: list[Answer]
    is_cut_off: bool = False
    is_slow: bool = False
    url: str = ""
    sent: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def client(self) -> Client:
        """Return a client of it that notes its pauses instead of making them."""
        connection = Connection(url=self.url, token="t-1")
        return Client(connection=connection, pause=self.pauses.append)


Served = Callable[..., Script]


@contextmanager
def serving(*answers: Answer, is_cut_off: bool = False, is_slow: bool = False) -> Iterator[Script]:
    """Serve on a free port until the block ends."""
    script = Script(answers=list(answers), is_cut_off=is_cut_off, is_slow=is_slow)
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(script)) as server:
        script.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield script
        script.closing.set()
        server.shutdown()


@pytest.fixture
def served() -> Iterator[Served]:
    """Serve scripts until the test ends."""
    with ExitStack() as running:
        yield lambda *answers: running.enter_context(serving(*answers))


def _handler(script: Script) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            script.bodies.append(self.rfile.read(size).decode())
            script.sent.append((self.path, dict(self.headers)))
            if script.is_slow:
                script.closing.wait(20)
                return
            more = len(script.answers) > 1
            status, headers, body = script.answers.pop(0) if more else script.answers[0]
            data = (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data[:20] if script.is_cut_off else data)

        do_POST = do_GET  # noqa: N815  the name that http.server calls

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler
