"""Agents and open pages on a running server: tools, frames and logs tell of nothing hidden."""

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from frontend.consumers import NOT_A_MEMBER, SIGNED_OUT
from tests.support.live import running
from tests.tenancy.isolation import probes
from tests.tenancy.isolation.probes import NONE_ID, leaks, plain, sending
from tests.tenancy.isolation.world import Asker, Thing, World, canary

pytestmark = pytest.mark.django_db

AGENTS = ("reading", "writing", "bound", "service", "stranger", "outsider", "invited")
REFUSED = ("anonymous", "removed", "inactive")
PAGES = ("viewer", "member", "elsewhere", "steward", "admin", "owner")
PATIENCE_S = 15
QUIET_S = 1.0  # after which a page has been told all there is
TOOLS = tuple(
    (name.removeprefix("mcp tool "), line)
    for name, line in probes.document()["surfaces"].items()
    if name.startswith("mcp tool ")
)


@pytest.fixture(scope="module")
def address(world: World) -> Iterator[str]:
    """The server's address."""
    with running() as address:
        yield address


@pytest.fixture
def line(address: str) -> Iterator[httpx.Client]:
    """A connection that is kept open."""
    with httpx.Client(base_url=address, timeout=20) as client:
        yield client


def call(line: httpx.Client, asker: Asker, method: str, params: dict[str, Any]) -> httpx.Response:
    """Speak MCP as a role."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"Accept": "application/json, text/event-stream"}
    if asker.token:
        headers["Authorization"] = f"Bearer {asker.token}"
    return line.post("/mcp", json=message, headers=headers)


def use(line: httpx.Client, asker: Asker, tool: str, given: dict[str, Any]) -> str:
    """Use a tool as a role."""
    params = {"name": tool, "arguments": given}
    return call(line, asker, "tools/call", params).text


def hidden_things(world: World, asker: Asker, kind: str) -> Iterator[tuple[Thing, dict[str, str]]]:
    """Yield what is hidden from a role, with the parts that name it and those that name nothing."""
    for thing in world.things:
        if thing.kind == kind and thing.label not in asker.sees:
            yield thing, {**thing.parts, **dict.fromkeys(("id", "ref"), NONE_ID)}


@pytest.mark.goal(name="G1")
def test_no_tool_tells_of_anything_hidden(
    world: World, line: httpx.Client, figure: Callable[[str], None]
) -> None:
    faults, sent = [], 0
    for asker in (world.askers[name] for name in AGENTS):
        for tool, row in TOOLS:
            for thing, nothing in hidden_things(world, asker, row["about"]):
                texts = [
                    plain(text=use(line, asker, tool, given), sent=parts.values())
                    for parts in (thing.parts, nothing)
                    for given in (sending(value=row["send"], parts=parts),)
                ]
                told = leaks(world=world, asker=asker, text=texts[0], tells=frozenset())
                sent += 2
                if told or texts[0] != texts[1] or '"isError":true' not in texts[0]:
                    faults.append((asker.name, tool, thing.label, told, texts))

    assert faults == []
    figure(f"{len(faults)} of {sent:,} uses of tools told of anything hidden")


def test_every_tool_is_listed_and_reading_tokens_see_none_that_writes(
    world: World, line: httpx.Client
) -> None:
    offered = {
        name: {tool["name"] for tool in tools(line, world.askers[name])}
        for name in ("writing", "reading")
    }

    assert offered["writing"] == {name for name, _row in TOOLS}
    writes = {"add_memory", "extract_from_conversation", "push_note"}
    assert offered["reading"] == offered["writing"] - writes


def tools(line: httpx.Client, asker: Asker) -> Any:
    """Return the tools that a role is offered."""
    return call(line, asker, "tools/list", {}).json()["result"]["tools"]


@pytest.mark.parametrize("role", REFUSED)
def test_without_a_living_token_no_tool_answers(
    world: World, line: httpx.Client, role: str
) -> None:
    for tool, row in TOOLS:
        answer = call(
            line, world.askers[role], "tools/call", {"name": tool, "arguments": row["send"]}
        )

        assert answer.status_code == 401
        assert "canary" not in answer.text


@pytest.mark.parametrize("role", AGENTS)
def test_agents_are_told_of_what_is_theirs_alone(
    world: World, line: httpx.Client, role: str
) -> None:
    asker = world.askers[role]
    for tool, given in (
        ("list_recent", {"limit": 50}),
        ("search", {"query": "stone", "limit": 50}),
        ("search", {"query": "canary", "mode": "pattern", "limit": 50}),
        ("get_timeline", {"limit": 50}),
        ("context", {"query": "stone", "threshold": 0, "budget_tokens": 32_000}),
    ):
        text = use(line, asker, tool, given)

        assert leaks(world=world, asker=asker, text=text, tells=frozenset()) == []
        assert (f"{canary('acme/open')} is" in text) == ("acme/open" in asker.sees)


def listen(address: str, asker: Asker, *, org: str, query: str = "cursor=0") -> ClientConnection:
    """Open a page's socket as a role."""
    session = asker.client.cookies.get("cairn")
    cookie = f"cairn={session.value}" if session else ""
    return connect(
        f"{address.replace('http', 'ws')}/ws/o/{org}/?{query}",
        additional_headers={"Cookie": cookie},
        origin=address,  # type: ignore[arg-type]
    )


