"""How Django serves a request under ASGI: all layers and the view in one thread (spec 10.2).

Every view is synchronous, so Django's own handler changes threads twice for each layer of
middleware: 2 to 3 ms of a request of 8 (measured). This one changes once. Tried and dropped: a
synchronous innermost middleware, which is as fast but loses the database connection of a request
whose client hangs up (the pool of 8 was empty after six of them). Bodies beyond what any call takes
are let go by, so that nobody fills the disk with one.
"""

from tempfile import SpooledTemporaryFile
from typing import Any, Final

import django
from asgiref.sync import sync_to_async
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase

KEPT_IN_MEMORY: Final = 1_048_576  # bytes of a body; more goes to a temporary file
LARGEST_KEPT: Final = 16 * 1_048_576  # bytes; twice the largest body that any call takes


class OneThreadHandler(ASGIHandler):
    """Django's handler with the synchronous chain of middleware."""

    def load_middleware(self, is_async: bool = False) -> None:
        """Build the chain for one thread, whatever is asked for."""
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Answer in the request's own thread."""
        answer: HttpResponseBase = await sync_to_async(self.get_response)(request)
        return answer

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


def application() -> OneThreadHandler:
    """Return Django's part of the ASGI application, with its apps loaded."""
    django.setup(set_prefix=False)
    return OneThreadHandler()
