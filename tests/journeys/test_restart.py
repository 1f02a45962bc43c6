"""Web processes are replaced, and killed, while agents and pages use them."""

import asyncio
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from tests.journeys.test_live import cursor, listen, sign_in
from tests.support import agents
from tests.support.crashing import await_that
from tests.support.goals import Scale
from tests.support.site import Site
from tests.support.web_group import RESTARTED, process_ids

CLIENTS = 4
CALLS = 10  # of an agent before and after a restart: either process answers some
SERVICE_RESTART = 1012  # RFC 6455's registry: come back
PATIENCE_S = 120


@dataclass(slots=True, kw_only=True)
class Traffic:
    """What clients saw: answers, and what was no answer or a refusal."""

    answers: int = 0
    faults: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, send: Callable[[], httpx.Response]) -> None:
        """Send one request and count what became of it."""
        try:
            answer = send()
            fault = "" if answer.is_success else f"{answer.status_code} {answer.text[:200]}"
        except httpx.TransportError as error:
            fault = repr(error)
        with self.lock:
            self.answers += 1
            self.faults += [fault] if fault else []


@contextmanager
def traffic(site: Site) -> Iterator[Traffic]:
    """Let clients ask without a pause while the block lasts, some over kept connections."""
    seen, is_over = Traffic(), threading.Event()
    threads = [
        threading.Thread(target=_ask_on, args=(site, seen, is_over, number))
        for number in range(CLIENTS)
    ]
    for thread in threads:
        thread.start()
    try:
        await_that(lambda: seen.answers > CLIENTS)
        yield seen
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def _ask_on(site: Site, seen: Traffic, is_over: threading.Event, number: int) -> None:
    headers = {"Authorization": f"Bearer {site.token}"}
    limits = httpx.Limits(
        max_keepalive_connections=(number + 1) % 2
    )  # half of them connect each time
    with httpx.Client(base_url=site.url, headers=headers, limits=limits, timeout=60) as client:
        asks: list[Callable[[], httpx.Response]] = [
            lambda: client.post("/api/v1/search", json={"query": "how is the gate opened"}),
            lambda: client.get("/api/v1/changes", params={"after": 10**12, "wait": 2}),
            lambda: client.get("/health/live"),
        ]
        while not is_over.is_set():
            seen.ask(asks[number % len(asks)])


def web_ids(site: Site) -> set[int]:
    return process_ids(supervisor=site.supervisor)


def restart(site: Site) -> None:
    """Ask for new web processes, and wait until all of the old ones have ended."""
    before, done = web_ids(site), site.log.read_text().count(RESTARTED)
    os.kill(site.supervisor, signal.SIGHUP)
    await_that(lambda: site.log.read_text().count(RESTARTED) > done, seconds=PATIENCE_S)
    await_that(lambda: not before & web_ids(site), seconds=PATIENCE_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarted:
    """What clients saw of restarts: requests, how an open page ended, and the calls of an agent."""

    traffic: Traffic
    page_code: int
    calls_failed: tuple[bool, ...]


@pytest.fixture(scope="module")
def restarted(running_site: Site, scale: Scale) -> Restarted:
    """Restarts under load, with a page open and an agent connected."""

    async def call(times: int) -> tuple[bool, ...]:
        url, token = running_site.url, running_site.token
        failed = []
        async with agents.agent(address=url, token=token, mode="legacy") as client:
            for number in range(times):
                if number:
                    await asyncio.to_thread(restart, running_site)
                for _ in range(CALLS):
                    answer = await client.call_tool("search", {"query": "how is the gate opened"})
                    failed.append(bool(answer.is_error))
        return tuple(failed)

    browser = sign_in(running_site, running_site.email)
    query = f"cursor={cursor(browser)}"
    with listen(running_site, browser, query=query) as line, traffic(running_site) as seen:
        failed = asyncio.run(call(1 + scale.of(short=1, long=20)))
        with pytest.raises(ConnectionClosed):
            deque(line, maxlen=0)  # what came before the end
    assert line.close_code is not None
    return Restarted(traffic=seen, page_code=line.close_code, calls_failed=failed)


@pytest.mark.goal(name="G28")
def test_a_restart_refuses_and_breaks_no_request(
    restarted: Restarted, running_site: Site, figure: Callable[[str], None]
) -> None:
    seen = restarted.traffic

    figure(f"{len(seen.faults)} of {seen.answers:,} requests refused or broken over restarts")
    assert seen.answers > CLIENTS
    assert seen.faults == []
    assert len(web_ids(running_site)) == 2


def test_an_open_page_is_asked_to_come_back(restarted: Restarted) -> None:
    assert restarted.page_code == SERVICE_RESTART


def test_an_agent_over_mcp_goes_on_over_processes_and_restarts(restarted: Restarted) -> None:
    assert len(restarted.calls_failed) >= 2 * CALLS
    assert not any(restarted.calls_failed)


def test_a_killed_web_process_comes_back_while_the_other_serves(running_site: Site) -> None:
    killed = min(web_ids(running_site))
    with traffic(running_site) as seen:
        os.kill(killed, signal.SIGKILL)
        await_that(lambda: killed not in web_ids(running_site))
        broken = seen.answers
        await_that(lambda: len(web_ids(running_site)) == 2, seconds=PATIENCE_S)
        await_that(lambda: seen.answers > broken + CLIENTS)

    assert len(seen.faults) <= CLIENTS  # what it was answering; nobody was refused
    assert not [fault for fault in seen.faults if "ConnectError" in fault]
