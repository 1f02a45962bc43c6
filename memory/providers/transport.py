"""An HTTP client that ends a whole exchange in time and refuses endless answers.

The vendors' clients send through it. Their own timeouts bound one read, so that an answer of one
byte a second never ends; here the read timeout given with a request is the total from sending to
the last byte of the body, and connecting has its own bound.
"""

import ipaddress
import time
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from memory.providers.settings import Limits

SHORTEST_SECONDS: Final = 0.001  # a timeout of 0 would mean none


class AnswerTooLong(httpx.TransportError):
    """The body has more bytes than an answer may have."""


class BoundedClient(httpx.Client):
    """A client whose every request is bounded by its read timeout as a total."""

    def __init__(self, *, base_url: str, limits: Limits) -> None:
        """Open nothing yet; a server on this machine is never asked for through a proxy."""
        direct: dict[str, None] = {}
        if is_on_this_machine(url=base_url):
            direct[f"all://{httpx.URL(base_url).netloc.decode()}"] = None
        super().__init__(mounts=direct, follow_redirects=False)
        self._limits = limits

    def send(
        self, request: httpx.Request, *, stream: bool = False, **options: Any
    ) -> httpx.Response:
        """Send, and return a response whose body minds the deadline and the size.

        Raises:
            httpx.TransportError: no connection, no answer in time, or too long an answer.
        """
        asked = request.extensions.get("timeout", {}).get("read")
        total = self._limits.total_seconds if asked is None else float(asked)
        ends_at = time.monotonic() + total
        bounds = dict.fromkeys(("read", "write", "pool"), max(SHORTEST_SECONDS, total))
        bounds["connect"] = min(self._limits.connect_seconds, bounds["read"])
        request.extensions = {**request.extensions, "timeout": bounds}
        response = super().send(request, stream=True, **options)
        # the connection reads its bound anew when the body begins
        bounds["read"] = max(SHORTEST_SECONDS, ends_at - time.monotonic())
        response.stream = _BoundedBody(response.stream, ends_at, self._limits.answer_bytes)
        if not stream:
            try:
                response.read()
            finally:
                response.close()
        return response


class _BoundedBody(httpx.SyncByteStream):
    def __init__(
        self, inner: httpx.SyncByteStream | httpx.AsyncByteStream, ends_at: float, most_bytes: int
    ) -> None:
        if not isinstance(inner, httpx.SyncByteStream):
            raise TypeError("The bounded client is synchronous.")
        self._inner = inner
        self._ends_at = ends_at
        self._most_bytes = most_bytes

    def __iter__(self) -> Iterator[bytes]:
        count = 0
        for piece in self._inner:
            count += len(piece)
            if count > self._most_bytes:
                raise AnswerTooLong(f"The answer is longer than {self._most_bytes} bytes.")
            if time.monotonic() > self._ends_at:
                raise httpx.ReadTimeout("The answer was not complete in time.")
            yield piece

    def close(self) -> None:
        self._inner.close()


def is_on_this_machine(*, url: str) -> bool:
    """Say whether an address is a loopback one, so that texts sent there stay here."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name: it may lead anywhere
        return False
