"""What reads canaries in processes of its own: `-m tests.support.canary_program COMMAND WORLDS …`.

`plant` makes the organizations; `mix` reads from 50 coroutines and 8 threads at once; `work` reads
and claims jobs as a worker does; `storm` gives up waiting for answers; `check` says what the jobs
left undone. Each prints JSON.

A request that is given up leaves its reply on the way. Were the connection used again as it is, the
next one to ask would get it (OpenAI's post-mortem of 20 March 2023). So `storm` gives answers up at
random moments, and compares every other one; at the end each pool has all it had given.
"""

import asyncio
import json
import random
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import django

django.setup()

import httpx  # noqa: E402
from asgiref.sync import sync_to_async  # noqa: E402
from channels.layers import get_channel_layer  # noqa: E402
from django.core.cache import cache  # noqa: E402
from django.db import connection  # noqa: E402

from accounts import tasks, tenancy  # noqa: E402
from accounts.authentication import entered  # noqa: E402
from accounts.caller import Caller  # noqa: E402
from accounts.models import Job  # noqa: E402
from accounts.tenancy import rls  # noqa: E402
from config.asgi import application  # noqa: E402
from memory.index.models import MemoryVector  # noqa: E402
from memory.records.models import Memory  # noqa: E402
from memory.tasks.upkeep import run_upkeep  # noqa: E402
from teams.changes import GROUP  # noqa: E402
from tests.support import canaries, live  # noqa: E402
from tests.support.canaries import READS, Tally, World  # noqa: E402
from tests.support.crashing import await_that  # noqa: E402

COROUTINES = 50
THREADS = 8
WRITE_EVERY = 40
REQUEST_EVERY = 10  # a whole request costs as much as ten reads
JOB_EVERY = 10
CLOCK_EVERY = 40
INTERVAL_S = 1
QUEUE = "interactive"
ADDRESS = "http://127.0.0.1:8000"
PLACES = ("/api/v1/memories?limit=10", "/api/v1/changes?limit=10", "/o/{slug}/p/shop/memories")
AT_ONCE = 40
STAY = 4  # every fourth waits for its answer
SEED = 20_230_320
PATIENCE_S = 20
Ask = Callable[[int], Awaitable[str]]


def plant(worlds: Path, number: str) -> dict[str, Any]:
    """Make the organizations and keep how to reach them."""
    now = datetime.now(UTC)
    made = [asdict(canaries.plant(number=place, now=now)) for place in range(int(number))]
    worlds.write_text(json.dumps(made))
    return {"planted": len(made)}


def mix(worlds: Path, first: str, times: str) -> dict[str, Any]:
    """Take turns from coroutines and threads of one process."""
    tally = Tally(worlds=_worlds(worlds))
    turns = iter(range(int(first), int(first) + int(times)))
    with ThreadPoolExecutor(max_workers=THREADS) as threads:
        done = [threads.submit(_in_thread, tally, turns) for _ in range(THREADS)]
        asyncio.run(_in_coroutines(tally, turns))
        for future in done:
            future.result()
    return tally.told()


def work(worlds: Path, first: str, times: str) -> dict[str, Any]:
    """Take turns as a worker process does that claims jobs and is called by the clock between."""
    tally = Tally(worlds=_worlds(worlds))
    for number in range(int(first), int(first) + int(times)):
        if number % JOB_EVERY == 0:
            tasks.wake(QUEUE)
        if number % CLOCK_EVERY == 0:
            tasks.sweep(INTERVAL_S)
            run_upkeep("merge_access", INTERVAL_S)
        _turn(tally, number)
    return tally.told()


def storm(worlds: Path, times: str) -> dict[str, Any]:
    """Storm the cache, the channel layer and the server; return what was wrong and what is lost."""
    with live.running() as address:
        tally = Tally(worlds=_worlds(worlds))
        callers = {world.word: world.caller for world in tally.worlds}
        connection.close()
        given_up = asyncio.run(_storms(tally, callers, int(times), address))
        await_that(lambda: not any(_lent().values()), seconds=PATIENCE_S)
        return {**tally.told(), "given_up": given_up, **_lent()}


def check(worlds: Path) -> dict[str, Any]:
    """Do the jobs that are left, and count what they missed."""
    while QUEUE in rls.due_queues():
        tasks.wake(QUEUE)
    found: Counter[str] = Counter()
    for world in _worlds(worlds):
        with entered(world.caller), tenancy.unit():
            jobs = tuple(Job.objects.filter(queue=QUEUE))
            found["jobs"] += len(jobs)
            found["undone"] += sum(job.state != Job.State.DONE for job in jobs)
            found["gone"] += sum(job.result.get("gone", 0) for job in jobs)
            found["without_vector"] += Memory.objects.count() - MemoryVector.objects.count()
    return dict(found)


def _worlds(file: Path) -> tuple[World, ...]:
    return tuple(World(**world) for world in json.loads(file.read_text()))


def _turn(tally: Tally, number: int) -> None:
    world = tally.world(number)
    now = datetime.now(UTC)
    if number % WRITE_EVERY == 0:
        seen = canaries.write(world=world, number=number, now=now)
        tally.add(world=world, seen=seen, writes=1)
        return
    tally.add(world=world, seen=READS[number % len(READS)](world, now))


