"""What reads canaries in processes of its own: `-m tests.support.canary_program COMMAND WORLDS …`.

`plant` makes the organizations; `mix` reads from 50 coroutines and 8 threads at once; `work` reads
and claims jobs as a worker does; `storm` gives up waiting for answers; `check` says what the jobs
left undone. Each prints JSON.
"""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import django

django.setup()

import httpx  # noqa: E402
from asgiref.sync import sync_to_async  # noqa: E402
from django.db import connection  # noqa: E402

from accounts import tasks, tenancy  # noqa: E402
from accounts.authentication import entered  # noqa: E402
from accounts.models import Job  # noqa: E402
from accounts.tenancy import rls  # noqa: E402
from config.asgi import application  # noqa: E402
from memory.index.models import MemoryVector  # noqa: E402
from memory.records.models import Memory  # noqa: E402
from memory.tasks.upkeep import run_upkeep  # noqa: E402
from tests.support import canaries, canary_storm, live  # noqa: E402
from tests.support.canaries import READS, Tally, World  # noqa: E402

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
    """Give up waiting for most of many answers; compare the others, and look for what is lost."""
    with live.running() as address:
        return canary_storm.run(worlds=_worlds(worlds), times=int(times), address=address)


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
    place = PLACES[number // REQUEST_EVERY % len(PLACES)].format(slug=world.slug)
    headers = {"Cookie": f"cairn={world.session}"}
    if place.startswith("/api/"):
        headers = {"Authorization": f"Bearer {world.token}"}
    answer = await client.get(place, headers=headers)
    tally.add(world=world, seen=answer.text if answer.status_code == 200 else "")


COMMANDS: dict[str, Callable[..., dict[str, Any]]] = {
    "plant": plant, "mix": mix, "work": work, "storm": storm, "check": check,
}  # fmt: skip

if __name__ == "__main__":
    sys.stdout.write(json.dumps(COMMANDS[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])))
