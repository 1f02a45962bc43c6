"""Many threads doing the same at once, each with a connection of its own."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import monotonic
from typing import Any

from django.db import connection

from accounts import tenancy
from accounts.models import Organization
from tests.support import people

LONGEST_WAIT = 20  # seconds until another transaction is seen to wait
THREADS = 7  # fewer than the pool has connections, so that all of them truly run at once


def race(work: Callable[[int], Any], *, times: int, threads: int = THREADS) -> list[Any]:
    """Call `work` with 0 to `times` - 1 from several threads; return the results in that order."""

    def alone(number: int) -> Any:
        try:
            return work(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=threads) as pool:
        return list(pool.map(alone, range(times)))


def race_inside(
    organization: Organization, work: Callable[[int], Any], *, times: int, threads: int = THREADS
) -> list[Any]:
    """Race inside an organization, as requests for it would."""

    def inside(number: int) -> Any:
        with people.entered(organization=organization):
            return work(number)

    return race(inside, times=times, threads=threads)


def one_then_another(
    organization: Organization, one: Callable[[], Any], other: Callable[[], Any]
) -> list[Any]:
    """Do one thing and, before it is committed, begin another one that waits for it."""
    is_done = Event()

    def act(number: int) -> Any:
        if number:
            assert is_done.wait(LONGEST_WAIT)
            return other()
        with tenancy.unit():
            answer = one()
            is_done.set()
            _wait_for_waiting()
        return answer

    return race_inside(organization, act, times=2, threads=2)


def _wait_for_waiting() -> None:
    """Return once another transaction waits for a lock of ours."""
    until = monotonic() + LONGEST_WAIT
    with connection.cursor() as cursor:
        while monotonic() < until:
            cursor.execute(
                "SELECT count(*) FROM pg_locks AS l WHERE NOT granted"
                " AND pg_backend_pid() = ANY(pg_blocking_pids(l.pid))"
            )
            if cursor.fetchone()[0]:
                return
    raise AssertionError("nobody waited")
