"""How times, ratios, processor time, memory and disk are measured and printed."""

import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psutil
import psycopg
from django.db import connection

OURS = ("set_config", "SAVEPOINT", "RELEASE", "accounts_")  # not the organization's rows
Statement = tuple[str, Any]
T = TypeVar("T")
SIZES = """
SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relkind = 'r'
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Seconds: by the clock, of this process's processor, of the database's for its connection."""

    clock: float
    process: float
    backend: float


def timed(call: Callable[[], object]) -> float:
    """Return how many milliseconds a call takes."""
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1_000


def spent(call: Callable[[], T]) -> tuple[T, float]:
    """Return what a call gives, and the seconds of this process's processor that it takes."""
    started = time.process_time()
    return call(), time.process_time() - started


def cost(call: Callable[[], object]) -> Cost:
    """Return what a call costs that keeps to one connection, in a unit or out of one."""
    before = (time.perf_counter(), time.process_time(), _backend())
    call()
    after = (time.perf_counter(), time.process_time(), _backend())
    clock, process, backend = (later - sooner for later, sooner in zip(after, before, strict=True))
    return Cost(clock=clock, process=process, backend=backend)


def processor(*, process_ids: tuple[int, ...]) -> float:
    """Return the milliseconds of processor that all threads of some processes have had."""
    spent = 0
    for process_id in process_ids:
        for thread in Path(f"/proc/{process_id}/task").glob("*/schedstat"):
            with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended
                spent += int(thread.read_text().split()[0])
    return spent / 1_000_000


def sent(question: Callable[[], Any]) -> tuple[tuple[Statement, ...], Any]:
    """Return what the product asks the organization's rows for a question, and its answer."""
    kept: list[Statement] = []

    def keep(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if not any(word in str(sql) for word in OURS):
            kept.append((str(sql), params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(keep):
        answer = question()
    return tuple(kept), answer


def ask(line: psycopg.Connection[Any], statements: tuple[Statement, ...]) -> None:
    """Send statements over a connection, and read what they return."""
    for sql, params in statements:
        line.execute(sql, params).fetchall()


def backends() -> tuple[int, ...]:
    """Return the server's processes of all connections to this database.

    Of processes of other roles, the owner is told whose they are and nothing else.
    """
    with connection.as_owner(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity"
            " WHERE datname = current_database() AND usename IS NOT NULL"
        )
        return tuple(row[0] for row in cursor.fetchall())


def show(name: str, times: list[float], base: list[float]) -> None:
    """Print median, 95th percentile and the ratio of medians to a base."""
    p95 = statistics.quantiles(times, n=20)[-1]
    p50, ratio = statistics.median(times), statistics.median(times) / statistics.median(base)
    line(name, f"p50 {p50:7.2f} ms  p95 {p95:7.2f} ms  ratio {ratio:5.2f}")


def against(name: str, milliseconds: list[float], goal: float) -> None:
    """Print median and 95th percentile, each as a share of its goal in milliseconds."""
    p50, p95 = statistics.median(milliseconds), statistics.quantiles(milliseconds, n=20)[-1]
    told = f"p50 {p50:7.1f} ms ({p50 / goal:4.2f})  p95 {p95:7.1f} ms ({p95 / goal:4.2f})"
    line(name, f"{told}  goal {goal:g} ms")


def line(name: str, value: str) -> None:
    """Print one figure."""
    print(f"{name:>26}: {value}", flush=True)


def disk(*, schema_name: str) -> int:
    """Return the bytes of all tables of an organization, with their indexes."""
    with connection.as_owner(), connection.cursor() as cursor:
        cursor.execute(SIZES, [schema_name])
        return int(cursor.fetchone()[0])


def memory(*, process_id: int) -> float:
    """Return the megabytes that a process and those it started hold, shared pages by share."""
    first = psutil.Process(process_id)
    processes = [first, *first.children(recursive=True)]
    return sum(process.memory_full_info().pss for process in processes) / 1_000_000


def own_memory(*, process_id: int) -> float:
    """Return the megabytes that a process holds for itself, without the database's cache."""
    held = psutil.Process(process_id).memory_info()
    return float(held.rss - held.shared) / 1_000_000


def _backend() -> float:
    """Return the seconds of processor that the server's process of our connection has had."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return processor(process_ids=(cursor.fetchone()[0],)) / 1_000
