"""MCP over stdin and stdout against a running server."""

import io
import json
from typing import Any

import pytest

from memory.client.install.doctor import HELLO
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


def test_messages_are_carried_and_what_has_no_id_gets_no_answer(here: Cairn, said: Any) -> None:
    said(HELLO, READY, LIST)

    done = here("mcp")

    assert done.code == 0, done.err
    hello, tools = done.rows()
    assert (hello["id"], tools["id"]) == (1, 2)
    assert "search" in {tool["name"] for tool in tools["result"]["tools"]}


def test_line_that_is_no_message_is_an_error_and_the_next_one_is_answered(
    here: Cairn, said: Any
) -> None:
    said("no json", LIST)

    broken, tools = here("mcp").rows()

    assert broken["error"]["code"] == -32_700
    assert tools["id"] == 2


def test_server_that_is_away_is_an_error_of_the_message(cairn: Cairn, said: Any) -> None:
    said(LIST, READY)

    (answer,) = cairn("--url", "http://127.0.0.1:9", "--token", "t", "mcp").rows()

    assert (answer["id"], answer["error"]["code"]) == (2, -32_000)
