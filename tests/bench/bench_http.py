"""Pages and single writes over HTTP, on one uvicorn process.

Run: `.venv/bin/python -m tests.bench.bench_http 10000`. One client, one connection, kept alive;
ratios are to the search of the same server. Processor time is that of the server and of Postgres.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import httpx
from django.core.management import call_command

from accounts.caller import Caller
from tests.bench import made, measures, serving
from tests.support import people

PAGES = ("/o/http/", "/o/http/p/bench/", "/o/http/p/bench/memories")
ROUNDS = 40
WARMING = 20  # calls before those that count: each of the pooled connections has to be warm
CALLS = WARMING + 2 * ROUNDS  # for the clock, then for the processor: asking for it cools caches


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """Milliseconds of each call."""

    clock: list[float]
    processor: list[float]


def main(*, count: int) -> None:
    """Fill an organization, serve it, and measure."""
    call_command("migrate", verbosity=0)
    organization, caller = serving.place(slug="http")
    with people.entered(organization=organization):
        made.load(caller=caller, count=count)
        with serving.served() as server:
            _measure(caller, serving.token(caller=caller), server.pid)


def _measure(caller: Caller, token: str, server_id: int) -> None:
    texts = made.queries(count=CALLS, seed=1)
    with serving.client(token=token) as client:
        searches = _taken([partial(_search, client, text) for text in texts], server_id)
        adds = [partial(_add, client, number) for number in range(CALLS)]
        _show("search", searches, searches)
        _show("add one", _taken(adds, server_id), searches)
    with serving.browser(caller=caller) as browser:
        for path in PAGES:
            rounds = [partial(_page, browser, path)] * CALLS
            _show(path, _taken(rounds, server_id), searches)


def _taken(calls: list[Callable[[], None]], server_id: int) -> _Taken:
    """Make the calls; time the first by the clock, the last by the server's and Postgres' work."""
    clock = [measures.timed(call) for call in calls[:-ROUNDS]]
    spent = []
    for call in calls[-ROUNDS:]:
        workers = (server_id, *measures.backends())
        before = measures.processor(process_ids=workers)
        call()
        spent.append(measures.processor(process_ids=workers) - before)
    return _Taken(clock=clock[WARMING:], processor=spent)


def _show(name: str, taken: _Taken, base: _Taken) -> None:
    measures.show(name, taken.clock, base.clock)
    measures.show("its processor time", taken.processor, base.processor)


def _page(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200, answer.status_code


def _search(client: httpx.Client, text: str) -> None:
    answer = client.post("/api/v1/search", json={"query": text, "threshold": 0})
    assert answer.status_code == 200, answer.text
    assert answer.json()["results"]


def _add(client: httpx.Client, number: int) -> None:
    content = f"Benchmark note {number}: the queue of worker {number * 7919} drains in order."
    body = {"project": "bench", "type": "fact", "content": content}
    answer = client.post("/api/v1/memories", json=body)
    assert answer.status_code in {200, 201}, answer.text


if __name__ == "__main__":
    main(count=int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
