"""How Django serves a request under ASGI: all of it in one thread of a kept group.

Every view is synchronous. Django's own handler changes threads for each layer of middleware, and
for the signals before and after; it makes a new thread, and with it a new connection object and a
new cache client, for each request. This one changes threads once, into one that is kept, and the
request is over in there, signals included: its database connection is back in the pool whether or
not the client is still listening. Tried and dropped: a synchronous innermost middleware, which
loses the connection of a request whose client hangs up (the pool of 8 was empty after six of them).
Bodies beyond what any call takes are let go by, so that nobody fills the disk with one. A request
whose body is there waits for its turn (`config.admission`). Files are sent piece by piece; Django
would read one of a synchronous view into memory first.
"""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from tempfile import SpooledTemporaryFile
from typing import Any, Final

import django
from asgiref.sync import sync_to_async
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.db import close_old_connections
from django.http import FileResponse
from django.urls import set_script_prefix
from starlette.datastructures import Headers

from accounts.errors import CairnError

THREADS: Final = 32  # requests at once; the connections of the pool are what they wait for
KEPT_IN_MEMORY: Final = 1_048_576  # bytes of a body; more goes to a temporary file
LARGEST_KEPT: Final = 64 * 1_048_576  # bytes; above the largest upload with the form around it
UNAUTHENTICATED: Final = 401


class OneThreadHandler(ASGIHandler):
    """Django's handler with the synchronous chain of middleware, in kept threads."""

    def __init__(self) -> None:
        """Build the chain; threads start when they are needed. The apps are loaded."""
        from config.admission import gate  # noqa: PLC0415 - it and the next need them
        from config.rest.requests import refuse  # noqa: PLC0415

        super().__init__()
        self._gate, self._refuse = gate, refuse
        self._threads = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="request")

    def load_middleware(self, is_async: bool = False) -> None:
        """Build the chain for one thread, whatever is asked for."""
        super().load_middleware(is_async=False)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        began = time.perf_counter()
        set_script_prefix(get_script_prefix(scope))
        try:
            async with self._gate.turn(scope):
                response = await self._in_thread(self._serve)(scope, body)
                if response.status_code == UNAUTHENTICATED:
                    self._gate.forget()
        except CairnError as error:
            body.close()
            headers = Headers(raw=scope["headers"])
            response = self._refuse(
                error=error, headers=headers, method=scope["method"], began=began
            )
        if not response.streaming:
            await self.send_response(response, send)
            return
        gone = asyncio.ensure_future(_until_gone(receive))
        try:
            response.streaming_content = self._pieces(response.streaming_content, gone)
            await self.send_response(response, send)
        finally:
            gone.cancel()
            await self._in_thread(response.close)()

    async def _pieces(self, content: Iterator[bytes], gone: asyncio.Future[None]) -> Any:
        """Yield a file piece by piece, each read in a thread, while somebody listens."""
        following = self._in_thread(lambda: next(content, None))
        while not gone.done() and (piece := await following()) is not None:
            yield piece

    async def read_body(self, receive: Any) -> Any:
        """Return the body as a file, cut where it is larger than any call takes.

        Raises RequestAborted when the client has gone.
        """
        body = SpooledTemporaryFile(max_size=KEPT_IN_MEMORY, mode="w+b")  # noqa: SIM115
        room, more = LARGEST_KEPT, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                body.close()
                raise RequestAborted
            part = message.get("body", b"")[:room]
            body.write(part)
            room -= len(part)
            more = message.get("more_body", False)
        body.seek(0)
        return body

    def _serve(self, scope: Any, body: Any) -> Any:
        """Run a request from first signal to last; only a stream is closed by the caller."""
        signals.request_started.send(sender=self.__class__, scope=scope)
        with body:
            request, refused = self.create_request(scope, body)
            response: Any = refused if request is None else self.get_response(request)
            response._handler_class = self.__class__
            if isinstance(response, FileResponse):
                response.block_size = self.chunk_size
            if response.streaming:
                close_old_connections()  # of this thread; the file is sent without one
            else:
                response.close()
        return response

    def _in_thread(self, work: Any) -> Any:
        return sync_to_async(work, thread_sensitive=False, executor=self._threads)


async def _until_gone(receive: Any) -> None:
    """Return when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        continue


def application() -> OneThreadHandler:
    """Return Django's part of the ASGI application, with its apps loaded."""
    django.setup(set_prefix=False)
    return OneThreadHandler()
