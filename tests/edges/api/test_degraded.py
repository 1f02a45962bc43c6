"""What works and is said without an embedder, or with a full or emptied Redis."""

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
from tests.support.vendor_server import Fault, Status, Vendor
from tests.support.vendors import ONCE, installed_vendor


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Vendor]:
    """The installation's vendor, with a Redis that nobody rests from."""
    monkeypatch.setattr(live, "redis", Backoff())
    with installed_vendor() as installed:
        yield installed


def test_a_search_without_a_model_finds_by_words_and_says_so(vendor: Vendor, api: Api) -> None:
    api.remember()
    whole = api.post("search", {"query": STATEMENT}).json()
    vendor.script = [Status(status=500)] * 2

    body = api.post("search", {"query": f"{STATEMENT} Why?"}).json()

    assert (whole["degraded"], body["degraded"]) == ([], ["no_vectors"])
    assert body["results"][0]["memory"]["content"] == STATEMENT


def test_a_model_that_is_left_alone_for_a_while_is_told_like_one_that_fails(
    vendor: Vendor, api: Api
) -> None:
    api.remember()
    vendor.script = [Fault.DISCONNECT] * 50
    answers = [
        api.post("search", {"query": f"{STATEMENT} {number}"}).json()
        for number in range(ONCE.failures_to_open + 2)
    ]

    assert {tuple(body["degraded"]) for body in answers} == {("no_vectors",)}
    assert all(body["results"] for body in answers)


def test_what_is_stored_without_a_model_is_found_at_once_and_embedded_later(
    vendor: Vendor, api: Api
) -> None:
    vendor.script = [Status(status=503)] * 3

    stored = api.post("memories", {"project": "shop", "content": STATEMENT}).json()
    found = api.post("search", {"query": STATEMENT}).json()

    assert stored["embedding"] == "queued"
    assert Job.objects.get(pk=stored["job_id"]).state == "queued"
    assert found["results"][0]["memory"]["content"] == STATEMENT


QUEUE = "maintenance"  # of the recount that each write queues


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


@pytest.mark.django_db(transaction=True)
def test_a_full_redis_takes_nothing_away_but_sign_in(
    full: redis.Redis, api: Api, owner: User
) -> None:
    with pytest.raises(redis.exceptions.OutOfMemoryError):
        full.set("more", "room")

    api.remember()
    assert api.post("search", {"query": STATEMENT}).status_code == 200
    form = {"login": owner.email, "password": "wrong"}
    assert Client().post("/login/", form).status_code == 503


@pytest.mark.django_db(transaction=True)
def test_an_emptied_redis_is_filled_again_from_the_database(store: redis.Redis, api: Api) -> None:
    api.remember()
    Job.objects.update(run_after=Now())
    store.flushdb()

    jobs.sweep()

    assert store.llen(QUEUE) > 0
    assert api.post("search", {"query": STATEMENT}).status_code == 200
