"""MCP over stdin and stdout against a running server."""

import io
import json
from typing import Any

import pytest

from memory.client.commands.setup import HELLO
from tests.edges.client.conftest import Cairn

pytestmark = pytest.mark.django_db

READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let lines stand on stdin."""

    def say(*lines: object) -> None:
        text = "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines)
        stdin = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
        monkeypatch.setattr("sys.stdin", stdin)

    return say


def test_messages_are_carried_and_a_line_that_is_none_stops_no_other(
    here: Cairn, said: Any
) -> None:
    said(HELLO, READY, "no json", LIST)

    done = here("mcp")

    assert done.code == 0, done.err
    hello, broken, tools = done.rows()  # what has no id gets no answer
    assert (hello["id"], broken["error"]["code"], tools["id"]) == (1, -32_700, 2)
    assert "search" in {tool["name"] for tool in tools["result"]["tools"]}


def test_server_that_is_away_is_an_error_of_the_message(cairn: Cairn, said: Any) -> None:
    said(LIST, READY)

    (answer,) = cairn("--url", "http://127.0.0.1:9", "--token", "t", "mcp").rows()

    assert (answer["id"], answer["error"]["code"]) == (2, -32_000)
