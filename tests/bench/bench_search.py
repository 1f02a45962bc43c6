"""Search in one organization of many sizes: pgvector alone, bare SQL, the action, HTTP; memory.

Run: `.venv/bin/python -m tests.bench.bench_search 1000 10000 100000`; about six minutes, a million
memories half an hour more. Pgvector alone is one exact scan for the 30 nearest; all ratios are to
it. Bare SQL is what the action itself sends for the organization's rows, sent again alone on a
connection of its own, in turns with the action and the request for the same question.
Processor time counts every process that works for a way: ratios of it do not hang on what else the
machine does.
BENCH_EMBEDDER names another embedder than hashed words, which take no time;
BENCH_HOME a folder that keeps what is loaded, which takes most of the time.
"""

import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import psycopg
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from accounts import tenancy
from accounts.caller import Caller
from accounts.models import Organization
from memory.index import queries as index_queries
from memory.index.actions import embedding
from memory.search.actions import search
from memory.search.request import SearchRequest
from tests.bench import made, measures, serving
from tests.support import people

SIZES = (1_000, 10_000, 100_000)
QUESTIONS = 60
WARMING = 5
ALONE = "pgvector alone"
NEAREST = """
SELECT memory_id FROM memory_memoryvector WHERE live AND (%(project)s::text IS NULL
    OR project_id = (SELECT id FROM teams_project WHERE slug = %(project)s))
ORDER BY (unit <#> %(query)s::halfvec) + 0 LIMIT 30
"""
RANGES = (("the whole organization", None), ("a project of 5 %", made.PROJECTS[1]))
CLIENTS = 8
SECONDS = 8.0


def main(*, sizes: tuple[int, ...]) -> None:
    """Measure each size in an organization of its own, in the same database."""
    call_command("migrate", verbosity=0)
    for count in sizes:
        slug = f"bench-{count}"
        kept = serving.kept_place(slug=slug)
        organization, caller = kept or serving.place(slug=slug)
        print(f"\n{count:,} memories in one organization")
        with people.entered(organization=organization):
            if kept is None:
                _fill(organization, caller, count)
            held = measures.disk(schema_name=organization.schema_name)
            measures.line("disk", f"{held / count:,.0f} B a memory")
            _measure(caller)


def _fill(organization: Organization, caller: Caller, count: int) -> None:
    took = measures.timed(partial(made.load, caller=caller, count=count))
    measures.line("loaded in", f"{took / 1_000:.1f} s")
    index = partial(call_command, "index_search", organization=organization.slug)
    measures.line("its indexes", f"{measures.timed(index) / 1_000:.1f} s")


def _measure(caller: Caller) -> None:
    token = serving.token(caller=caller)
    with serving.served() as server, serving.client(token=token) as client, _bare_line() as bare:
        for number, (name, project) in enumerate(RANGES):
            ways = _Ways(
                caller=caller, client=client, line=bare, server_id=server.pid, project=project
            )
            texts = made.queries(count=QUESTIONS + WARMING, seed=number)
            print(f"  {name}")
            _compare(ways, texts)
        _load(caller)
        measures.line("memory of the server", f"{measures.memory(process_id=server.pid):.0f} MB")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ways:
    """The ways to ask one question, and which processes work for each."""

    caller: Caller
    client: Any
    line: psycopg.Connection[Any]
    server_id: int
    project: str | None

    def calls(self, text: str) -> tuple[dict[str, Callable[[], object]], dict[str, float]]:
        """Return the ways to ask, and how long each stage took this time."""
        asked = SearchRequest(query=text, threshold=0.0, project=self.project)
        act = partial(search, caller=self.caller, request=asked, now=timezone.now())
        sent, answer = measures.sent(act)
        body = {"query": text, "threshold": 0, "project": self.project}
        if self.project is None:
            del body["project"]
        embedded = embedding.embed_query(text=text)
        assert embedded is not None
        query = index_queries.prefix_text(vector=embedded.vector)
        nearest = ((NEAREST, {"query": query, "project": self.project}),)
        ways: dict[str, Callable[[], object]] = {
            ALONE: partial(measures.ask, self.line, nearest),
            "bare SQL": partial(measures.ask, self.line, sent),
            "search()": act,
            "HTTP search": partial(_post, self.client, body),
        }
        return ways, dict(answer.stages)

    def workers(self) -> dict[str, tuple[int, ...]]:
        """Return the processes whose processor time is counted, by way: the program's are first."""
        alone = self.line.info.backend_pid
        others = tuple(one for one in measures.backends() if one != alone)
        return {
            ALONE: (alone,),
            "bare SQL": (alone,),
            "search()": (os.getpid(), *others),
            "HTTP search": (self.server_id, *others),
        }


