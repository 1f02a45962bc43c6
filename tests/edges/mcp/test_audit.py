"""What agents write is told once in the audit log, with the id and the address of the call."""

from typing import Any

import httpx2
import pytest

from accounts.authentication import entered
from teams.audit import every_entry
from teams.audit_chain import Entry
from tests.edges.audit import surfaces
from tests.support.live import Place

pytestmark = [pytest.mark.django_db, pytest.mark.goal(name="G29")]


def log_of(place: Place) -> tuple[Entry, ...]:
    """Return the log of the agent's organization."""
    with entered(place.caller):
        return tuple(every_entry())


def called(address: str, token: str, tool: str, given: Any) -> httpx2.Response:
    """Call a tool with one plain POST."""
    params = {"name": tool, "arguments": given}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
        "X-Cairn-Agent": "a test",
    }
    return httpx2.post(f"{address}/mcp", json=message, headers=headers, timeout=20)


@pytest.mark.parametrize("tool", surfaces.TOOLS)
def test_a_write_of_an_agent_is_told_once(address: str, place: Place, tool: str) -> None:
    act, given = surfaces.TOOLS[tool]
    before = len(log_of(place))

    answer = called(address, place.token, tool, given)

    (entry,) = log_of(place)[before:]
    assert not answer.json()["result"].get("isError"), answer.text
    assert (entry.act, entry.surface, entry.agent) == (act, "mcp", "a test")
    assert (entry.address, entry.request_id) == ("127.0.0.1", answer.headers["x-request-id"])
    assert entry.actor_user == place.caller.user_id
    assert entry.token_id is not None


@pytest.mark.parametrize("tool", surfaces.TOOLS)
def test_a_refused_write_of_an_agent_is_not_told(address: str, place: Place, tool: str) -> None:
    before = log_of(place)

    answer = called(address, place.reading_token, tool, surfaces.TOOLS[tool][1])

    assert answer.json()["result"]["isError"]
    assert log_of(place) == before
