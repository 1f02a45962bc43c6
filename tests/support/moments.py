"""Named moments at which a test stops a process of the product, and jobs that are poison.

A test loads this into the worker (`celery … -I`) and the web server. When a process comes to a
moment whose file the test has put into the folder of FIRE_MOMENTS, it takes the file away and
stands still there until it is killed. Without a file nothing happens: the product runs as it is.
"""

import os
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from threading import Event
from typing import Any

from accounts import jobs
from accounts.jobs import Claim
from memory.api import memories
from memory.index import queries as index_queries
from memory.records import writes

FOLDER = Path(os.environ["FIRE_MOMENTS"])
TOO_MUCH_BYTES = 4_000_000_000
SLOTS = "slots.log"


def reach(name: str) -> None:
    """Stand still here if a test wants it."""
    try:
        (FOLDER / name).rename(FOLDER / f"{name}.reached")
    except FileNotFoundError:
        return
    Event().wait()


def abort() -> None:
    """End the process as a crash in native code does."""
    os.abort()


def take_memory() -> None:
    """Want more than a job may have."""
    bytearray(TOO_MUCH_BYTES)


def never_end() -> None:
    """Go on for ever."""
    while True:
        Event().wait(0.1)


POISON: Mapping[str, Callable[[], None]] = {
    "abort": abort,
    "memory": take_memory,
    "endless": never_end,
}


def _around(module: Any, name: str, *, before: str = "", after: str = "") -> None:
    original = getattr(module, name)

    @wraps(original)
    def passing(*args: Any, **given: Any) -> Any:
        if before:
            reach(before)
        result = original(*args, **given)
        if after:
            reach(after)
        return result

    setattr(module, name, passing)


def _count_slots() -> None:
    """Write a line for each question for a slot, and for each sweep that was begun."""
    take_slot, sweep = jobs.take_slot, jobs.sweep

    def taking(*, name: str, interval_seconds: int) -> bool:
        is_ours = take_slot(name=name, interval_seconds=interval_seconds)
        _note(f"{name} {'taken' if is_ours else 'gone'}")
        return is_ours

    def sweeping() -> dict[str, int]:
        _note("sweep begun")
        return sweep()

    jobs.take_slot, jobs.sweep = taking, sweeping


def _note(line: str) -> None:
    with (FOLDER.parent / SLOTS).open("a") as file:
        file.write(f"{line}\n")


def _run_handler(claim: Claim, *, original: Callable[[Claim], Mapping[str, Any]]) -> Any:
    if poison := claim.payload.get("poison"):
        POISON[poison]()
    if claim.attempt > 1:
        reach("retrying")
    reach("claimed")
    result = original(claim)
    reach("stored")
    return result


def install() -> None:
    """Put the moments into this process."""
    original = jobs.run_handler
    jobs.run_handler = lambda claim: _run_handler(claim, original=original)
    _count_slots()
    _around(jobs, "sweep", before="sweeping")
    _around(index_queries, "write_vectors", after="inside")
    _around(index_queries, "hold_memories", after="cutting")
    _around(writes, "insert", after="inserted")
    _around(memories, "remember", after="committed")
    _around(memories, "remember_all", after="committed")


install()
