"""The Celery application: it wakes workers and keeps the clock; the work itself is in Postgres."""

import os

from celery import Celery
from kombu.entity import Queue

from accounts.job_names import QUEUES
from config.schedule import BEAT

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.production")

app = Celery("cairn")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.beat_schedule = BEAT
app.conf.task_default_queue = "maintenance"
app.conf.task_queues = [Queue(name) for name in QUEUES]
app.autodiscover_tasks(["accounts", "memory"])
