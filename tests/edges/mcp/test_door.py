"""Who may come in to MCP, what may be sent, and what the log tells of writes."""

import json
import logging
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from accounts.authentication import entered
from config import telemetry, throttling
from memory.mcp.app import LARGEST_BODY
from teams.audit import every_entry
from teams.audit_chain import Entry
from tests.edges.audit import surfaces
from tests.support.agents import ask
from tests.support.live import Place

pytestmark = pytest.mark.django_db

STATEMENT = "The invoices of the north branch are numbered by year and never reused."


def _post(
    address: str, body: bytes | Iterator[bytes], token: str = "", **headers: str
) -> httpx.Response:
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    if token:
        sent["Authorization"] = f"Bearer {token}"
    return httpx.post(f"{address}/mcp", content=body, headers={**sent, **headers}, timeout=20)


def _call(tool: str, **given: Any) -> bytes:
    params = {"name": tool, "arguments": given}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return json.dumps(message).encode()


def test_without_a_good_token_the_metadata_is_named_and_names_the_resource(address: str) -> None:
    refused = [_post(address, b"{}", token) for token in ("", "crn_pat_" + "x" * 38, "nonsense")]
    named = httpx.get(f"{address}/.well-known/oauth-protected-resource/mcp")

    for answer in refused:
        assert answer.status_code == 401
        assert "/.well-known/oauth-protected-resource/mcp" in answer.headers["WWW-Authenticate"]
    assert named.status_code == 200
    assert named.json()["resource"].endswith("/mcp")
    assert named.json()["bearer_methods_supported"] == ["header"]


def test_a_call_is_logged_with_its_id_and_its_organization(
    address: str, place: Place, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caplog.handler, "formatter", telemetry.JsonFormatter())
    with caplog.at_level(logging.INFO, logger=telemetry.REQUESTS.name):
        answer = _post(address, _call("list_recent"), place.token)
        _post(address, _call("list_recent"))

    lines = [json.loads(line) for line in caplog.text.splitlines() if line.startswith("{")]
    first, second = (line for line in lines if line["logger"] == telemetry.REQUESTS.name)
    assert first["organization"] == str(place.caller.organization_id)
    assert first["request_id"] == answer.headers["X-Request-Id"]
    assert "organization" not in second
    assert second["request_id"] != first["request_id"]


def test_every_answer_is_data_that_nobody_keeps(address: str, place: Place) -> None:
    answers = [_post(address, _call("list_recent"), token) for token in ("", place.token)]
    for path in ("/mcp", "/.well-known/oauth-protected-resource"):
        sent: list[dict[str, str]] = [{}, {"Authorization": f"Bearer {place.token}"}]
        answers += [httpx.get(f"{address}{path}", headers=one) for one in sent]

    for answer in answers:
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert len({answer.headers["X-Request-ID"] for answer in answers}) == len(answers)


def test_a_foreign_origin_and_a_hostile_project_in_the_address_are_refused(
    address: str, place: Place
) -> None:
    foreign = _post(address, _call("list_recent"), place.token, Origin="https://evil.example")
    headers = {"Authorization": f"Bearer {place.token}", "Accept": "application/json"}

    assert foreign.status_code == 403
    for project in ("%00", "%ff", "x" * 5_000):
        url = f"{address}/mcp?project={project}"
        answer = httpx.post(url, content=_call("list_recent"), headers=headers)
        assert answer.status_code < 500
        assert '"isError":false' not in answer.text.replace(" ", "")


HOSTILE = {
    "invalid UTF-8": b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}',
    "NaN": b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":NaN}}',
    "duplicate keys": b'{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}',
    "deep": b"[" * 100_000,
    "long number": b'{"jsonrpc":"2.0","id":' + b"9" * 4_000 + b',"method":"tools/list"}',
    "large": b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * 10_000_000 + b'"}',
    "not JSON": b"<xml/>",
    "empty": b"",
    "a number": b"7",
    "null arguments": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}',
    "unknown method": b'{"jsonrpc":"2.0","id":1,"method":"tools/destroy"}',
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_nothing_hostile_breaks_the_server(address: str, place: Place, kind: str) -> None:
    for version in ("2025-11-25", "2026-07-28", "1999-01-01"):
        headers = {"MCP-Protocol-Version": version, "Mcp-Method": "tools/call"}

        answer = _post(address, HOSTILE[kind], place.token, **headers)

        assert answer.status_code < 500, answer.text
        assert "Traceback" not in answer.text


