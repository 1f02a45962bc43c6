"""The outermost layer: a request id in and out, and problem documents for every API error.

DRF answers what its views raise. What fails before or outside of them (no such address, a host that
is not ours, a crash) would be a page of HTML; under `/api/` it becomes the same problem+json as
everything else. Big answers are compressed here, after everything is decided. What a request does
is known by its id and its address in the audit log. The counter of calls is put into the request,
for pages, which know nothing of this layer.
"""

import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from uuid import uuid4

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.text import compress_string

from accounts import audit, free_texts
from accounts.api.requests import address_of
from accounts.audit import Origin, Surface
from accounts.errors import CairnError
from config import metrics, telemetry, throttling
from config.rest import problems

HEADER: Final = "X-Request-Id"
ACCEPTED: Final = re.compile(r"[0-9A-Za-z._:-]{1,64}\Z")  # what may stand in a log line unescaped
API: Final = "/api/"
ADMIN: Final = "/admin/"
HEADERS: Final = {  # data, never a page: nothing may load, frame or keep it
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
SMALLEST_COMPRESSED: Final = 4_096  # bytes; below, packing costs more than it saves
RANDOM_BYTES: Final = 100  # of the gzip header's name, against guessing by length (BREACH)


class RequestMiddleware:
    """Give each request an id, say it in the answer, and make API errors problem documents."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        """Keep the next layer, and whether it is asynchronous."""
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        """Answer one request."""
        if self.is_async:
            return self._answer_async(request)
        _arrive(request)
        return _leave(request, self.get_response(request))

    async def _answer_async(self, request: HttpRequest) -> HttpResponseBase:
        _arrive(request)
        return _leave(request, await self.get_response(request))


def refuse(*, error: CairnError, headers: Mapping[str, str], method: str, began: float) -> Any:
    """Return the answer to a request that comes to no view; count and log it like others.

    `began` is of `time.perf_counter`.
    """
    request_id = _begin(headers.get(HEADER, ""))
    response = problems.respond(error=error, request_id=request_id)
    for name, value in {**HEADERS, HEADER: request_id}.items():
        response.headers[name] = value
    metrics.count_refusal(method=method, status=error.status, began=began)
    return response


def _begin(offered: str) -> str:
    """Return the request's id, the offered one where it may be kept, and log by it from now on."""
    is_taken = ACCEPTED.match(offered) and free_texts.masked(text=offered) == offered
    request_id = offered if is_taken else uuid4().hex
    telemetry.begin(request_id)
    return request_id


def _arrive(request: HttpRequest) -> None:
    request_id = _begin(request.headers.get(HEADER, ""))
    surface = Surface.ADMIN if request.path.startswith(ADMIN) else Surface.PAGE
    peer = str(request.META.get("REMOTE_ADDR", ""))
    origin = Origin(
        surface=Surface.REST if request.path.startswith(API) else surface,
        request_id=request_id,
        address=address_of(headers=request.headers, peer=peer),
    )
    audit.arrive(origin=origin)
    request.request_id = request_id  # type: ignore[attr-defined]
    request.began = time.perf_counter()  # type: ignore[attr-defined]
    request.counter = throttling.counter  # type: ignore[attr-defined]


def _leave(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    request_id: str = request.request_id  # type: ignore[attr-defined]
    response.headers[HEADER] = request_id
    audit.depart()
    began: float = request.began  # type: ignore[attr-defined]
    metrics.count_request(request=request, response=response, began=began)
    if not request.path.startswith(API):
        return response
    for name, value in HEADERS.items():
        response.headers[name] = value
    if not isinstance(response, HttpResponse):
        return response  # a file that is sent piece by piece
    kind = response.headers.get("Content-Type", "")
    if response.status_code >= 400 and not kind.startswith(problems.MEDIA_TYPE):
        problem = problems.of_status(status=response.status_code, request_id=request_id)
        response.content = problems.to_json(value=problem)
        response.headers["Content-Type"] = problems.MEDIA_TYPE
        _measure(response)
    _compress(request, response)
    return response


def _compress(request: HttpRequest, response: HttpResponse) -> None:
    patch_vary_headers(response, ("Accept-Encoding",))
    wanted = "gzip" in request.headers.get("Accept-Encoding", "")
    if not wanted or len(response.content) < SMALLEST_COMPRESSED or "Content-Encoding" in response:
        return
    response.content = compress_string(response.content, max_random_bytes=RANDOM_BYTES)
    response.headers["Content-Encoding"] = "gzip"
    _measure(response)


def _measure(response: HttpResponse) -> None:
    """Say the length anew where an inner layer has said it; a server cuts off what differs."""
    if "Content-Length" in response:
        response.headers["Content-Length"] = str(len(response.content))
