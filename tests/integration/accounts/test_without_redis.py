"""Redis is away: writes, searches and jobs go on; the sweeper makes up for lost wake-ups."""

import logging
import socket
from collections.abc import Iterator
from datetime import datetime

import pytest
from celery import Celery
from channels.layers import channel_layers
from django.test import override_settings

from accounts import jobs, live, tenancy
from accounts.caller import Caller
from accounts.live import Backoff
from accounts.models import Job
from config.celery import app
from memory.search.actions import search
from memory.search.request import SearchRequest
from tests.support.memories import stored

pytestmark = pytest.mark.usefixtures("in_organization", "no_broker", "no_channels", "rest")


@pytest.fixture
def rest(monkeypatch: pytest.MonkeyPatch) -> Backoff:
    """A rest from Redis that no other test has begun."""
    fresh = Backoff()
    monkeypatch.setattr(live, "redis", fresh)
    return fresh


@pytest.fixture
def address() -> str:
    """An address where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"redis://127.0.0.1:{probe.getsockname()[1]}/0"


@pytest.fixture
def no_broker(address: str) -> Iterator[None]:
    away = Celery("away", broker=address)
    away.config_from_object("django.conf:settings", namespace="CELERY")
    away.conf.broker_url = address
    away.set_current()
    yield
    app.set_current()


@pytest.fixture
def no_channels(address: str) -> Iterator[None]:
    backend = "channels_redis.pubsub.RedisPubSubChannelLayer"
    layers = {"default": {"BACKEND": backend, "CONFIG": {"hosts": [address]}}}
    with override_settings(CHANNEL_LAYERS=layers):
        channel_layers.backends.clear()
        yield
    channel_layers.backends.clear()


@pytest.mark.django_db(transaction=True)
def test_work_is_enqueued_all_the_same_and_the_sweeper_finds_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    with tenancy.unit():
        job_id = jobs.enqueue("memory.embed", payload={"ids": []})

    assert "the sweeper will" in caplog.text
    assert Job.objects.get(pk=job_id).state == "queued"
    assert jobs.sweep()["queues"] == 1


@pytest.mark.django_db(transaction=True)
def test_a_memory_is_stored_and_found(
    caller: Caller, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)

    memory = stored(caller, now)

    request = SearchRequest(query="token refresh redis", threshold=0.0)
    hits = search(caller=caller, request=request, now=now).hits
    assert [hit.memory.id for hit in hits] == [memory.id]
    assert "Redis" in caplog.text or "Open pages" in caplog.text or "No worker" in caplog.text


def test_after_one_failure_nobody_asks_redis_for_a_while(
    rest: Backoff, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)

    for _ in range(3):
        jobs.wake(queue="bulk")

    assert caplog.text.count("No worker woken") == 1
    assert rest.is_active()
