"""Pages and single writes over HTTP, on one uvicorn process.

Run: `.venv/bin/python -m tests.bench.bench_http 10000`. One client, one connection, kept alive;
ratios are to the search of the same server.
"""

import sys
from functools import partial

import httpx
from django.core.management import call_command

from accounts.caller import Caller
from tests.bench import made, measures, serving
from tests.support import people

PAGES = ("/o/http/", "/o/http/p/bench/", "/o/http/p/bench/memories")
ROUNDS = 40


def main(*, count: int) -> None:
    """Fill an organization, serve it, and measure."""
    call_command("migrate", verbosity=0)
    organization, caller = serving.place(slug="http")
    with people.entered(organization=organization):
        made.load(caller=caller, count=count)
        with serving.served():
            _measure(caller, serving.token(caller=caller))


def _measure(caller: Caller, token: str) -> None:
    with serving.client(token=token) as client:
        for text in made.queries(count=5, seed=1):
            _search(client, text)
        searches = [
            measures.timed(partial(_search, client, text)) for text in made.queries(count=ROUNDS)
        ]
        adds = [measures.timed(partial(_add, client, number)) for number in range(ROUNDS)]
    measures.show("search", searches, searches)
    measures.show("add one", adds, searches)
    with serving.browser(caller=caller) as browser:
        for path in PAGES:
            times = [measures.timed(partial(_page, browser, path)) for _ in range(ROUNDS)]
            measures.show(path, times[5:], searches)


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
