"""Metrics for Prometheus: counting requests, and the answer of `/metrics`.

What processes count stands in `accounts.metrics`. Where they share a folder, any of them answers
for all: files of processes that ended are added up into one, and their gauges go. What all
installations of a database have in common (jobs, organizations, memories, findings of the health
checks) is read when it is asked for, so every web process gives the same figures: take the maximum
and not the sum. Memories are counted by the statistics of Postgres, since a count would visit every
organization.

With a token, who sends it may read. Without one, only this machine may, and only as long as
`BASE_URL` leads to this machine: behind a public address stands a proxy, and everybody comes from
it. Worker processes serve no pages; where they share no folder with a web process, as in a
container of their own, they answer at a port of their own (`CAIRN_METRICS_PORT`).
"""

import fcntl
import ipaddress
import logging
import os
import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from threading import Thread
from typing import Any, Final
from urllib.parse import urlsplit
from wsgiref.simple_server import WSGIRequestHandler, make_server

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import path
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import ThreadingWSGIServer
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from accounts import metrics
from accounts.jobs import NAMES
from accounts.tenancy import rls
from config import health, telemetry

log = logging.getLogger(__name__)

FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"  # of the library, read when it is imported
MEDIA: Final = "text/plain; version=0.0.4; charset=utf-8"
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
REPORT_SECONDS: Final = 5.0  # default, not measured: how old a process's gauges may be
SILENCE_SECONDS: Final = 10  # of who asks a worker for metrics; then the connection is closed
REFUSED: Final = (
    "Send Authorization: Bearer with the value of CAIRN_METRICS_TOKEN. Without that setting, only "
    "this machine may read metrics, and only where CAIRN_BASE_URL is an address of it.\n"
)
Scope = MutableMapping[str, Any]
Application = Callable[[Scope, Any, Any], Awaitable[None]]


# Counting.


def count_request(*, request: HttpRequest, response: HttpResponseBase, began: float) -> None:
    """Count a request that was answered; `began` is of `time.perf_counter`."""
    match = request.resolver_match
    if match is not None:
        route = telemetry.route_template(match.route)
    else:  # answered by a layer outside of the addresses, or by none
        route = "/static/" if request.path.startswith(settings.STATIC_URL) else telemetry.NOWHERE
    _count(route, str(request.method), response.status_code, began)


def count_refusal(*, method: str, status: int, began: float) -> None:
    """Count a request that came to no view; `began` is of `time.perf_counter`."""
    _count(telemetry.NOWHERE, method, status, began)


