"""Everything that can be asked from outside, found in the product itself.

Pages by walking the URL resolver, calls from the declared endpoints, tools from the MCP server,
sockets from their routes and handlers, admin pages from the registered models, background work from
the task registry and the job names, commands from the apps that are ours.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import iscoroutinefunction, isfunction
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib import admin
from django.core.management import get_commands
from django.urls import URLResolver, get_resolver

from accounts.job_names import NAMES
from config.api_urls import ENDPOINTS
from config.celery import app
from frontend.consumers import ChangesConsumer
from frontend.urls import websocket_urlpatterns
from memory.mcp.app import METADATA, PATH
from memory.mcp.server import TOOLS

OURS = ("accounts", "teams", "graph", "memory", "frontend", "config")
API = "api/v1/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """One thing that can be asked; `name` is its line in matrix.toml."""

    kind: str
    name: str


def found() -> tuple[Surface, ...]:
    """Return all surfaces of the product."""
    app.loader.import_default_modules()
    return tuple(Surface(kind=name.partition(" ")[0], name=name) for name in sorted(set(_names())))


def _names() -> Iterator[str]:
    yield from _addresses()
    yield from (f"rest {item.method} {item.path}" for item in ENDPOINTS)
    yield from (f"mcp tool {name}" for name in TOOLS)
    yield from (f"mcp address {path}" for path in (PATH, METADATA, f"{METADATA}{PATH}"))
    yield from (f"socket {route.pattern}" for route in websocket_urlpatterns)
    yield from (f"socket message {name}" for name in _handlers())
    yield from (f"admin {_label(model)}" for model in admin.site._registry)
    yield from (f"task {name}" for name in app.tasks if not name.startswith("celery."))
    yield from (f"job {name}" for name in NAMES)
    yield from (f"command {name}" for name, owner in get_commands().items() if owner in OURS)


def _addresses() -> Iterator[str]:
    """Yield every address; calls and the rows of the admin stand there as themselves."""
    calls = {f"{API}^{_as_pattern(item.path)}/?$" for item in ENDPOINTS}
    rows = tuple(
        f"admin/{model._meta.app_label}/{model._meta.model_name}/" for model in admin.site._registry
    )
    for address in _walk(get_resolver().url_patterns):
        if address not in calls and not address.startswith(rows):
            yield f"page {address}"


def _walk(patterns: list[Any], before: str = "") -> Iterator[str]:
    for pattern in patterns:
        address = f"{before}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, address)
        else:
            yield address


def _as_pattern(path: str) -> str:
    return re.sub(r"{([a-z]+)}", r"(?P<\1>[^/]+)", path)


def _handlers() -> Iterator[str]:
    """Yield the types of channel messages that the consumer answers to."""
    for name, function in vars(ChangesConsumer).items():
        is_ours = name not in vars(AsyncWebsocketConsumer) and name[0] != "_"
        if is_ours and isfunction(function) and iscoroutinefunction(function):
            yield name.replace("_", ".")


def _label(model: Any) -> str:
    return f"{model._meta.app_label}.{model._meta.model_name}"
