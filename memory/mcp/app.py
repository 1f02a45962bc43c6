"""MCP over HTTP: who may come in, and what may be read, before the SDK sees a request.

`/mcp` takes a Bearer token on every request (there are no sessions to lose) and makes the Caller
with `accounts.authentication`, like REST. Bodies are read by our own strict reader, so what would
break a parser or a database is refused with its place. Every request gets a thread of its own for
its database work, and gives its connection back as soon as the caller is known and again at the
end: a body that does not come, or a stream held open, would otherwise keep one of the few there
are. There are no streams: what is not a POST is refused.
"""

import uuid
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Any, Final, Protocol
from urllib.parse import parse_qs, urlsplit

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.conf import settings
from django.db import connection
from django.db.utils import InterfaceError, OperationalError
from django.http.request import split_domain_port, validate_host
from mcp.server.transport_security import TransportSecuritySettings
from psycopg_pool import PoolTimeout
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response

from accounts import errors
from accounts.api import requests
from accounts.audit import Origin, Surface
from accounts.authentication import entered
from accounts.caller import Caller
from memory.mcp.server import ORIGIN_KEY, PROJECT_KEY, SCOPE_KEY, TOOLS, make_server
from teams.actions import note_agent

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Turn = Callable[[Scope], AbstractAsyncContextManager[None]]  # of a request; raises RateLimited

PATH: Final = "/mcp"
METADATA: Final = "/.well-known/oauth-protected-resource"
LARGEST_BODY: Final = 1_048_576  # bytes
SEALS: Final = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
}
LONGEST_PROJECT: Final = 64  # characters, the slug's
PARSE_ERROR: Final = -32_700  # JSON-RPC 2.0
INVALID_REQUEST: Final = -32_600  # JSON-RPC 2.0
NO_STREAMS: Final = {
    "jsonrpc": "2.0",
    "id": None,
    "error": {"code": INVALID_REQUEST, "message": "MCP is spoken by POST; there are no streams."},
}
WEIGHED: Final = frozenset(name for name, tool in TOOLS.items() if tool.weighed)


class Counter(Protocol):
    """Counts calls of the entered organization. Raises RateLimited."""

    def count(self, *, caller: Caller, now_seconds: float) -> Mapping[str, str]:
        """Count a call, and return what is left, as headers."""
        ...

    def weigh(self, *, caller: Caller, now_seconds: float, size: int) -> None:
        """Count what a counted call costs besides, by its bytes."""
        ...


def serves(*, path: str) -> bool:
    """Say whether a path belongs to MCP."""
    return path.rstrip("/") in {PATH, METADATA, f"{METADATA}{PATH}"}


def asgi_app(
    *, counter: Counter, turn: Turn, begin: Callable[[str], None]
) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    """Return the ASGI application; its lifespan must be run, for the SDK's task group.

    `begin` is told the id of each request, for the log.
    """
    return _App(counter=counter, turn=turn, begin=begin)


class _App:
    """Hands requests to the SDK, whose application serves one lifespan and is made for each."""

    def __init__(self, *, counter: Counter, turn: Turn, begin: Callable[[str], None]) -> None:
        self.counter = counter
        self.turn = turn
        self.begin = begin
        self.protocol: Any = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = uuid.uuid4().hex
        if scope["type"] == "lifespan":
            self.protocol = make_server().streamable_http_app(
                streamable_http_path=PATH,
                json_response=True,
                stateless_http=True,
                transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            )
            await self.protocol(scope, receive, send)
            return
        self.begin(request_id)
        if scope["path"].rstrip("/") != PATH:
            await JSONResponse(_metadata())(scope, receive, _sealed(send, request_id))
        else:
            async with ThreadSensitiveContext():
                await self._guarded(scope, receive, _sealed(send, request_id), request_id)

    async def _guarded(self, scope: Scope, receive: Receive, send: Send, request_id: str) -> None:
        try:
            body = await _body(receive) if scope["method"] == "POST" else b""
            async with self.turn(scope):
                await self._answer(scope, _replay(body, receive), send, request_id, body)
        except errors.CairnError as error:
            await _refused(error)(scope, receive, send)
        finally:
            await sync_to_async(_let_go)()

    async def _answer(
        self, scope: Scope, receive: Receive, send: Send, request_id: str, body: bytes
    ) -> None:
        admitted = await _admitted(scope, self.counter, request_id)
        if scope["method"] != "POST":
            answer = JSONResponse(NO_STREAMS, 405, {"allow": "POST"})
            await answer(scope, receive, send)
            return
        message = requests.parse(text=requests.decode(raw=body)) if body else None
        if _is_weighed(message):
            await sync_to_async(_weigh)(self.counter, admitted[SCOPE_KEY], len(body))
        await self.protocol({**scope, **admitted, "path": PATH}, receive, send)