def heard(socket: ClientConnection) -> str:
    """Return all frames that a page is sent, until there is silence."""
    frames = []
    try:
        while True:
            frames.append(str(socket.recv(timeout=QUIET_S if frames else PATIENCE_S)))
    except TimeoutError:
        return "\n".join(frames)


def ending(socket: ClientConnection) -> int:
    """Return the code with which a page is sent away before it is told anything."""
    with socket, pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=PATIENCE_S)
    assert closed.value.rcvd is not None
    return int(closed.value.rcvd.code)


@pytest.mark.parametrize("role", PAGES)
def test_open_pages_are_told_of_what_is_theirs_alone(world: World, address: str, role: str) -> None:
    asker = world.askers[role]
    with listen(address, asker, org=asker.home) as socket:
        text = heard(socket)

    assert leaks(world=world, asker=asker, text=text, tells=frozenset()) == []
    assert canary("acme/open") in text
    assert {json.loads(frame)["type"] for frame in text.splitlines()} == {"change"}


@pytest.mark.parametrize("role", ["viewer", "member", "admin", "stranger"])
def test_a_socket_about_a_hidden_project_ends_like_one_about_nothing(
    world: World, address: str, role: str
) -> None:
    asker = world.askers[role]
    for thing, _nothing in hidden_things(world, asker, "project"):
        for project in (thing.parts["slug"], thing.parts["ref"], "nothing", NONE_ID):
            socket = listen(address, asker, org=asker.home, query=f"cursor=0&project={project}")
            assert ending(socket) == NOT_A_MEMBER


@pytest.mark.parametrize("role", ["outsider", "invited", "stranger", "removed"])
def test_a_socket_of_a_foreign_organization_ends_like_one_of_none(
    world: World, address: str, role: str
) -> None:
    asker = world.askers[role]
    for org in (world.organizations["acme"], "nowhere"):
        assert ending(listen(address, asker, org=org)) == NOT_A_MEMBER


@pytest.mark.parametrize("role", ["anonymous", "inactive", "writing"])
def test_nobody_opens_a_socket_without_a_living_session(
    world: World, address: str, role: str
) -> None:
    asker = world.askers[role]
    for org in (asker.home, "nowhere"):
        assert ending(listen(address, asker, org=org)) == SIGNED_OUT


def test_what_an_open_page_sends_changes_nothing(world: World, address: str) -> None:
    asker = world.askers["viewer"]
    with listen(address, asker, org=asker.home) as socket:
        for kind in ("subscribe", "feed.grew", "group_send"):
            socket.send(json.dumps({"type": kind, "group": world.organizations["globex"]}))
        text = heard(socket)

    assert leaks(world=world, asker=asker, text=text, tells=frozenset()) == []


def test_no_log_line_holds_a_text_of_anybody(
    world: World, line: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in AGENTS:
        use(line, world.askers[name], "search", {"query": "stone", "limit": 50})
        use(line, world.askers[name], "list_recent", {"limit": 50})

    ours = [
        record for record in caplog.records if not record.name.startswith(("django.db", "httpx"))
    ]
    assert not [record for record in ours if "canary-" in record.getMessage()]
