"""Many who stop waiting: what a shared connection answers to nobody must reach nobody else.

A request that is given up leaves its reply on the way. Were the connection used again as it is, the
next one to ask would get it (OpenAI's post-mortem of 20 March 2023). So answers are given up at
random moments, and every other answer is compared; at the end each pool has all it had given.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any, Final

import httpx
from channels.layers import get_channel_layer
from django.core.cache import cache
from django.db import connection

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from teams.changes import GROUP
from tests.support.canaries import Tally, World
from tests.support.crashing import await_that

AT_ONCE: Final = 40
STAY: Final = 4  # every fourth waits for its answer
SEED: Final = 20_230_320
PATIENCE_S: Final = 20

Ask = Callable[[int], Awaitable[str]]


def run(*, worlds: tuple[World, ...], times: int, address: str) -> dict[str, Any]:
    """Storm the cache, the channel layer and the server; return what was wrong and what is lost."""
    tally = Tally(worlds=worlds)
    callers = {world.word: world.caller for world in worlds}
    connection.close()
    given_up = asyncio.run(_storms(tally, callers, times, address))
    await_that(lambda: not any(_lent().values()), seconds=PATIENCE_S)
    return {**tally.told(), "given_up": given_up, **_lent()}


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
