"""Searching in many organizations from one process: what changing between them costs.

Run: `.venv/bin/python -m tests.bench.bench_tenants 20 1000`, organizations and memories of each; a
thousand organizations take a quarter of an hour to make. The same questions go to one organization
alone, to twenty in turns and to all in random order, over one connection; then the memory that the
connection's server process has come to hold.
"""

import random
import sys
import time
from functools import partial

from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from accounts.caller import Caller
from accounts.models import Organization
from memory.search.actions import search
from memory.search.request import SearchRequest
from tests.bench import made, measures, serving
from tests.support import people

ROUNDS = 100
HOT = 20
Place = tuple[Organization, Caller]


def main(*, tenants: int, count: int) -> None:
    """Fill the organizations and ask in three patterns."""
    call_command("migrate", verbosity=0)
    started = time.perf_counter()
    places = [serving.place(slug=f"tenant-{number}") for number in range(tenants)]
    print(f"{tenants:,} organizations of {count:,} memories")
    measures.line("making one", f"{(time.perf_counter() - started) / tenants:.2f} s")
    started = time.perf_counter()
    for number, (organization, caller) in enumerate(places):
        with people.entered(organization=organization):
            made.load(caller=caller, count=count, seed=number)
    measures.line("loading one", f"{(time.perf_counter() - started) / tenants:.2f} s")
    connection.close()
    chance = random.Random(5)
    patterns = {
        "one alone": [places[0]] * ROUNDS,
        f"{HOT} in turns": [places[number % min(HOT, tenants)] for number in range(ROUNDS)],
        "any of all": [chance.choice(places) for _ in range(ROUNDS)],
    }
    alone: list[float] = []
    for name, visited in patterns.items():
        _warm(visited)
        times, spent = _ask_each(visited)
        alone = alone or spent
        measures.line(f"{name}, by the clock", f"{sum(times) / len(times):.1f} ms a search")
        measures.show("its processor time", spent, alone)
    measures.line("server process", f"{measures.own_memory(process_id=_server_process()):.0f} MB")


def _warm(visited: list[Place]) -> None:
    for place in dict.fromkeys(organization.slug for organization, _ in visited[:HOT]):
        organization, caller = next(one for one in visited if one[0].slug == place)
        _ask(organization, caller, "what was decided about the first start")


def _ask_each(visited: list[Place]) -> tuple[list[float], list[float]]:
    times, spent = [], []
    workers = (_server_process(),)
    for text, (organization, caller) in zip(made.queries(count=ROUNDS), visited, strict=True):
        before = measures.processor(process_ids=workers)
        times.append(measures.timed(partial(_ask, organization, caller, text)))
        spent.append(measures.processor(process_ids=workers) - before)
    return times, spent


def _ask(organization: Organization, caller: Caller, text: str) -> None:
    with people.entered(organization=organization):
        search(caller=caller, request=SearchRequest(query=text, threshold=0.0), now=timezone.now())


def _server_process() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


if __name__ == "__main__":
    given = [int(one) for one in sys.argv[1:]]
    main(tenants=given[0] if given else 20, count=given[1] if len(given) > 1 else 1_000)
