"""Every surface of the product has a line in matrix.toml, and every line a surface.

Surfaces are found in the product itself: pages by walking the URL resolver, calls from the declared
endpoints, tools from the MCP server, sockets from their routes and handlers, admin pages from the
registered models, background work from the task registry and the job names, commands from the apps
that are ours.
"""

import re
from collections.abc import Callable, Iterator
from inspect import iscoroutinefunction, isfunction
from typing import Any

import pytest
from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib import admin
from django.core.management import get_commands
from django.urls import URLResolver, get_resolver

from accounts.jobs import NAMES
from config.celery import app
from config.urls import ENDPOINTS
from frontend.consumers import ChangesConsumer
from frontend.urls import websocket_urlpatterns
from memory.mcp.app import METADATA, PATH
from memory.mcp.server import TOOLS
from tests.tenancy.isolation import probes

OURS = ("accounts", "teams", "graph", "memory", "frontend", "config")
API = "api/v1/"


@pytest.fixture(scope="module")
def found() -> set[str]:
    """The names of all surfaces, as they stand in matrix.toml."""
    app.loader.import_default_modules()
    return set(_names())


@pytest.mark.goal(name="G1")
def test_every_surface_is_listed_and_every_line_has_its_surface(
    found: set[str], figure: Callable[[str], None]
) -> None:
    assert found == set(probes.document()["surfaces"])
    figure(f"{len(found)} of {len(found)} surfaces listed")


def test_every_request_has_a_policy() -> None:
    assert {ask.policy for ask in probes.asks()} == set(probes.policies())


def test_no_task_takes_an_organization_or_an_id(found: set[str]) -> None:
    for name in (one.removeprefix("task ") for one in found if one.startswith("task ")):
        assert set(app.tasks[name].run.__annotations__) <= {"queue", "interval_seconds", "return"}


def _names() -> Iterator[str]:
    yield from _addresses()
    yield from (f"rest {item.method} {item.path}" for item in ENDPOINTS)
    yield from (f"mcp tool {name}" for name in TOOLS)
    yield from (f"mcp address {path}" for path in (PATH, METADATA, f"{METADATA}{PATH}"))
    yield from (f"socket {route.pattern}" for route in websocket_urlpatterns)
    yield from (f"socket message {name}" for name in _handlers())
    yield from (f"admin {model._meta.label_lower}" for model in admin.site._registry)
    yield from (f"task {name}" for name in app.tasks if not name.startswith("celery."))
    yield from (f"job {name}" for name in NAMES)
    yield from (f"command {name}" for name, owner in get_commands().items() if owner in OURS)


def _addresses() -> Iterator[str]:
    """Yield every address; calls and the rows of the admin stand there as themselves."""
    paths = (re.sub(r"{([a-z]+)}", r"(?P<\1>[^/]+)", item.path) for item in ENDPOINTS)
    calls = {f"{API}^{path}/?$" for path in paths}
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


def _handlers() -> Iterator[str]:
    """Yield the types of channel messages that the consumer answers to."""
    for name, function in vars(ChangesConsumer).items():
        is_ours = name not in vars(AsyncWebsocketConsumer) and name[0] != "_"
        if is_ours and isfunction(function) and iscoroutinefunction(function):
            yield name.replace("_", ".")
