"""What the second wall costs: the product's own statements with and without row-level security.

Run: `.venv/bin/python -m tests.bench.bench_walls 10000`. The same statements are asked in turns by
the application's role and by the owner, who reads past the policies; medians and their ratio.
"""

import statistics
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import psycopg
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from accounts import tenancy
from accounts.caller import Caller
from memory.records.filters import Filters
from memory.records.queries import memories
from memory.review.queries import overview
from memory.search.actions import search
from memory.search.request import SearchRequest
from tests.bench import made, measures, serving
from tests.support import people

ROUNDS = 60


def main(*, count: int) -> None:
    """Fill an organization, and ask everything by both roles in turns."""
    call_command("migrate", verbosity=0)
    organization, caller = serving.place(slug="walls")
    with people.entered(organization=organization), _lines() as (walled, free):
        made.load(caller=caller, count=count)
        for name, question in _questions(caller).items():
            _compare(name, measures.sent(question)[0], walled, free)


def _questions(caller: Caller) -> dict[str, Callable[[], object]]:
    now = timezone.now()
    request = SearchRequest(query=made.queries(count=1)[0], threshold=0.0)
    page = partial(memories.page, caller=caller, cursor=None, limit=30, now=now)
    return {
        "search": partial(search, caller=caller, request=request, now=now),
        "newest": partial(page, filters=Filters()),
        "newest of project": partial(page, filters=Filters(project="bench")),
        "by tag": partial(page, filters=Filters(tags=("rare",))),
        "by file": partial(page, filters=Filters(files=("src/nowhere.py",))),
        "count": partial(memories.count, caller=caller, filters=Filters()),
        "overview": partial(overview.overview, caller=caller, project="bench", now=now),
    }


@contextmanager
def _lines() -> Iterator[tuple[psycopg.Connection[Any], psycopg.Connection[Any]]]:
    """Open a unit of the entered organization as the application and as the owner."""
    tenant = tenancy.current()
    keys = (f'"{tenant.schema_name}", public', str(tenant.organization_id))
    ours = connection.get_connection_params()
    with connection.as_owner():
        owners = connection.get_connection_params()
    with psycopg.connect(**ours) as walled, psycopg.connect(**owners) as free:
        for line in (walled, free):
            line.execute("SET jit = off")
            line.commit()
            line.autocommit = True
            line.execute(tenancy.TURN_KEYS.replace("true", "false"), keys)
        yield walled, free


def _compare(
    name: str,
    statements: tuple[measures.Statement, ...],
    walled: psycopg.Connection[Any],
    free: psycopg.Connection[Any],
) -> None:
    times: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(ROUNDS):
        for is_walled, line in ((True, walled), (False, free)):
            times[is_walled].append(measures.timed(partial(measures.ask, line, statements)))
    with_wall, without = (statistics.median(times[is_walled]) for is_walled in (True, False))
    print(
        f"{name:>18}: {with_wall:7.2f} ms walled {without:7.2f} ms free"
        f"  ratio {with_wall / without:.2f}"
    )


if __name__ == "__main__":
    main(count=int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
