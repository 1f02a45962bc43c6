"""The Celery application: it wakes workers and keeps the clock; the work itself is in Postgres.

`BEAT` says what runs when. Each row is one slot task, taken once: which slot it is, the database
says (accounts.jobs.take_slot), so any number of clocks may run. What beat itself counts is the time
since the machine started: a wall clock that is set back would stop it until the old time comes
again. For the same reason a message is valid for much longer than its interval: sender and worker
may be an hour apart, and a late one finds its slot taken.
"""

import gc
import os
import resource
import time
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from celery import Celery
from celery.schedules import schedule
from celery.signals import task_prerun, worker_init, worker_process_init, worker_process_shutdown
from django.conf import settings
from kombu.entity import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.production")

QUEUES: Final = ("interactive", "extraction", "bulk", "maintenance")  # of accounts.jobs.NAMES
SWEEP_SECONDS: Final = 10
NIGHT_SECONDS: Final = 24 * 3_600  # its slots begin at midnight, UTC
WEEK_SECONDS: Final = 7 * NIGHT_SECONDS  # its slots begin on Thursdays, as the count of days does
LOOK_SECONDS: Final = 1_800  # how late the work of a night begins, at most
CLOCKS_APART_SECONDS: Final = 2 * 3_600  # bounds what piles up in Redis while no worker runs
START: Final = datetime(1970, 1, 2, tzinfo=UTC)  # of the count; its last run: never
NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)


def counted_now() -> datetime:
    """Return the time since the machine started, as the moment that Celery wants."""
    return START + timedelta(seconds=time.monotonic())


def _row(task: str, seconds: int, *, slot_seconds: int = 0) -> dict[str, Any]:
    """Return a row that comes every so many seconds; of a longer slot only the first has work."""
    return {
        "task": task,
        "schedule": schedule(run_every=seconds, nowfun=counted_now),
        "last_run_at": NEVER,
        "kwargs": {"interval_seconds": slot_seconds or seconds},
        "options": {"queue": "maintenance", "expires": CLOCKS_APART_SECONDS + seconds},
    }


BEAT: Final = {
    "sweep": _row("cairn.sweep", SWEEP_SECONDS),
    "merge-access": _row("cairn.merge_access", 60),
    "embed-missing": _row("cairn.embed_missing", 600),
    "read-names": _row("cairn.read_names", 600),
    "tend-sessions": _row("cairn.tend_sessions", 600),
    "raise-alarms": _row("cairn.raise_alarms", 600),
    "evict": _row("cairn.evict", 3_600),
    "forget-actions": _row("cairn.forget_actions", LOOK_SECONDS, slot_seconds=NIGHT_SECONDS),
    "index-days": _row("cairn.index_days", LOOK_SECONDS, slot_seconds=NIGHT_SECONDS),
    "sort-topics": _row("cairn.sort_topics", LOOK_SECONDS, slot_seconds=NIGHT_SECONDS),
    "enrich-entities": _row("cairn.enrich_entities", LOOK_SECONDS, slot_seconds=NIGHT_SECONDS),
    "join-names": _row("cairn.join_names", LOOK_SECONDS, slot_seconds=NIGHT_SECONDS),
    "prove": _row("cairn.prove", LOOK_SECONDS, slot_seconds=NIGHT_SECONDS),
    "measure-weeks": _row("cairn.measure_weeks", LOOK_SECONDS, slot_seconds=WEEK_SECONDS),
    "find-pairs": _row("cairn.find_pairs", LOOK_SECONDS, slot_seconds=WEEK_SECONDS),
}

app = Celery("cairn")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.beat_schedule = BEAT
app.conf.beat_scheduler = "celery.beat:Scheduler"  # keeps nothing: the slots are in Postgres
app.conf.task_default_queue = "maintenance"
app.conf.task_queues = [Queue(name) for name in QUEUES]
app.autodiscover_tasks(["accounts", "graph", "memory"])


@worker_process_init.connect  # type: ignore[untyped-decorator]
def bound_memory(**_: Any) -> None:
    """Let a process that runs jobs have so much memory; a job that wants more gets MemoryError."""
    wanted = settings.JOB_MEMORY_MB * 1_048_576
    most = resource.getrlimit(resource.RLIMIT_DATA)[1]
    allowed = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, most))


@worker_init.connect  # type: ignore[untyped-decorator]
def serve_metrics(**_: Any) -> None:
    """Answer scrapes at a port of the worker's own, where one is set."""
    from config import metrics  # noqa: PLC0415 - it needs the apps, which load this module

    if settings.METRICS_PORT:
        metrics.serve_worker(host=settings.METRICS_HOST, port=settings.METRICS_PORT)


@worker_process_init.connect  # type: ignore[untyped-decorator]
def report_metrics(**_: Any) -> None:
    """Note how a process that runs jobs stands."""
    from config import metrics, tracing  # noqa: PLC0415 - as above

    metrics.start_reporting(program="worker")
    tracing.start_export(service="cairn-worker")


@task_prerun.connect  # type: ignore[untyped-decorator]
def forget_last_organization(**_: Any) -> None:
    """Let no line that a task logs name the organization of the task before it."""
    from accounts import tenancy  # noqa: PLC0415 - as above

    tenancy.forget_last()


@worker_process_shutdown.connect  # type: ignore[untyped-decorator]
def send_spans(**_: Any) -> None:
    """Lose no span of a process that ends."""
    from config import tracing  # noqa: PLC0415 - as above

    tracing.stop_export()


@worker_process_init.connect  # type: ignore[untyped-decorator]
def keep_loaded(**_: Any) -> None:
    """Let no job wait while what the process has loaded is looked through for garbage.

    Python looks through every object it knows once enough new ones have come: half a million of
    them after a start, a tenth of a second and more in the middle of some work.
    """
    gc.collect()
    gc.freeze()
