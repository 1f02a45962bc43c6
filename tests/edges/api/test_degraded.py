"""While no embedder answers, REST still searches by words and says what was missing."""

from collections.abc import Iterator

import pytest

from accounts import live
from accounts.live import Backoff
from accounts.models import Job
from tests.support.api import STATEMENT, Api
from tests.support.vendor_server import Fault, Status, Vendor
from tests.support.vendors import ONCE, installed_vendor

pytestmark = pytest.mark.django_db


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
