"""Redis is full or was emptied: reads and writes work, sign-in is closed, work goes on."""

from collections.abc import Iterator
from typing import Any

import pytest
import redis
from django.db.models.functions import Now
from django.test import Client

from accounts import jobs, live
from accounts.live import Backoff
from accounts.models import Job, User
from tests.support.api import STATEMENT, Api

QUEUE = "maintenance"  # of the recount that each write queues

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def store(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[redis.Redis]:
    """The Redis of the tests, which nobody rests from."""
    monkeypatch.setattr(live, "redis", Backoff())
    with redis.Redis.from_url(settings.REDIS_URL, decode_responses=True) as client:
        yield client


@pytest.fixture
def full(store: redis.Redis, api: Api) -> Iterator[redis.Redis]:
    """The same, refusing everything that needs room."""
    before = store.config_get("maxmemory*")
    store.config_set("maxmemory-policy", "noeviction")
    store.config_set("maxmemory", 1)
    yield store
    for name in ("maxmemory", "maxmemory-policy"):
        store.config_set(name, str(before[name]))


def written(api: Api) -> int:
    body = {"project": "shop", "content": STATEMENT}
    return int(api.post("memories", body).status_code)


def test_a_full_redis_takes_nothing_away_but_sign_in(
    full: redis.Redis, api: Api, owner: User
) -> None:
    with pytest.raises(redis.exceptions.OutOfMemoryError):
        full.set("more", "room")

    assert written(api) == 201
    assert api.post("search", {"query": STATEMENT}).status_code == 200
    form = {"login": owner.email, "password": "wrong"}
    assert Client().post("/login/", form).status_code == 503


def test_an_emptied_redis_is_filled_again_from_the_database(store: redis.Redis, api: Api) -> None:
    assert written(api) == 201
    Job.objects.update(run_after=Now())
    store.flushdb()

    jobs.sweep()

    assert store.llen(QUEUE) > 0
    assert api.post("search", {"query": STATEMENT}).status_code == 200