def _turn_and_close(tally: Tally, number: int) -> None:
    try:
        _turn(tally, number)
    finally:
        connection.close()


def _in_thread(tally: Tally, turns: Any) -> None:
    for number in turns:
        _turn_and_close(tally, number)


async def _in_coroutines(tally: Tally, turns: Any) -> None:
    transport = httpx.ASGITransport(app=application)
    async with httpx.AsyncClient(transport=transport, base_url=ADDRESS, timeout=60) as client:
        await asyncio.gather(*(_in_coroutine(tally, turns, client) for _ in range(COROUTINES)))


async def _in_coroutine(tally: Tally, turns: Any, client: httpx.AsyncClient) -> None:
    for number in turns:
        if number % REQUEST_EVERY == 1:
            await _request(tally, number, client)
        else:
            await sync_to_async(_turn_and_close, thread_sensitive=False)(tally, number)


async def _request(tally: Tally, number: int, client: httpx.AsyncClient) -> None:
    world = tally.world(number)
    place = PLACES[number // REQUEST_EVERY % len(PLACES)].format(slug=world.word)
    headers = {"Cookie": f"cairn={world.session}"}
    if place.startswith("/api/"):
        headers = {"Authorization": f"Bearer {world.token}"}
    answer = await client.get(place, headers=headers)
    tally.add(world=world, seen=answer.text if answer.status_code == 200 else "")


async def _storms(tally: Tally, callers: dict[str, Caller], times: int, address: str) -> int:
    async def cached(number: int) -> str:
        with entered(callers[tally.world(number).word]):
            return str(await cache.aget(tenancy.key("song")))

    async def requested(number: int) -> str:
        world = tally.world(number)
        headers = {"Authorization": f"Bearer {world.token}"}
        return (await client.get("/api/v1/memories?limit=5", headers=headers)).text

    once = httpx.Limits(max_keepalive_connections=0)  # a kept one may end as it is used again
    async with httpx.AsyncClient(base_url=address, timeout=60, limits=once) as client:
        given_up = await _given_up(tally, cached, times, spread_s=0.02)
        given_up += await _given_up(tally, requested, times, spread_s=0.2)
    return given_up + await _groups(tally, callers, times)


async def _given_up(tally: Tally, ask: Ask, times: int, *, spread_s: float) -> int:
    """Ask `times`, stop waiting for most within `spread_s`; compare the rest, count the others."""
    chance = random.Random(SEED)
    loop = asyncio.get_running_loop()
    ended = 0
    for first in range(0, times, AT_ONCE):
        numbers = range(first, min(first + AT_ONCE, times))
        tasks = [asyncio.ensure_future(ask(number)) for number in numbers]
        for number, task in zip(numbers, tasks, strict=True):
            if number % STAY:
                loop.call_later(chance.uniform(0, spread_s), task.cancel)
        for number, answer in zip(
            numbers, await asyncio.gather(*tasks, return_exceptions=True), strict=True
        ):
            if isinstance(answer, str):
                tally.add(world=tally.world(number), seen=answer)
            else:
                assert isinstance(answer, asyncio.CancelledError), answer
                ended += 1
    return ended


async def _groups(tally: Tally, callers: dict[str, Caller], times: int) -> int:
    """Announce in every organization's group, mostly given up; each hears of its own alone."""
    layer: Any = get_channel_layer()
    groups = {word: _group(caller) for word, caller in callers.items()}
    channels = {word: await layer.new_channel() for word in groups}
    for word, channel in channels.items():
        await layer.group_add(groups[word], channel)

    async def announced(number: int) -> str:
        word = tally.world(number).word
        await layer.group_send(groups[word], {"type": "feed.grew", "of": word})
        return word

    ended = await _given_up(tally, announced, times, spread_s=0.02)
    for world in tally.worlds:
        await layer.group_send(groups[world.word], {"type": "last", "of": world.word})
        tally.add(world=world, seen=await _heard(layer, channels[world.word]))
    await layer.flush()
    return ended


def _group(caller: Caller) -> str:
    with entered(caller):
        return tenancy.group(GROUP)


async def _heard(layer: Any, channel: str) -> str:
    """Return all that a channel hears until the last message."""
    heard = ""
    while not heard.endswith(" last"):
        message = await asyncio.wait_for(layer.receive(channel), timeout=PATIENCE_S)
        heard += f" {message['of']} {message['type']}"
    return heard


def _lent() -> dict[str, int]:
    """Return how many connections have been taken from the pools and not given back."""
    database = connection.pool.get_stats()  # type: ignore[attr-defined]
    stores = cache._cache._pools.values()  # type: ignore[attr-defined]
    return {
        "lent_by_postgres": database["pool_size"] - database["pool_available"],
        "lent_by_redis": sum(len(store._in_use_connections) for store in stores),
    }


COMMANDS: dict[str, Callable[..., dict[str, Any]]] = {
    "plant": plant, "mix": mix, "work": work, "storm": storm, "check": check,
}  # fmt: skip

if __name__ == "__main__":
    sys.stdout.write(json.dumps(COMMANDS[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])))
