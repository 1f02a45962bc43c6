"""A real server: who may listen to the socket, nothing missed or doubled, whose address it is."""

import json
from collections.abc import Callable
from uuid import uuid4

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.support.site import Site

PATIENCE_S = 15
SESSION = "cairn"


def sign_in(site: Site, email: str) -> httpx.Client:
    """Return a browser-like client, signed in."""
    client = httpx.Client(base_url=site.url, follow_redirects=True)
    client.get("/login/")
    form = {
        "login": email,
        "password": site.password,
        "csrfmiddlewaretoken": client.cookies["cairn-csrf"],
    }
    assert client.post("/login/", data=form).status_code == 200
    return client


def listen(site: Site, client: httpx.Client | None, *, query: str, org: str = "acme",
           origin: str = "") -> ClientConnection:  # fmt: skip
    """Open the socket as a page of this person would."""
    session = client.cookies.get(SESSION) if client else ""
    return connect(
        f"{site.url.replace('http', 'ws')}/ws/o/{org}/?{query}",
        additional_headers={"Cookie": f"{SESSION}={session}"},
        origin=origin or site.url,  # type: ignore[arg-type]
    )


def cursor(client: httpx.Client) -> int:
    """Return the newest change this person can see."""
    changes, last = [{"id": 0}], 0
    while changes:
        changes = client.get(f"/o/acme/changes?after={last}").json()["changes"]
        last = changes[-1]["id"] if changes else last
    return last


def teach(agent: httpx.Client, **fields: str) -> str:
    """Remember something new through REST; return its id."""
    content = f"The nightly export named {uuid4().hex} must finish before the backup starts."
    body = {"project": "storefront", "content": content, "type": "requirement", **fields}
    answer = agent.post("memories", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["memory"]["id"])


def heard(socket: ClientConnection, wanted: Callable[[dict[str, object]], bool]) -> list[int]:
    """Return the ids of the messages up to the wanted one."""
    ids = []
    while True:
        message = json.loads(socket.recv(timeout=PATIENCE_S))
        ids.append(message["id"])
        if wanted(message):
            return ids


@pytest.fixture
def mia(running_site: Site) -> httpx.Client:
    """The owner's browser."""
    return sign_in(running_site, running_site.email)


def test_what_happened_while_away_is_heard_once(
    running_site: Site, mia: httpx.Client, agent: httpx.Client
) -> None:
    start = cursor(mia)
    first = teach(agent)
    with listen(running_site, mia, query=f"cursor={start}") as socket:
        before = heard(socket, lambda message: message["object"] == first)
    second = teach(agent)

    with listen(running_site, mia, query=f"cursor={before[-1]}") as socket:
        after = heard(socket, lambda message: message["object"] == second)

    assert sorted({*before, *after}) == before + after


def test_pages_of_another_project_hear_nothing_of_this_one(
    running_site: Site, mia: httpx.Client, agent: httpx.Client
) -> None:
    query = f"cursor={cursor(mia)}&project=warehouse"
    with listen(running_site, mia, query=query) as socket:
        teach(agent)
        wanted = teach(agent, project="warehouse")

        ids = heard(socket, lambda message: message["object"] == wanted)

    assert len(ids) == 1


def test_page_of_another_origin_is_refused(running_site: Site, mia: httpx.Client) -> None:
    with (
        pytest.raises(InvalidStatus),
        listen(running_site, mia, query="cursor=0", origin="http://elsewhere.test"),
    ):
        pass


def test_a_forged_address_is_not_believed(running_site: Site, mia: httpx.Client) -> None:
    mia.headers["X-Cairn-Organization"] = "acme"
    mia.headers["X-CSRFToken"] = mia.cookies["cairn-csrf"]
    made = mia.post("/api/v1/tokens", json={"name": "forger"}).json()
    forged = dict.fromkeys(("X-Forwarded-For", "X-Real-IP"), "203.0.113.9")
    bearer = {"Authorization": f"Bearer {made['text']}"}

    httpx.get(f"{running_site.url}/api/v1/me", headers={**bearer, **forged})

    listed = mia.get("/api/v1/tokens").json()["items"]
    used = {token["id"]: token["last_used_ip"] for token in listed}
    assert used[made["token"]["id"]] == "127.0.0.1"
