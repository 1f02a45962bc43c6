"""A running server with an organization, one that only this process sees, and an agent's tools."""

import json
from collections.abc import Callable
from typing import Any

import httpx
from django.db import transaction

from accounts.authentication import entered
from tests.edges.audit.world import World, acme
from tests.support import stored
from tests.support.live import Place
from tests.support.payloads import MARK
from tests.support.served import address, place

__all__ = ["acme", "address", "place"]


def tools_of(address: str, place: Place) -> httpx.Client:
    """Return a client that calls tools by MCP."""
    headers = {
        "Authorization": f"Bearer {place.token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    return httpx.Client(base_url=address, headers=headers, timeout=30)


def call(http: httpx.Client, tool: str, given: Any) -> httpx.Response:
    """Call a tool; arguments that are bytes go as they are."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    body = json.dumps({**message, "params": {"name": tool, "arguments": MARK}}).encode()
    sent = given if isinstance(given, bytes) else json.dumps(given).encode()
    return http.post("/mcp", content=body.replace(json.dumps(MARK).encode(), sent))


def fault_of(send: Callable[[], Any], look: Callable[[Any], str | None]) -> str | None:
    """Send something, take back what it wrote; return what is wrong about the answer.

    What a refusal leaves stays, such as when the token was last used: no call notes it again.
    """
    undo = transaction.savepoint()
    answer = send()
    wrong = look(answer)
    is_refused = wrong is None and answer.status_code >= 400
    (transaction.savepoint_commit if is_refused else transaction.savepoint_rollback)(undo)
    return wrong and f"{wrong}: {answer.status_code} {answer.content[:300]!r}"


def rows_of(place: Place | World) -> dict[str, int]:
    """Return how many rows each table of an organization has."""
    with entered(place.caller):
        return stored.rows()
