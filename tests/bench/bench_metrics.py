"""What counting costs: microseconds of the processor for a request, and its share of the least one.

Run: `.venv/bin/python -m tests.bench.bench_metrics`. Requests are counted in files, as several
processes do. The least request is `/health/live`, through the whole chain of middleware.
"""

import os
import tempfile
import time
from collections.abc import Callable

FOLDER = tempfile.TemporaryDirectory(prefix="cairn-counts-")
os.environ["PROMETHEUS_MULTIPROC_DIR"] = FOLDER.name  # before the library is imported
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.check"

import django  # noqa: E402

django.setup()

from django.test import RequestFactory  # noqa: E402
from django.urls import resolve  # noqa: E402

from config import metrics  # noqa: E402
from config.handlers import OneThreadHandler  # noqa: E402
from memory.search.actions import SECONDS_OF  # noqa: E402

ROUNDS = 20_000


def main() -> None:
    """Measure both, and a search's stages."""
    request = RequestFactory(SERVER_NAME="localhost").get("/health/live")
    request.resolver_match = resolve("/health/live")
    handler = OneThreadHandler()
    handler.load_middleware()
    response = handler.get_response(request)

    def count() -> None:
        metrics.count_request(request=request, response=response, began=time.perf_counter())

    def count_search() -> None:
        for stage in SECONDS_OF.values():
            stage.observe(0.002)

    whole = _microseconds(lambda: handler.get_response(request), ROUNDS // 10)
    counted = _microseconds(count, ROUNDS)
    stages = _microseconds(count_search, ROUNDS)
    print(f"a request {counted:.1f} µs, {counted / whole:.1%} of {whole:.0f} µs of the least one")
    print(f"the {len(SECONDS_OF)} stages of a search {stages:.1f} µs")
    print(f"a scrape {_microseconds(_scrape, 100) / 1_000:.1f} ms")


def _scrape() -> None:
    metrics.exposition(with_stored=False)


def _microseconds(work: Callable[[], object], rounds: int) -> float:
    began = time.process_time()
    for _ in range(rounds):
        work()
    return (time.process_time() - began) / rounds * 1e6


if __name__ == "__main__":
    main()
