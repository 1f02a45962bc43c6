"""Search over N memories: the bare SQL statement, the action, and HTTP, as times and ratios.

Run: `.venv/bin/python -m tests.bench.bench_search 10000`. Prints milliseconds (p50, p95) and the
ratio to the bare statement measured in the same rounds.
"""

import statistics
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from django.conf import settings
from django.core.management import call_command
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller, Role
from memory.actions import embedding, upkeep
from memory.actions.drafts import NewMemory
from memory.actions.remember_all import remember_all
from memory.actions.search import SearchRequest, search
from memory.models import Memory
from memory.retrieval import query
from memory.sql import retrieval
from memory.sql.retrieval import Question
from teams import visibility
from teams.actions.projects import create_project
from tests.bench.texts import docstrings
from tests.support import people

ROUNDS = 60
NOW = datetime(2026, 11, 20, tzinfo=UTC)


def main(*, count: int) -> None:
    """Fill an organization and measure."""
    call_command("migrate", verbosity=0)
    organization = people.make_organization(slug="bench")
    user = people.make_person(organization=organization, email="b@bench.test", role=Role.OWNER)
    caller = people.as_caller(organization=organization, user=user, role=Role.OWNER)
    with people.entered(organization=organization):
        texts = docstrings(count=count)
        fill(caller, texts)
        _measure(caller, texts)


def fill(caller: Caller, texts: tuple[str, ...]) -> None:
    """Store and embed the texts as memories of a project."""
    create_project(caller=caller, slug="bench", name="Bench", now=NOW)
    started = time.perf_counter()
    added = 0
    for start in range(0, len(texts), 1_000):
        batch = tuple(
            NewMemory(content=text, source="import", project="bench", type="fact")
            for text in texts[start : start + 1_000]
        )
        outcomes = remember_all(caller=caller, new=batch, now=NOW)
        added += sum(outcome.outcome == "added" for outcome in outcomes)
        refused = [o for o in outcomes if o.outcome == "refused"]
        for o in refused[:2]:
            print("  refused:", o.gate, o.reason)
    took = time.perf_counter() - started
    print(f"ingest without embedding: {added} of {len(texts)} added, {added / took:.0f} memories/s")
    started = time.perf_counter()
    with tenancy.unit():
        ids = tuple(Memory.objects.values_list("id", flat=True))
    for start in range(0, len(ids), 256):
        embedding.embed_batch(memory_ids=ids[start : start + 256])
    print(
        f"embedding ({settings.CAIRN_PROVIDERS['embedder']}): {time.perf_counter() - started:.1f} s"
    )
    upkeep.refresh_lexicon()
    with connection.as_owner(), connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def queries(texts: tuple[str, ...]) -> list[str]:
    """Return seven words of each of some texts."""
    step = max(1, len(texts) // ROUNDS)
    return [" ".join(text.split()[1:8]) for text in texts[::step]][:ROUNDS]


def bare_time(caller: Caller, text: str) -> float:
    """Return the milliseconds of the statement alone."""
    asked = query.understand(text=text)
    embedded = embedding.embed_query(text=asked.normalized)
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        question = Question(
            model="" if embedded is None else embedded.key,
            vector=None if embedded is None else embedded.vector,
            words=asked.keyword_text,
            projects=None,
            type_codes=None,
            moment=None,
            dense_limit=30,
            keyword_limit=20,
        )
        return timed(partial(retrieval.candidates, question=question, sight=sight))


def _measure(caller: Caller, texts: tuple[str, ...]) -> None:
    bare, whole = [], []
    for text in queries(texts):
        bare.append(bare_time(caller, text))
        request = SearchRequest(query=text)
        whole.append(timed(partial(search, caller=caller, request=request, now=NOW)))
    show("bare SQL", bare, bare)
    show("search()", whole, bare)


def timed(call: Callable[[], object]) -> float:
    """Return how many milliseconds a call takes."""
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1_000


def show(name: str, times: list[float], base: list[float]) -> None:
    """Print median, 95th percentile and the ratio of medians to a base."""
    p95 = statistics.quantiles(times, n=20)[-1]
    p50, ratio = statistics.median(times), statistics.median(times) / statistics.median(base)
    print(f"{name:>26}: p50 {p50:6.2f} ms  p95 {p95:6.2f} ms  ratio {ratio:.2f}")


if __name__ == "__main__":
    main(count=int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
