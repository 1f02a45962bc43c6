"""A web process: uvicorn on a socket that others accept from too, ended without losing a request.

It reports once it has answered its own liveness page. Asked to end, it takes no new connection,
closes the sockets of open pages (1012: they come back) and ends calls that only wait. Requests
go on to their answer, each with `Connection: close`. A connection on which nothing happens is kept
for a moment longer: a client that sends its next request while the server closes would see that
request broken, and one that asks again within the moment is told in time.
"""

import asyncio
import os
import socket
import sys
from collections.abc import MutableMapping
from typing import Any, Final

import httpx
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from accounts.api import jobs
from config import asgi, env

KEEP_ALIVE_SECONDS: Final = 75  # uvicorn's 5 s closed connections under busy clients (measured)
IDLE_SECONDS: Final = 3.0  # of idle connections; busy clients ask again sooner
GRACEFUL_SECONDS: Final = 50  # of requests in flight, the longest of which write large imports
HEAD_SECONDS: Final = 15.0  # for the head of a request
SWITCH_SECONDS: Final = 0.0005  # of threads; with 5 ms each answer of the database waits so long
LOOK_SECONDS: Final = 0.05


class PatientProtocol(HttpToolsProtocol):
    """A connection that is closed when the head of a request does not come in time."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a first request."""
        super().connection_made(transport)
        self._await_head()

    def on_message_begin(self) -> None:
        """Begin to wait for the rest of a head, of which something has come."""
        self._await_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Wait no longer: bodies have a time of their own."""
        self._stop_waiting()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()


class WebServer(uvicorn.Server):
    """A server; several of them may share one listening socket."""

    def __init__(
        self, *, report: int | None = None, host: str = "127.0.0.1", port: int = 8000
    ) -> None:
        """Serve the product; `report` is written to once it answers.

        `host` and `port` are listened on where `run` gets no socket.
        """
        settings = uvicorn.Config(
            self.answer,
            host=host,
            port=port,
            interface="asgi3",
            http=PatientProtocol,
            proxy_headers=False,  # addresses that callers name themselves are read by Cairn
            ws="websockets-sansio",
            lifespan="on",
            log_config=None,  # Django's
            log_level="warning",
            access_log=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACEFUL_SECONDS,
        )
        super().__init__(settings)
        self._report = report

    async def answer(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """Answer by the application; while this process ends, ask the client to connect anew."""

        async def send_last(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start" and self.should_exit:
                headers = [*message.get("headers", ()), (b"connection", b"close")]
                message = {**message, "headers": headers}
            await send(message)

        await asgi.application(scope, receive, send_last if scope["type"] == "http" else send)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Take connections, and report."""
        transport = httpx.ASGITransport(app=self.answer)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            (await client.get("/health/live")).raise_for_status()
        await super().startup(sockets)
        if self._report is not None:
            os.write(self._report, b"ready")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End connections, each when that breaks nothing."""
        jobs.stop_waiting()
        for server in self.servers:
            server.close()
        open_connections = self.server_state.connections
        for connection in tuple(open_connections):
            if isinstance(connection, WebSocketsSansIOProtocol):
                connection.shutdown()
        clock = asyncio.get_running_loop().time
        ends_at = clock() + IDLE_SECONDS
        while open_connections and clock() < ends_at:
            await asyncio.sleep(LOOK_SECONDS)
        await super().shutdown(sockets)


def serve(*, listener: int, report: int) -> None:
    """Serve on an open listening socket until SIGTERM."""
    sys.setswitchinterval(SWITCH_SECONDS)
    with socket.socket(fileno=listener) as line:
        WebServer(report=report).run(sockets=[line])


def serve_alone() -> None:
    """Serve on CAIRN_HOST and CAIRN_PORT until SIGTERM, where nobody supervises."""
    sys.setswitchinterval(SWITCH_SECONDS)
    values = env.read()
    WebServer(host=values["CAIRN_HOST"], port=values["CAIRN_PORT"]).run()