async def _admitted(scope: Scope, counter: Counter, request_id: str) -> dict[str, Any]:
    headers = Headers(raw=scope["headers"])
    _check_places(headers)
    peer = (scope.get("client") or ("", 0))[0]
    address = requests.address_of(headers=headers, peer=peer)
    caller = await sync_to_async(_caller)(headers, address, counter)
    asked = parse_qs(scope.get("query_string", b"").decode("ascii", "replace")).get("project")
    origin = Origin(surface=Surface.MCP, request_id=request_id, address=address)
    return {SCOPE_KEY: caller, PROJECT_KEY: _usual_project(caller, asked), ORIGIN_KEY: origin}


def _check_places(headers: Headers) -> None:
    """Refuse a Host or an Origin that is not ours, against rebinding of names."""
    host, _ = split_domain_port(headers.get("host", ""))
    origin = urlsplit(headers.get("origin", "")).hostname
    for name in (host, origin) if origin else (host,):
        if not validate_host(name, settings.ALLOWED_HOSTS):
            raise errors.Forbidden(
                detail="This Host or Origin is not one of this installation.",
                hint="Use the address of CAIRN_BASE_URL, or add the name to CAIRN_ALLOWED_HOSTS.",
            )


def _caller(headers: Headers, address: str, counter: Counter) -> Caller:
    now = datetime.now(UTC)
    try:
        caller = requests.token_caller(headers=headers, address=address, path=PATH, now=now)
        if caller is None:
            raise errors.Unauthenticated(
                detail="MCP needs a token.",
                hint="Send Authorization: Bearer crn_… with every request.",
            )
        with entered(caller):
            note_agent(caller=caller)
            counter.count(caller=caller, now_seconds=now.timestamp())
        return caller
    except (OperationalError, InterfaceError, PoolTimeout) as error:
        raise errors.Unavailable(
            detail="The database does not answer.", hint="Try again in a few seconds."
        ) from error
    finally:
        _let_go()


def _is_weighed(message: Any) -> bool:
    """Say whether a message calls a tool that costs more the more is sent."""
    params = message.get("params") if isinstance(message, dict) else None
    name = params.get("name") if isinstance(params, dict) else None
    return isinstance(name, str) and name in WEIGHED


def _weigh(counter: Counter, caller: Caller, size: int) -> None:
    with entered(caller):
        counter.weigh(caller=caller, now_seconds=datetime.now(UTC).timestamp(), size=size)


def _usual_project(caller: Caller, asked: list[str] | None) -> str | None:
    """Return the project of calls that name none: the address's, else the token's only one."""
    if asked:
        return requests.check_text(text=asked[0][:LONGEST_PROJECT], pointer="/project")
    bound = caller.bound_projects or ()
    return str(bound[0]) if len(bound) == 1 else None


async def _body(receive: Receive) -> bytes:
    raw, has_more = b"", True
    while has_more:
        message = await receive()
        raw += bytes(message.get("body", b""))
        if len(raw) > LARGEST_BODY:
            raise errors.TooLarge(detail=f"The body is larger than {LARGEST_BODY:,} bytes.")
        has_more = bool(message.get("more_body"))
    return raw


def _let_go() -> None:
    connection.close()  # of the thread that runs this, hence a function


def _sealed(send: Send, request_id: str) -> Send:
    """Say of every answer its id, and that it is data: nothing may load, frame or keep it."""

    async def sealed(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=list(message.get("headers", [])))
            headers.update({**SEALS, "x-request-id": request_id})
            message = {**message, "headers": headers.raw}
        await send(message)

    return sealed


def _replay(body: bytes, receive: Receive) -> Receive:
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> MutableMapping[str, Any]:
        return messages.pop() if messages else await receive()

    return replayed


def _refused(error: errors.CairnError) -> Response:
    code = PARSE_ERROR if error.status == 400 else INVALID_REQUEST
    data = [{"pointer": fault.pointer, "detail": fault.detail} for fault in error.errors]
    message = {"code": code, "message": f"{error.detail} {error.hint}".strip(), "data": data}
    headers = {"retry-after": "5"} if error.status == 503 else {}
    if isinstance(error, errors.RateLimited):
        headers["retry-after"] = str(error.retry_after_seconds)
    if error.status == 401:
        headers["www-authenticate"] = (
            f'Bearer error="{error.code}", resource_metadata="{settings.BASE_URL}{METADATA}{PATH}"'
        )
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": message}, error.status, headers)


def _metadata() -> dict[str, Any]:
    """Return what RFC 9728 asks of a protected resource."""
    return {
        "resource": f"{settings.BASE_URL}{PATH}",
        "resource_name": "Cairn",
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["read", "write"],
        "resource_documentation": f"{settings.BASE_URL}/docs/",
    }