def _compare(ways: _Ways, texts: tuple[str, ...]) -> None:
    """Ask each question four ways in turns; the first few warm everything up."""
    times: dict[str, list[float]] = {}
    spent: dict[str, list[float]] = {}
    in_base: dict[str, list[float]] = {}
    stages: dict[str, list[float]] = {}
    workers: dict[str, tuple[int, ...]] = {}
    for number, text in enumerate(texts):
        calls, by_stage = ways.calls(text)
        workers = ways.workers() if number == WARMING else workers
        for way, call in calls.items():
            own, base = workers.get(way, ())[:1], workers.get(way, ())[1:]
            before = measures.processor(process_ids=own), measures.processor(process_ids=base)
            took = measures.timed(call)
            after = measures.processor(process_ids=own), measures.processor(process_ids=base)
            if number >= WARMING:
                times.setdefault(way, []).append(took)
                spent.setdefault(way, []).append(sum(after) - sum(before))
                if base:
                    in_base.setdefault(way, []).append(after[1] - before[1])
        for stage, milliseconds in by_stage.items():
            stages.setdefault(stage, []).append(milliseconds)
    for way, each in times.items():
        measures.show(way, each, times[ALONE])
        measures.show("its processor time", spent[way], spent[ALONE])
        if way in in_base:
            measures.show("of it Postgres", in_base[way], spent[ALONE])
    parts = ", ".join(f"{stage} {statistics.median(each):.2f}" for stage, each in stages.items())
    measures.line("stages (ms)", parts)


@contextmanager
def _bare_line() -> Iterator[psycopg.Connection[Any]]:
    """Open a connection that is in the entered organization, as the application's role."""
    tenant = tenancy.current()
    keys = (f'"{tenant.schema_name}", public', str(tenant.organization_id))
    parameters = {**connection.get_connection_params(), "cursor_factory": psycopg.ClientCursor}
    with psycopg.connect(**parameters) as line:
        line.autocommit = True
        line.execute(tenancy.TURN_KEYS.replace("true", "false"), keys)
        yield line


def _post(client: Any, body: dict[str, Any]) -> None:
    answer = client.post("/api/v1/search", json=body)
    assert answer.status_code == 200, answer.text


def _load(caller: Caller) -> None:
    """Let several clients ask at once for some seconds, each with its own token and connection."""
    took: list[list[float]] = [[] for _ in range(CLIENTS)]
    ends = time.monotonic() + SECONDS
    tokens = [serving.token(caller=caller) for _ in range(CLIENTS)]
    threads = [
        threading.Thread(target=_ask_until, args=(ends, tokens[number], number, took[number]))
        for number in range(CLIENTS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    every = [one for each in took for one in each]
    p50, p95 = statistics.median(every), statistics.quantiles(every, n=20)[-1]
    value = f"{len(every) / SECONDS:.0f} searches/s, p50 {p50:.1f} ms, p95 {p95:.1f} ms"
    measures.line(f"{CLIENTS} clients", value)


def _ask_until(ends: float, token: str, number: int, took: list[float]) -> None:
    texts = made.queries(count=QUESTIONS, seed=number)
    with serving.client(token=token) as client:
        while time.monotonic() < ends:
            body = {"query": texts[len(took) % QUESTIONS], "threshold": 0}
            took.append(measures.timed(partial(_post, client, body)))


if __name__ == "__main__":
    main(sizes=tuple(int(size) for size in sys.argv[1:]) or SIZES)
