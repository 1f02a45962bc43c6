"""One ASGI process: pages and REST by Django, sockets by Channels, agents by MCP.

MCP needs the server's lifespan; without forwarding it, every call fails. Everything else goes to
Django, sockets only from our own origin; the consumer asks whose session their cookie is.
"""

import asyncio
import gc
import os
import time
from collections.abc import MutableMapping
from threading import Thread
from typing import Any

from config import handlers

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.production")
django_application = handlers.application()  # loads the apps; the imports below need them

from channels.routing import URLRouter  # noqa: E402
from channels.security.websocket import AllowedHostsOriginValidator  # noqa: E402
from channels.sessions import CookieMiddleware  # noqa: E402
from starlette.responses import PlainTextResponse  # noqa: E402

from accounts import timeouts  # noqa: E402
from config import admission, metrics, telemetry, throttling, tracing  # noqa: E402
from frontend.urls import websocket_urlpatterns  # noqa: E402
from memory.mcp import app as mcp  # noqa: E402
from memory.secrets import scanner  # noqa: E402

DATABASE_SILENCE_S = 20  # longer than any statement of a request
BODY_S = 15.0  # for a body to come in, and a second more for each SLOWEST_BYTES of it
SLOWEST_BYTES = 16_384

timeouts.limit_silence(seconds=DATABASE_SILENCE_S)
sockets = AllowedHostsOriginValidator(CookieMiddleware(URLRouter(websocket_urlpatterns)))
TOO_SLOW = PlainTextResponse(
    "The body did not come in time. Send it again, faster.\n", 408, {"connection": "close"}
)
agents = mcp.asgi_app(counter=throttling.counter, turn=admission.gate.turn, begin=telemetry.begin)
gc.collect()
gc.freeze()  # as in config.celery: nothing that is loaded is looked through again


async def application(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
    """Hand a connection to whoever serves it."""
    if scope["type"] == "lifespan":
        Thread(target=scanner.prepare, name="rules about secrets", daemon=True).start()
        metrics.start_reporting(program="web")
        tracing.start_export(service="cairn-web")
        await agents(scope, receive, send)
        await asyncio.to_thread(tracing.stop_export)
    elif scope["type"] == "websocket":
        await sockets(scope, receive, send)
    else:
        await _answer(scope, receive, send)


async def _answer(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
    """Answer a request; one whose body does not come in time is refused and its line closed."""
    clock = asyncio.get_running_loop().time
    ends_at, is_whole, began = clock() + BODY_S, False, time.perf_counter()

    async def receive_in_time() -> Any:
        nonlocal ends_at, is_whole
        if is_whole:
            return await receive()
        async with asyncio.timeout_at(ends_at):
            message = await receive()
        is_whole = not message.get("more_body")
        ends_at += len(message.get("body", b"")) / SLOWEST_BYTES
        return message

    try:
        if mcp.serves(path=scope["path"]):
            await metrics.counted(agents, scope, receive_in_time, send)
        else:
            await django_application(scope, receive_in_time, send)
    except TimeoutError:
        if is_whole:
            raise
        metrics.count_refusal(method=scope["method"], status=TOO_SLOW.status_code, began=began)
        await TOO_SLOW(scope, receive, send)
