"""What a flood of one organization costs another one, and what single requests cost liveness.

Run: `.venv/bin/python -m tests.bench.bench_flood`. Two web processes; the other organization
searches at a steady pace, alone and while 32 connections of the first search without a pause, in
turns. Then liveness is asked while requests of the largest size are answered. Goals: the p95 at
most 1.5 times its own alone, liveness under 100 ms.
"""

import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from django.core.management import call_command

from tests.bench import made, serving
from tests.support import people

CONNECTIONS = 32
ROUNDS = 3
SECONDS = 15.0
PACE_S = 0.2
COUNT = 2_000  # memories of each organization
FLOOD = "flood"


def main() -> None:
    """Print one line a figure."""
    call_command("migrate", verbosity=0)
    tokens = []
    for slug in ("steady", "flooding"):
        organization, caller = serving.place(slug=slug)
        with people.entered(organization=organization):
            made.load(caller=caller, count=COUNT)
        tokens.append(serving.token(caller=caller))
    steady, flooding = tokens
    with _served():
        _compare(steady, flooding)
        for name, path, body in _heavy():
            live = _during(partial(_ask, flooding, path, body))
            print(f"liveness during {name}: {_percentile(live, 1) * 1e3:.0f} ms at most")


def _compare(steady: str, flooding: str) -> None:
    alone, flooded = [], []
    for _ in range(ROUNDS):
        alone += _searches(steady)
        command = [sys.executable, "-m", "tests.bench.bench_flood", FLOOD, flooding]
        with subprocess.Popen(command) as flood:
            flooded += _searches(steady)
            flood.terminate()
    for share in (0.5, 0.95):
        one, other = _percentile(alone, share), _percentile(flooded, share)
        print(
            f"p{share * 100:.0f} of a search: {one * 1e3:.0f} ms alone, {other * 1e3:.0f} ms "
            f"flooded, ratio {other / one:.2f}"
        )


def flood(token: str) -> None:
    """Search over many connections without a pause until ended."""
    threads = [threading.Thread(target=_search_on, args=(token,)) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()


def _search_on(token: str) -> None:
    while True:
        if _ask(token, "/api/v1/search", _question()) == 429:
            time.sleep(1)  # as Retry-After asks


def _searches(token: str) -> list[float]:
    times, ends_at = [], time.monotonic() + SECONDS
    while time.monotonic() < ends_at:
        began = time.perf_counter()
        _ask(token, "/api/v1/search", _question())
        times.append(time.perf_counter() - began)
        time.sleep(PACE_S)
    return times


def _during(work: Callable[[], object]) -> list[float]:
    """Return how long liveness took to answer while a thread worked, in seconds."""
    thread, times = threading.Thread(target=work), []
    thread.start()
    while thread.is_alive():
        began = time.perf_counter()
        _ask("", "/health/live", None)
        times.append(time.perf_counter() - began)
    return times


def _heavy() -> Iterator[tuple[str, str, object]]:
    text = "\n".join(f"- Never deploy service{n} on Friday: {n} retries." for n in range(1_500))
    yield "a plan", "/api/v1/checks/plan", {"project": "bench", "plan": text}
    yield "many keys", "/api/v1/search", {"query": "a", **{f"k{n}": 1 for n in range(80_000)}}
    items = [{"project": "bench", "content": f"Rule {n}: {text[n : n + 900]}"} for n in range(300)]
    yield "a bulk call", "/api/v1/memories/bulk", {"memories": items}


def _question() -> dict[str, str]:
    return {"query": made.queries(count=1)[0]}


def _ask(token: str, path: str, body: object) -> int:
    line = http.client.HTTPConnection("127.0.0.1", serving.PORT, timeout=120)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body)
    line.request("GET" if body is None else "POST", path, data, headers if token else {})
    status = line.getresponse().status
    line.close()
    return status


def _percentile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


@contextmanager
def _served() -> Iterator[None]:
    environment = {**os.environ, "CAIRN_PORT": str(serving.PORT)}
    command = [sys.executable, "-m", "tests.support.web_group"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as group:
        while True:
            try:
                _ask("", "/health/live", None)
                break
            except OSError:
                time.sleep(0.2)
        yield
        group.terminate()


if __name__ == "__main__":
    if sys.argv[1:2] == [FLOOD]:
        flood(sys.argv[2])
    else:
        main()