async def test_what_is_foreign_is_as_if_it_did_not_exist(
    address: str, place: Place, other_place: Place
) -> None:
    here, said = {"address": address, "token": place.token}, {"content": STATEMENT}
    there = {**here, "token": other_place.token}
    added = await ask(**there, tool="add_memory", project="shop", **said)
    foreign: str = added.structured_content["memory"]["id"]
    near = foreign[:-1] + ("0" if foreign[-1] != "0" else "1")

    seen, none = [await ask(**here, tool="get", id=one) for one in (foreign, near)]
    asked = (("search", {"query": STATEMENT}), ("list_recent", {}), ("add_memory", said))
    results = [await ask(**here, tool=tool, **given) for tool, given in asked]

    assert seen == none
    assert seen.is_error
    assert [one for one in results if foreign in one.content[0].text] == []
    assert results[-1].structured_content["outcome"] == "added"


def test_there_is_no_stream_to_hold_open(address: str, place: Place) -> None:
    sent = {"Authorization": f"Bearer {place.token}", "Accept": "text/event-stream"}

    for method in ("GET", "DELETE", "PUT"):
        for headers in (sent, {**sent, "Last-Event-ID": "1"}):
            answer = httpx.request(method, f"{address}/mcp", headers=headers, timeout=5)
            assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


def test_bodies_that_never_come_leave_room_for_others(address: str, place: Place) -> None:
    head = f"POST /mcp HTTP/1.1\r\nHost: {urlsplit(address).netloc}\r\nContent-Length: 99\r\n"
    raw = f"{head}Authorization: Bearer {place.token}\r\n\r\n".encode()
    host, port = urlsplit(address).netloc.split(":")

    with ExitStack() as open_lines:
        for _ in range(12):
            line = open_lines.enter_context(socket.create_connection((host, int(port))))
            line.sendall(raw)
        answers = [_post(address, _call("list_recent"), place.token) for _ in range(3)]

    assert {answer.status_code for answer in answers} == {200}


def test_an_agent_is_seen_at_work(address: str, place: Place) -> None:
    _post(address, _call("list_recent"), place.reading_token, **{"X-Cairn-Agent": "codex"})

    headers = {"Authorization": f"Bearer {place.token}"}
    changes = httpx.get(f"{address}/api/v1/changes", headers=headers).json()["items"]
    seen = [change["summary"] for change in changes if change["kind"] == "agent.seen"]
    assert {"agent": "codex"} in seen


def test_too_many_calls_are_told_when_to_come_back(
    address: str, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttling.counter, "limit", 0)

    answer = _post(address, _call("list_recent"), place.token)

    assert answer.status_code == 429
    assert 1 <= int(answer.headers["Retry-After"]) <= 60


@pytest.mark.parametrize(("tool", "calls"), [("check_diff", 65), ("search", 1)])
def test_a_check_counts_by_its_size_whether_its_length_is_said_or_not(
    address: str, place: Place, monkeypatch: pytest.MonkeyPatch, tool: str, calls: int
) -> None:
    monkeypatch.setattr(throttling, "WINDOW_SECONDS", 10**9)
    body = _call(tool, diff="x" * 100)
    body += b" " * (LARGEST_BODY - len(body))
    before = _remaining(address, place)

    said = _post(address, body, place.token)
    between = _remaining(address, place)
    unsaid = _post(address, iter((body[:1_000], body[1_000:])), place.token)

    assert "Content-Length" not in unsaid.request.headers
    assert (said.status_code, unsaid.status_code) == (200, 200)
    assert before - between == between - _remaining(address, place) == calls + 1


def _remaining(address: str, place: Place) -> int:
    headers = {"Authorization": f"Bearer {place.token}"}
    return int(httpx.get(f"{address}/api/v1/me", headers=headers).headers["RateLimit-Remaining"])


def log_of(place: Place) -> tuple[Entry, ...]:
    """Return the log of the agent's organization."""
    with entered(place.caller):
        return tuple(every_entry())


@pytest.mark.goal(name="G29")
@pytest.mark.parametrize("tool", surfaces.TOOLS)
def test_a_write_of_an_agent_is_told_once_and_a_refused_one_is_not(
    address: str, place: Place, tool: str
) -> None:
    act, given = surfaces.TOOLS[tool]
    before, body = log_of(place), _call(tool, **given)

    refused = _post(address, body, place.reading_token)
    between = log_of(place)
    answer = _post(address, body, place.token, **{"X-Cairn-Agent": "a test"})

    assert refused.json()["result"]["isError"]
    assert between == before
    (entry,) = log_of(place)[len(before) :]
    assert not answer.json()["result"].get("isError"), answer.text
    assert (entry.act, entry.surface, entry.agent) == (act, "mcp", "a test")
    assert (entry.address, entry.request_id) == ("127.0.0.1", answer.headers["x-request-id"])
    assert entry.actor_user == place.caller.user_id
    assert entry.token_id is not None
