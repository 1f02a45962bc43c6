"""Remembering many things: memories a second, processor time of each side, log and disk a memory.

Run: `.venv/bin/python -m tests.bench.bench_ingest 10000`. Real docstrings in calls of 1,000, with
gates, audit, change feed and both walls; embedding is a job of its own and is not counted. The same
then over HTTP, by one client.
"""

import sys
import time
from functools import partial
from typing import Any

from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from accounts import tenancy
from accounts.caller import Caller
from memory.intake.actions.remember import MOST, remember_all
from memory.intake.validation import NewMemory
from memory.records.models import Memory
from teams.actions import create_project
from tests.bench import measures, serving
from tests.bench.texts import docstrings
from tests.support import people

Parts = tuple[tuple[str, ...], ...]


def main(*, count: int) -> None:
    """Store the texts by the action, then others by HTTP in another organization."""
    call_command("migrate", verbosity=0)
    texts = docstrings(count=count)
    parts = tuple(texts[start : start + MOST] for start in range(0, count, MOST))
    organization, caller = serving.place(slug="ingest")
    with people.entered(organization=organization):
        create_project(caller=caller, slug="bench", name="Bench", now=timezone.now())
        _by_action(caller, parts, organization.schema_name)
    organization, caller = serving.place(slug="ingest-http")
    with people.entered(organization=organization):
        create_project(caller=caller, slug="bench", name="Bench", now=timezone.now())
        _by_http(serving.token(caller=caller), parts)


def _by_action(caller: Caller, parts: Parts, schema_name: str) -> None:
    began = _logged()
    spent = measures.cost(partial(_store, caller, parts))
    written = _logged() - began
    with connection.as_owner(), connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    with tenancy.unit():
        count = Memory.objects.count()
    busy = spent.process + spent.backend
    print(f"{count:,} of {sum(map(len, parts)):,} stored, calls of {MOST:,}, without embedding")
    measures.line("by the clock", f"{count / spent.clock:,.0f} memories/s")
    measures.line("by processor time", f"{count / busy:,.0f} memories/s")
    measures.line("process", f"{spent.process / count * 1_000:.3f} ms a memory")
    measures.line("Postgres", f"{spent.backend / count * 1_000:.3f} ms a memory")
    measures.line("write-ahead log", f"{written / count:,.0f} B a memory")
    size = measures.disk(schema_name=schema_name) / count
    measures.line("disk without vectors", f"{size:,.0f} B a memory")


def _store(caller: Caller, parts: Parts) -> None:
    for part in parts:
        new = tuple(
            NewMemory(content=text, source="import", project="bench", type="fact") for text in part
        )
        remember_all(caller=caller, new=new, now=timezone.now())


def _by_http(token: str, parts: Parts) -> None:
    with serving.served(), serving.client(token=token) as client:
        started = time.perf_counter()
        for part in parts:
            memories = [{"content": text, "type": "fact"} for text in part]
            _send(client, {"project": "bench", "memories": memories})
        took = time.perf_counter() - started
    measures.line("over HTTP, by the clock", f"{sum(map(len, parts)) / took:,.0f} memories/s")


def _send(client: Any, body: dict[str, Any]) -> None:
    answer = client.post("/api/v1/memories/bulk", json=body)
    assert answer.status_code == 200, answer.text


def _logged() -> int:
    """Return how many bytes the server's log has had so far."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')")
        return int(cursor.fetchone()[0])


if __name__ == "__main__":
    main(count=int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
