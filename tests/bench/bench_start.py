"""The one-command start: first and second start, idle memory of the whole group, a new tenant.

Run: `.venv/bin/python -m tests.bench.bench_start`. Model weights are taken from var/models when
they are there; otherwise the first start fetches them too.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import httpx
from django.core.management import call_command

from config import env
from tests.bench import measures
from tests.support import people

PORT = 8932
PATIENCE_S = 180
SETTLED_S = 30  # worker and clock come up after the web server
TENANTS = 10


def main() -> None:
    """Print one line a figure."""
    with tempfile.TemporaryDirectory() as home:
        first, group = _start(Path(home))
        print(f"first start, without packages: {first:6.1f} s")
        time.sleep(SETTLED_S)
        print(f"idle memory of the group (PSS): {measures.memory(process_id=group.pid):4.0f} MB")
        print(f"stop: {_stop(group):32.1f} s")
        second, group = _start(Path(home))
        print(f"second start: {second:24.1f} s")
        _stop(group)
    call_command("migrate", verbosity=0)
    started = time.perf_counter()
    for number in range(TENANTS):
        people.make_organization(slug=f"tenant-{number}")
    print(f"new tenant: {(time.perf_counter() - started) / TENANTS:26.2f} s")


def _start(home: Path) -> tuple[float, subprocess.Popen[bytes]]:
    own = {"CAIRN_HOME": str(home), "CAIRN_PORT": str(PORT), "CAIRN_DEMO": "0"}
    weights = env.ROOT / "var" / "models"
    if weights.exists():
        own["CAIRN_MODELS"] = str(weights)
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_URL")}
    kept.pop("DJANGO_SETTINGS_MODULE", None)
    command = [sys.executable, "-m", "config.embedded", "run"]
    started = time.perf_counter()
    group = subprocess.Popen(command, env={**kept, **own}, cwd=env.ROOT, stdout=subprocess.DEVNULL)
    deadline = started + PATIENCE_S
    while not _answers():
        if group.poll() is not None or time.perf_counter() > deadline:
            raise SystemExit("it did not start")
        with suppress(subprocess.TimeoutExpired):
            group.wait(timeout=0.1)
    return time.perf_counter() - started, group


def _answers() -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{PORT}/health/live", timeout=1).status_code == 200
    except httpx.TransportError:
        return False


def _stop(group: subprocess.Popen[bytes]) -> float:
    started = time.perf_counter()
    group.send_signal(signal.SIGTERM)
    group.wait(timeout=60)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
