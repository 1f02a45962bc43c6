"""Rerankers and made-up memories: they help when they answer, and nothing breaks when not."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.intake.actions.remember import NewMemory, remember
from memory.search.actions import search
from memory.search.request import SearchRequest
from teams.actions import create_project
from tests.support import models
from tests.support.vendor_server import Status, Vendor
from tests.support.vendors import installed, reranking_vendor

LOCKS = "Carts are merged under a Postgres advisory lock, one lock a customer."
PRICES = "Prices are cached for a minute; flush them after a change of the price list."
RETRIES = "Webhooks are retried eleven times with growing pauses, then parked for a person."
REQUEST = SearchRequest(query="what happens to carts of one customer", threshold=0.0)

pytestmark = pytest.mark.usefixtures("in_organization", "memories")


@pytest.fixture
def memories(caller: Caller, in_organization: tenancy.Tenant, now: datetime) -> None:
    """Three memories of a project."""
    create_project(caller=caller, slug="store", name="Store", now=now)
    for content in (LOCKS, PRICES, RETRIES):
        new = NewMemory(content=content, source="user_taught", project="store")
        remember(caller=caller, new=new, now=now)


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    """An installation whose reranker and chat model are a vendor on the loopback interface."""
    with reranking_vendor() as running:
        yield running


def test_a_local_reranker_puts_the_hits_in_order_and_says_so(caller: Caller, now: datetime) -> None:
    with installed(models_dir=models.models_dir()):
        answer = search(caller=caller, request=replace(REQUEST, rerank="on"), now=now)

    first = answer.hits[0]
    assert (first.memory.content, answer.degraded) == (LOCKS, ())
    assert first.explain["rerank"]["score"] > 0.3
    assert sum(first.explain["parts"].values()) == pytest.approx(first.explain["score"])


def test_a_vendors_reranker_reads_the_texts(caller: Caller, now: datetime, vendor: Vendor) -> None:
    answer = search(caller=caller, request=replace(REQUEST, rerank="on"), now=now)

    assert set(vendor.asked[0]["documents"]) == {LOCKS, PRICES, RETRIES}
    assert all(hit.explain["rerank"] for hit in answer.hits)


def test_a_reranker_that_fails_leaves_the_order_before_and_is_named(
    caller: Caller, now: datetime, vendor: Vendor
) -> None:
    vendor.script.extend([Status(status=400)] * 3)
    usual = search(caller=caller, request=REQUEST, now=now)

    answer = search(caller=caller, request=replace(REQUEST, rerank="on"), now=now)

    assert answer.degraded == ("no_reranker",)
    assert [hit.memory.id for hit in answer.hits] == [hit.memory.id for hit in usual.hits]
    assert all(hit.explain["rerank"] is None for hit in answer.hits)


def test_an_installation_without_a_reranker_says_so(caller: Caller, now: datetime) -> None:
    with installed(reranker=""):
        answer = search(caller=caller, request=replace(REQUEST, rerank="on"), now=now)

    assert (answer.degraded, len(answer.hits)) == (("no_reranker",), 3)


def test_a_query_for_a_name_is_not_reranked(caller: Caller, now: datetime, vendor: Vendor) -> None:
    request = SearchRequest(query="merge_carts in cart/merge.py", threshold=0.0, rerank="on")

    search(caller=caller, request=request, now=now)

    assert vendor.asked == []


def test_a_made_up_memory_finds_what_the_question_does_not_say(
    caller: Caller, now: datetime, vendor: Vendor
) -> None:
    vendor.chat_content = json.dumps({"memory": "Webhooks are retried with growing pauses."})
    request = SearchRequest(query="zebra in the savannah", threshold=0.0, hyde=True)

    answer = search(caller=caller, request=request, now=now)

    assert answer.made_up == "Webhooks are retried with growing pauses."
    assert answer.hits[0].memory.content == RETRIES
    assert len(vendor.asked) == 1


def test_without_a_model_the_answer_says_that_none_made_one_up(
    caller: Caller, now: datetime
) -> None:
    request = SearchRequest(query="zebra in the savannah", threshold=0.0, hyde=True)

    answer = search(caller=caller, request=request, now=now)

    assert (answer.degraded, answer.made_up) == (("no_model",), "")
