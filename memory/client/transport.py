"""One request and its retries: only what may be sent twice is repeated.

A read, and a write that carries an Idempotency-Key, is sent again after a broken line, a 429 or a
server that is away; an upload only while nothing of it can have arrived. The wait is the server's
Retry-After, or doubles. Redirects are not followed, so that a token goes to no other address.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import httpx

from .configuration import Connection
from .errors import STILL_RUNNING, Problem, Unreachable

CONNECT_SECONDS: Final = 5.0
ANSWER_SECONDS: Final = 60.0  # a write may wait up to 30 s for its job
STREAM_SECONDS: Final = 30 * 60.0  # a whole file is written before its first byte comes
ATTEMPTS: Final = 5
CONNECT_ATTEMPTS: Final = 3  # at a server that accepts no connection
FIRST_WAIT_SECONDS: Final = 0.5
LONGEST_WAIT_SECONDS: Final = 60.0
AGENT: Final = "cairn-cli"
BUSY: Final = frozenset({429, 503})  # refused before anything was done
GATEWAY: Final = frozenset({502, 504})  # a server between gave up; it may have been done
_UNSENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request; `body` becomes JSON, `data` is sent as it is."""

    method: str
    path: str
    query: Mapping[str, Any] | None = None
    body: object = None
    data: bytes | None = None

    @property
    def may_be_repeated(self) -> bool:
        """Whether sending it twice does what sending it once does."""
        return self.method == "GET" or self.data is None


class Transport:
    """Sends calls to one server as one caller."""

    def __init__(
        self, *, connection: Connection, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._pause = pause
        token = {"Authorization": f"Bearer {connection.token}"} if connection.token else {}
        self._http = httpx.Client(
            base_url=connection.url,
            headers={**token, "User-Agent": AGENT, "X-Cairn-Agent": AGENT},
            timeout=httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
        )

    def close(self) -> None:
        """Close the lines."""
        self._http.close()

    def send(self, *, call: Call) -> httpx.Response:
        """Return the answer. Raises Problem, or Unreachable."""
        request = self._request(call)
        for attempt in range(1, ATTEMPTS + 1):
            is_last = attempt == ATTEMPTS
            try:
                answer = self._http.send(request)
            except httpx.TransportError as error:
                if not _may_retry(call, error, attempt):
                    raise _unreachable(self._http, error) from error
                self._pause(_doubled(attempt))
                continue
            if is_last or not _is_worth_repeating(call, answer):
                return _check(answer)
            self._pause(_wait_seconds(answer, attempt))
        raise AssertionError("The last attempt returns or raises.")

    @contextmanager
    def stream(self, *, call: Call) -> Iterator[Iterator[bytes]]:
        """Yield the parts of an answer as they come. Raises Problem, or Unreachable."""
        seconds = httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS, read=STREAM_SECONDS)
        try:
            with self._http.stream(**_arguments(call), timeout=seconds) as answer:
                if answer.status_code >= 400:
                    answer.read()
                _check(answer)
                yield answer.iter_bytes()
        except httpx.TransportError as error:
            raise _unreachable(self._http, error) from error

    def _request(self, call: Call) -> httpx.Request:
        request = self._http.build_request(**_arguments(call))
        if call.method != "GET" and call.data is None:
            request.headers["Idempotency-Key"] = str(uuid4())
        return request


def _arguments(call: Call) -> dict[str, Any]:
    query = {name: value for name, value in (call.query or {}).items() if value is not None}
    made: dict[str, Any] = {"method": call.method, "url": call.path, "params": query}
    if call.data is not None:
        headers = {"Content-Type": "application/octet-stream"}
        return {**made, "content": call.data, "headers": headers}
    return made if call.body is None else {**made, "json": call.body}


def _may_retry(call: Call, error: httpx.TransportError, attempt: int) -> bool:
    if isinstance(error, _UNSENT):
        return attempt < CONNECT_ATTEMPTS
    return attempt < ATTEMPTS and call.may_be_repeated


def _is_worth_repeating(call: Call, answer: httpx.Response) -> bool:
    if answer.status_code in BUSY:
        return True
    if not call.may_be_repeated:
        return False
    return answer.status_code in GATEWAY or (
        answer.status_code == 409 and _document(answer).get("code") == STILL_RUNNING
    )


def _wait_seconds(answer: httpx.Response, attempt: int) -> float:
    seconds = answer.headers.get("Retry-After", "")
    if seconds.isdecimal():
        return min(float(seconds), LONGEST_WAIT_SECONDS)
    return _doubled(attempt)


def _doubled(attempt: int) -> float:
    return float(min(FIRST_WAIT_SECONDS * 2 ** (attempt - 1), LONGEST_WAIT_SECONDS))


def _check(answer: httpx.Response) -> httpx.Response:
    if answer.is_success:
        return answer
    raise Problem(status=answer.status_code, document=_document(answer))


def _document(answer: httpx.Response) -> Mapping[str, Any]:
    """Return what a refusal says; nothing where another server than ours answered."""
    try:
        read = answer.json()
    except ValueError:
        return {}
    return read if isinstance(read, Mapping) else {}


def _unreachable(http: httpx.Client, error: httpx.TransportError) -> Unreachable:
    return Unreachable(
        detail=f"{http.base_url} does not answer: {error or type(error).__name__}",
        hint="Is the server running, and is this its address?",
    )
