"""Requests of one organization take turns, so that others are answered (config.admission)."""

import asyncio
import threading
from contextlib import AsyncExitStack, suppress
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from accounts import metrics
from accounts.api import jobs
from accounts.errors import InvalidToken, RateLimited
from config import admission, telemetry
from config.admission import Gate
from tests.support.agents import agent
from tests.support.live import Place
from tests.support.served import address, place

__all__ = ["address", "place"]


def request(token: str, *, peer: str = "10.0.0.1", path: str = "/api/v1/x") -> dict[str, Any]:
    headers = [(b"authorization", f"Bearer {token}".encode())]
    return {"path": path, "headers": headers, "client": (peer, 1), "query_string": b""}


class Crowd:
    """Requests that have come to a gate, and those at work, in the order they were let in."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.at_work: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []
        self.ends: dict[str, asyncio.Event] = {}

    async def come(self, token: str, *, times: int = 1, owner: UUID | None = None) -> None:
        """Let requests of a credential come, and see who is let in."""
        for number in range(times):
            name = f"{token}{number}"
            self.ends[name] = asyncio.Event()
            self.tasks.append(asyncio.create_task(self._work(name, token, owner)))
        await self.settle()

    async def settle(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    async def finish(self, name: str) -> None:
        self.ends[name].set()
        await self.settle()

    async def _work(self, name: str, token: str, owner: UUID | None) -> None:
        async with self.gate.turn(request(token)):
            if owner is not None:
                self.gate.learn(organization_id=owner)
            self.at_work.append(name)
            await self.ends[name].wait()
            self.at_work.remove(name)


async def known(gate: Gate, token: str, owner: UUID) -> None:
    async with gate.turn(request(token)):
        gate.learn(organization_id=owner)


def last_noted(gate: Gate) -> float:
    return max(share.noted_at for share in gate.shares.values())


async def test_who_asks_alone_has_several_at_work_and_further_ones_follow() -> None:
    crowd = Crowd(Gate(most_at_work=2, most_waiting=9))

    await crowd.come("a", times=4)
    first = list(crowd.at_work)
    await crowd.finish("a0")

    assert first == ["a0", "a1"]
    assert crowd.at_work == ["a1", "a2"]


async def test_a_flood_has_one_at_work_while_others_ask_and_they_go_first() -> None:
    gate = Gate(most_at_work=2, most_waiting=9)
    await known(gate, "flood", uuid4())
    await known(gate, "light", uuid4())
    crowd = Crowd(gate)
    await crowd.come("flood", times=6)
    for share in gate.shares.values():
        share.used_seconds += 9.0 * share.at_work

    await crowd.come("light", times=2)
    let_in = list(crowd.at_work)
    await crowd.finish("flood0")
    still_two = [name for name in crowd.at_work if name.startswith("flood")]

    assert let_in == ["flood0", "flood1", "light0", "light1"]
    assert still_two == ["flood1"]


async def test_two_tokens_of_an_organization_and_made_up_ones_of_an_address_share_a_turn() -> None:
    gate, organization = Gate(most_at_work=1, most_waiting=9), uuid4()
    for token in ("one", "two"):
        await known(gate, token, organization)
    crowd = Crowd(gate)

    await crowd.come("one")
    await crowd.come("two")
    await crowd.come("made-up")
    await crowd.come("made-up-too")

    assert crowd.at_work == ["one0", "made-up0"]


async def test_too_many_that_wait_and_too_long_a_wait_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission, "LONGEST_WAIT_SECONDS", 0.01)
    gate = Gate(most_at_work=1, most_waiting=1)

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(gate.turn(request("a")))
        waiting = asyncio.create_task(stack.enter_async_context(gate.turn(request("a"))))
        await asyncio.sleep(0)
        with pytest.raises(RateLimited) as many:
            await stack.enter_async_context(gate.turn(request("a")))
        with pytest.raises(RateLimited) as late:
            await waiting
    async with gate.turn(request("a")):
        pass

    assert many.value.retry_after_seconds > 0
    assert late.value.retry_after_seconds > 0


async def test_who_leaves_while_waiting_takes_no_place() -> None:
    crowd = Crowd(Gate(most_at_work=1, most_waiting=9))
    await crowd.come("a", times=3)

    crowd.tasks[1].cancel()
    with suppress(asyncio.CancelledError):
        await crowd.tasks[1]
    await crowd.finish("a0")

    assert crowd.at_work == ["a2"]


async def test_who_has_used_little_is_not_held_back_by_others() -> None:
    gate = Gate(most_at_work=2, most_waiting=9)
    await known(gate, "one", uuid4())
    await known(gate, "other", uuid4())
    crowd = Crowd(gate)
    await crowd.come("one")
    await crowd.come("other")
    for number, share in enumerate(gate.shares.values()):
        share.used_seconds = 0.02 * number

    await crowd.come("one", times=2)
    await crowd.come("other", times=2)

    assert crowd.at_work == ["one0", "other0", "one0", "other0"]


async def test_behind_a_request_that_lasts_long_another_is_let_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission, "LONG_SECONDS", 0.0)
    gate = Gate(most_at_work=2, most_waiting=9)
    await known(gate, "flood", uuid4())
    await known(gate, "light", uuid4())
    for share in gate.shares.values():
        share.used_seconds = 9.0
    crowd = Crowd(gate)

    await crowd.come("flood")
    await crowd.come("flood", times=2)

    assert len(crowd.at_work) == 2


async def test_a_call_that_waits_for_news_has_no_turn_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission, "HEAVY_SECONDS", 0.0)
    gate = Gate(most_at_work=1, most_waiting=0)
    at_work = []
    async with gate.turn(request("a")):
        with jobs.idle.get()():
            await asyncio.sleep(0)
            async with gate.turn(request("a")):
                at_work = [share.at_work for share in gate.shares.values()]
        await asyncio.sleep(0)
        with pytest.raises(RateLimited):
            async with gate.turn(request("a")):
                pass

    assert at_work == [1]
    assert [share.at_work for share in gate.shares.values()] == [0]


async def test_addresses_of_one_network_share_a_turn() -> None:
    gate = Gate(most_at_work=1, most_waiting=0)

    async with gate.turn(request("made-up", peer="2001:db8::1")):
        with pytest.raises(RateLimited):
            async with gate.turn(request("made-up-too", peer="2001:db8::2")):
                pass
        async with gate.turn(request("made-up-too", peer="2001:db8:0:1::2")):
            pass


async def test_a_credential_that_is_no_longer_good_counts_for_its_network() -> None:
    gate, organization = Gate(most_at_work=1, most_waiting=0), uuid4()
    await known(gate, "revoked", organization)
    await known(gate, "good", organization)
    with pytest.raises(InvalidToken):
        async with gate.turn(request("revoked")):
            raise InvalidToken(detail="It was revoked.")

    async with gate.turn(request("revoked")), gate.turn(request("good")):
        at_work = [share.at_work for share in gate.shares.values()]

    assert sorted(at_work) == [1, 1]


@pytest.mark.django_db
async def test_a_token_used_over_mcp_alone_is_learned(
    address: str, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission.gate, "shares", {})
    async with agent(address=address, token=place.token, mode="legacy") as client:
        await client.list_tools()

    assert any(isinstance(owner, UUID) for owner in admission.gate.shares)


@pytest.mark.django_db
async def test_calls_are_answered_while_one_waits_for_news(
    address: str, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_ending = threading.Event()
    monkeypatch.setattr(jobs, "_is_ending", is_ending)
    monkeypatch.setattr(admission.gate, "most_at_work", 1)
    headers = {"Authorization": f"Bearer {place.token}"}
    news = {"after": 10**12, "wait": 30}
    async with httpx.AsyncClient(base_url=address, headers=headers, timeout=60) as client:
        await client.get("/api/v1/projects")  # whose the token is
        before = last_noted(admission.gate)
        waiting = asyncio.create_task(client.get("/api/v1/changes", params=news))
        while last_noted(admission.gate) == before:
            await asyncio.sleep(0)  # until it has come
        answer = await client.get("/api/v1/projects")
        is_waiting = not waiting.done()
        is_ending.set()
        last = await waiting

    assert (answer.status_code, is_waiting, last.status_code) == (200, True, 200)


def refused_count() -> float:
    """Return how many requests that came to no view were answered by 429 in this process."""
    return float(metrics.REQUESTS.labels(telemetry.NOWHERE, "GET", 429)._value.get())


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate of the running server lets nobody in."""
    monkeypatch.setattr(admission.gate, "most_at_work", 0)
    monkeypatch.setattr(admission.gate, "most_waiting", 0)