async def counted(application: Application, scope: Scope, receive: Any, send: Any) -> None:
    """Let an application that is not Django's answer, and count that."""
    began = time.perf_counter()

    async def counting(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            _count(scope["path"].rstrip("/"), scope["method"], message["status"], began)
        await send(message)

    await application(scope, receive, counting)


def _count(route: str, method: str, status: int, began: float) -> None:
    known = method if method in METHODS else "other"
    seconds = time.perf_counter() - began
    metrics.REQUESTS.labels(route, known, status).inc()
    metrics.REQUEST_SECONDS.labels(route, known).observe(seconds)
    telemetry.log_request(route=route, method=known, status=status, seconds=seconds)


# What a process is like, noted by a thread of it every few seconds.


def start_reporting(*, program: str) -> None:
    """Note from now on how this process stands: its memory and its connections.

    What ended processes counted is added up first. Where nobody reads metrics, their files would
    otherwise fill the folder.
    """
    if folder := os.environ.get(FOLDER):
        with _held(Path(folder)):
            fold(folder=Path(folder))
    Thread(target=_report, args=(program,), name="metrics", daemon=True).start()


def _report(program: str) -> None:
    metrics.PROCESSES.labels(program).set(1)
    while True:
        report(program=program)
        time.sleep(REPORT_SECONDS)


def report(*, program: str) -> None:
    """Note how this process stands now."""
    postgres: Any = connection
    if pool := postgres.pool:
        found = pool.get_stats()
        idle = found["pool_available"]
        connections = metrics.POOL_CONNECTIONS
        connections.labels(program, "idle").set(idle)
        connections.labels(program, "used").set(found["pool_size"] - idle)
        metrics.POOL_WAITING.labels(program).set(found["requests_waiting"])
    pages = Path("/proc/self/statm")
    if pages.exists():  # Linux
        resident = int(pages.read_text(encoding="ascii").split()[1])
        metrics.PROCESS_MEMORY.labels(program).set(resident * os.sysconf("SC_PAGE_SIZE"))


# The answer.


class StoredFigures(Collector):
    """What is read from Postgres, and from the health checks, when it is asked for."""

    def collect(self) -> Iterator[Metric]:
        """Yield the figures; without a database only what was found wrong."""
        well = GaugeMetricFamily("cairn_check_ok", "Findings of health checks.", labels=["check"])
        for check in health.FINDINGS.latest():
            well.add_metric([check.name], float(check.ok))
        yield well
        try:
            yield from _jobs()
            yield from _organizations()
        except DatabaseError as error:
            log.warning("Metrics lack what is stored: %s", type(error).__name__)


def _jobs() -> Iterator[Metric]:
    counts = GaugeMetricFamily(
        "cairn_jobs", "Jobs that have not ended well.", labels=["name", "queue", "state"]
    )
    late = GaugeMetricFamily(
        "cairn_job_oldest_due_seconds",
        "For how long the oldest waiting job of a queue has been due.",
        labels=["queue"],
    )
    oldest = dict.fromkeys(NAMES.values(), 0.0)
    for name, queue, state, jobs, seconds in rls.job_figures():
        counts.add_metric([name, queue, state], jobs)
        oldest[queue] = max(oldest.get(queue, 0.0), seconds)
    for queue, seconds in oldest.items():
        late.add_metric([queue], seconds)
    yield from (counts, late)


def _organizations() -> Iterator[Metric]:
    organizations = rls.every_organization()
    number = GaugeMetricFamily("cairn_organizations", "Organizations.", value=len(organizations))
    rows = rls.memory_rows()
    memories = GaugeMetricFamily(
        "cairn_memories",
        "Memories that are stored, archived ones too, as the statistics of Postgres count.",
        labels=["organization"] if settings.METRICS_ORGANIZATIONS else [],
    )
    if settings.METRICS_ORGANIZATIONS:
        for one in organizations:
            memories.add_metric([one.slug], rows.get(one.schema_name, 0))
    else:
        memories.add_metric([], sum(rows.values()))
    yield from (number, memories)


def exposition(*, with_stored: bool) -> bytes:
    """Return all metrics as text; `with_stored`: also what all programs have in common."""
    text = _counts()
    if with_stored:
        stored = CollectorRegistry()
        stored.register(StoredFigures())
        text += generate_latest(stored)
    return text


def _counts() -> bytes:
    folder = os.environ.get(FOLDER)
    if not folder:
        return generate_latest(REGISTRY)
    shared = CollectorRegistry()
    MultiProcessCollector(shared, path=folder)
    with _held(Path(folder)):
        fold(folder=Path(folder))
        return generate_latest(shared)


@contextmanager
def _held(folder: Path) -> Iterator[int]:
    """Keep other processes from adding up the same files; yield the descriptor of the lock."""
    with (folder / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield lock.fileno()
        finally:  # to close is not enough: a process forked meanwhile has the file open too
            fcntl.flock(lock, fcntl.LOCK_UN)


def fold(*, folder: Path) -> None:
    """Add the files of processes that ended to one of each kind; their gauges go.

    Workers are replaced now and then, and every file is read at every scrape.
    """
    for file in folder.glob("*_*.db"):
        kind, _, number = file.stem.rpartition("_")
        if number == "0" or Path(f"/proc/{number}").exists() or _runs(int(number)):
            continue
        if not kind.startswith("gauge"):
            whole = MmapedDict(str(folder / f"{kind}_0.db"))
            for key, value, timestamp, _ in MmapedDict.read_all_values_from_file(str(file)):
                whole.write_value(key, whole.read_value(key)[0] + value, timestamp)
            whole.close()
        file.unlink()


def _runs(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        return True
    return True


def may_read(*, authorization: str, peer: str, is_forwarded: bool) -> bool:
    """Say whether who asks may read metrics; see the head of this module."""
    token: str = settings.METRICS_TOKEN
    if token:
        return constant_time_compare(authorization, f"Bearer {token}")
    is_public = urlsplit(settings.BASE_URL).hostname not in health.LOOPBACK
    return not is_public and not is_forwarded and _is_loopback(peer)


def _is_loopback(peer: str) -> bool:
    try:
        return ipaddress.ip_address(peer).is_loopback
    except ValueError:  # the socket of a proxy
        return False


@require_safe
def metrics_view(request: HttpRequest) -> HttpResponse:
    """Answer a scrape."""
    if not may_read(
        authorization=request.headers.get("Authorization", ""),
        peer=str(request.META.get("REMOTE_ADDR", "")),
        is_forwarded="X-Forwarded-For" in request.headers or "Forwarded" in request.headers,
    ):
        refused = HttpResponse(REFUSED, status=HTTPStatus.UNAUTHORIZED, content_type="text/plain")
        refused.headers["WWW-Authenticate"] = 'Bearer realm="metrics"'
        return refused
    answer = HttpResponse(exposition(with_stored=True), content_type=MEDIA)
    answer.headers["Cache-Control"] = "no-store"
    return answer


class _QuietHandler(WSGIRequestHandler):
    timeout = SILENCE_SECONDS

    def handle(self) -> None:
        """Answer a request. Who stays silent is not answered, and that is no error."""
        with suppress(TimeoutError):
            super().handle()

    def log_message(self, format: str, *args: Any) -> None:
        """Log no scrapes."""


def _answer_worker(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
    authorization = environ.get("HTTP_AUTHORIZATION", "")
    is_read = environ["PATH_INFO"] == "/metrics" and may_read(
        authorization=authorization, peer=environ["REMOTE_ADDR"], is_forwarded=False
    )
    if not is_read:
        start("401 Unauthorized", [("WWW-Authenticate", 'Bearer realm="metrics"')])
        return [REFUSED.encode()]
    start("200 OK", [("Content-Type", MEDIA)])
    return [exposition(with_stored=False)]


def serve_worker(*, host: str, port: int) -> Any:
    """Answer scrapes of a worker by threads; return the server, which `shutdown` ends."""
    server = make_server(host, port, _answer_worker, ThreadingWSGIServer, _QuietHandler)
    Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server


urlpatterns = [path("metrics", metrics_view)]
