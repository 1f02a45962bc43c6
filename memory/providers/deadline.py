"""An HTTP transport that ends a whole exchange in time and refuses endless answers.

In the flow: the clients of the remote vendors send through `client`. Their own timeouts bound one
read, so that an answer of one byte a second never ends; here the read timeout given with a
request is the total from sending to the last byte of the body, and connecting has its own bound.
"""

import time
import urllib.request
from collections.abc import Iterator
from threading import Lock

import httpx

from memory.providers import addresses
from memory.providers.settings import Limits


class AnswerTooLong(httpx.TransportError):
    """The body has more bytes than an answer may have."""


def client(*, limits: Limits) -> httpx.Client:
    """Return a client whose every request is bounded by its read timeout as a total."""
    return httpx.Client(transport=DeadlineTransport(limits=limits), follow_redirects=False)


class DeadlineTransport(httpx.BaseTransport):
    """Wraps the ordinary transport; connections are pooled as usual."""

    def __init__(self, *, limits: Limits) -> None:
        """Open nothing yet."""
        self._limits = limits
        self._lock = Lock()
        self._routes: dict[str, httpx.HTTPTransport] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send, and return a response whose stream minds the deadline and the size.

        Raises:
            httpx.TransportError: no connection, no answer in time.
        """
        total = _seconds(request, self._limits)
        ends_at = time.monotonic() + total
        bounds = dict.fromkeys(("read", "write", "pool"), total)
        bounds["connect"] = min(self._limits.connect_seconds, total)
        request.extensions = {**request.extensions, "timeout": bounds}
        response = self._route(proxy_of(url=request.url)).handle_request(request)
        # the connection reads its bound anew when the body begins
        bounds["read"] = max(0.001, ends_at - time.monotonic())
        body = _BoundedBody(response.stream, ends_at, self._limits.answer_bytes)
        return httpx.Response(
            response.status_code,
            headers=response.headers,
            stream=body,
            extensions=response.extensions,
        )

    def close(self) -> None:
        """Close the pooled connections."""
        for route in self._routes.values():
            route.close()

    def _route(self, proxy: str) -> httpx.HTTPTransport:
        with self._lock:
            if proxy not in self._routes:
                self._routes[proxy] = httpx.HTTPTransport(proxy=proxy or None)
            return self._routes[proxy]


def proxy_of(*, url: httpx.URL) -> str:
    """Return the proxy that the environment names for an address ("" = go there directly).

    The library leaves HTTPS_PROXY and NO_PROXY aside once it is given a transport. A server on
    this machine is never asked for through a proxy.
    """
    if addresses.is_on_this_machine(url=str(url)) or urllib.request.proxy_bypass(url.host):
        return ""
    named = urllib.request.getproxies()
    return named.get(url.scheme, "") or named.get("all", "")


class _BoundedBody(httpx.SyncByteStream):
    def __init__(
        self, inner: httpx.SyncByteStream | httpx.AsyncByteStream, ends_at: float, most_bytes: int
    ) -> None:
        if not isinstance(inner, httpx.SyncByteStream):
            raise TypeError("The deadline transport is for synchronous clients.")
        self._inner = inner
        self._ends_at = ends_at
        self._most_bytes = most_bytes

    def __iter__(self) -> Iterator[bytes]:
        taken = 0
        for piece in self._inner:
            taken += len(piece)
            if taken > self._most_bytes:
                raise AnswerTooLong(f"The answer is longer than {self._most_bytes} bytes.")
            if time.monotonic() > self._ends_at:
                raise httpx.ReadTimeout("The answer was not complete in time.")
            yield piece

    def close(self) -> None:
        self._inner.close()


def _seconds(request: httpx.Request, limits: Limits) -> float:
    given = request.extensions.get("timeout", {}).get("read")
    return limits.total_seconds if given is None else max(0.001, float(given))