@pytest.mark.django_db
@pytest.mark.usefixtures("closed")
async def test_a_refusal_says_when_to_come_again_and_liveness_is_answered(
    address: str, place: Place
) -> None:
    headers = {"Authorization": f"Bearer {place.token}", "X-Request-Id": "mine-1"}
    before = refused_count()
    async with httpx.AsyncClient(base_url=address, headers=headers) as client:
        rest = await client.get("/api/v1/projects")
        mcp = await client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
        live = await client.get("/health/live")

    assert (rest.status_code, rest.headers["Content-Type"]) == (429, "application/problem+json")
    assert rest.json()["code"] == "rate_limited"
    assert int(rest.headers["Retry-After"]) > 0
    assert (rest.headers["X-Request-Id"], rest.json()["request_id"]) == ("mine-1", "mine-1")
    assert refused_count() == before + 1
    assert mcp.status_code == 429
    assert int(mcp.headers["Retry-After"]) > 0
    assert live.status_code == 200


@pytest.mark.django_db
async def test_an_open_gate_lets_agents_work(address: str, place: Place) -> None:
    async with agent(address=address, token=place.token, mode="legacy") as client:
        answers = await asyncio.gather(*(client.list_tools() for _ in range(20)))

    assert all(answer.tools for answer in answers)
