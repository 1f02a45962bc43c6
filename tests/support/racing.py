"""Many threads doing the same at once, each with a connection of its own."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection

from accounts.models import Organization
from tests.support import people

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
