"""The Celery application: it wakes workers and keeps the clock; the work itself is in Postgres."""

import gc
import os
import resource
from typing import Any

from celery import Celery
from celery.signals import worker_process_init
from django.conf import settings
from kombu.entity import Queue

from accounts.job_names import QUEUES
from config.schedule import BEAT

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.production")

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


@worker_process_init.connect  # type: ignore[untyped-decorator]
def keep_loaded(**_: Any) -> None:
    """Let no job wait while what the process has loaded is looked through for garbage.

    Python looks through every object it knows once enough new ones have come: half a million of
    them after a start, a tenth of a second and more in the middle of some work.
    """
    gc.collect()
    gc.freeze()
