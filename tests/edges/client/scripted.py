"""A server that answers what it was told to: what the client makes of answers that are rare."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from memory.client.api import Client
from memory.client.configuration import Connection

Answer = tuple[int, dict[str, str], object]


@dataclass(slots=True, kw_only=True)
class Script:
    """A server that answers what it was told to, in order, and notes what it was sent."""

    answers: list[Answer]
    url: str = ""
    sent: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)

    def client(self) -> Client:
        """Return a client of it that notes its pauses instead of making them."""
        connection = Connection(url=self.url, token="t-1")
        return Client(connection=connection, pause=self.pauses.append)


Served = Callable[..., Script]


@pytest.fixture
def served() -> Iterator[Served]:
    """Serve scripts until the test ends."""
    servers: list[ThreadingHTTPServer] = []

    def serve(*answers: Answer) -> Script:
        script = Script(answers=list(answers))
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(script))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        script.url = f"http://127.0.0.1:{server.server_port}"
        return script

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def _handler(script: Script) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            script.sent.append((self.path, dict(self.headers)))
            status, headers, body = script.answers.pop(0)
            data = json.dumps(body).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET  # noqa: N815  the name that http.server calls

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler
