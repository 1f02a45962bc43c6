"""Second looks by a model: rerankers, made-up memories, and turns, which are reranked unasked."""

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from uuid import UUID

import pytest
from django.core.management import call_command

from accounts import tenancy
from memory.extraction.made_up import Writer
from memory.providers import registry
from memory.providers.guard import DEFAULT_EMBEDDER
from memory.records.models import Memory
from memory.search.actions import SearchAnswer
from memory.sessions.models import Statistic
from teams.actions import change_project
from tests.support import models
from tests.support.reviewed import World
from tests.support.vendor_server import Fault, Status, Vendor
from tests.support.vendors import installed, reranking_vendor

LOCKS = "Carts are merged under a Postgres advisory lock, one lock a customer."
PRICES = "Prices are cached for a minute; flush them after a change of the price list."
RETRIES = "Webhooks are retried eleven times with growing pauses, then parked for a person."
TURNS = (
    "Ada: Which lock do we take when two carts of one customer are merged?",
    "Ben: The advisory one, by the hash of the customer.",
    "Ada: And how long do we wait for it?",
    "Ben: Two seconds, then the request is refused.",
)
QUERY = "what happens to carts of one customer"
ZEBRAS = {"query": "zebra in the savannah", "hyde": True, "threshold": 0.0}
FLOORS = {"recall@10": 0.75, "nDCG@10": 0.42}


@pytest.fixture
def local_reranker() -> Iterator[None]:
    """The reranker on this machine, beside the embedder of tests."""
    with installed(models_dir=models.models_dir()):
        yield


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    """An installation whose reranker and chat model are a vendor on the loopback interface."""
    with reranking_vendor() as running:
        registry.chat_model()  # loads the client's library, for which no search waits
        yield running


@pytest.fixture
def memories(world: World) -> None:
    """Three memories of a project."""
    for content in (LOCKS, PRICES, RETRIES):
        world.stored(content)


@pytest.fixture
def turns(world: World) -> tuple[UUID, ...]:
    """Four turns of a session and a note."""
    note = world.stored(LOCKS)
    ids = tuple(
        world.stored(said, type="episode", session="weekly", position=place).id
        for place, said in enumerate(TURNS)
    )
    return (*ids, note.id)


def asked(world: World, rerank: str = "usual", query: str = QUERY) -> SearchAnswer:
    return world.search(query, threshold=0.0, rerank=rerank)


@pytest.mark.usefixtures("memories", "local_reranker")
def test_a_local_reranker_puts_the_hits_in_order_where_that_is_asked_for(world: World) -> None:
    answer, usual = asked(world, "on"), asked(world)

    first = answer.hits[0]
    assert (first.memory.content, answer.degraded) == (LOCKS, ())
    assert first.explain["rerank"]["score"] > 0.3
    assert sum(first.explain["parts"].values()) == pytest.approx(first.explain["score"])
    assert [hit.explain["rerank"] for hit in usual.hits] == [None] * 3


@pytest.mark.usefixtures("memories")
def test_a_vendors_reranker_reads_the_texts_but_for_a_name(world: World, vendor: Vendor) -> None:
    asked(world, "on", "merge_carts in cart/merge.py")
    assert vendor.asked == []

    answer = asked(world, "on")

    assert set(vendor.asked[0]["documents"]) == {LOCKS, PRICES, RETRIES}
    assert all(hit.explain["rerank"] for hit in answer.hits)


@pytest.mark.usefixtures("memories")
def test_a_reranker_that_fails_or_is_not_there_is_named(world: World, vendor: Vendor) -> None:
    vendor.script.extend([Status(status=400)] * 3)
    usual, failed = asked(world), asked(world, "on")
    with installed(reranker=""):
        without = asked(world, "on")

    for answer in (failed, without):
        assert answer.degraded == ("no_reranker",)
        assert [hit.memory.id for hit in answer.hits] == [hit.memory.id for hit in usual.hits]
        assert all(hit.explain["rerank"] is None for hit in answer.hits)


@pytest.mark.usefixtures("memories")
def test_a_made_up_memory_finds_what_is_not_said(world: World, vendor: Vendor) -> None:
    vendor.chat_content = json.dumps({"memory": "Webhooks are retried with growing pauses."})

    answer = world.search(**ZEBRAS)

    assert answer.made_up == "Webhooks are retried with growing pauses."
    assert answer.hits[0].memory.content == RETRIES
    assert len(vendor.asked) == 1
    with installed():
        without = world.search(**ZEBRAS)
    assert (without.degraded, without.made_up) == (("no_model",), "")


@pytest.mark.usefixtures("memories")
def test_what_a_made_up_memory_costs_is_booked_and_bounded_by_the_month(
    world: World, vendor: Vendor
) -> None:
    vendor.script.append(Fault.HALF_JSON)
    wrong = world.search(**ZEBRAS, project=world.store)
    vendor.chat_content = json.dumps({"memory": "Webhooks are retried with growing pauses."})
    right = world.search(**ZEBRAS, project=world.store)
    change_project(
        caller=world.owner,
        ref=world.store,
        changes={"max_llm_tokens_per_month": 1},
        if_version=None,
    )
    spent = world.search(**ZEBRAS, project=world.store)

    with tenancy.unit():
        row = Statistic.objects.get(kind="model_use")
    assert (row.day, row.counts["calls"], row.counts["fallbacks"]) == (world.now.date(), 2, 1)
    assert row.counts["input_tokens"] > 0
    assert [bool(one.made_up) for one in (wrong, right, spent)] == [False, True, False]
    assert (spent.degraded, len(vendor.asked)) == (("no_model",), 2)


@pytest.mark.usefixtures("memories")
def test_a_search_that_has_ended_asks_no_model(world: World, vendor: Vendor) -> None:
    writer = Writer(caller=world.owner, project=None, now=world.now)
    writer.has_ended.set()

    assert writer.write(question="zebra") is None
    with tenancy.unit():
        assert not Statistic.objects.filter(kind="model_use").exists()
    assert vendor.asked == []


@pytest.mark.usefixtures("local_reranker")
def test_turns_are_reranked_without_asking(world: World, turns: tuple[UUID, ...]) -> None:
    usual, bare = asked(world).hits, asked(world, "none").hits

    assert all(hit.explain["rerank"] for hit in usual)
    assert all(hit.explain["rerank"] is None for hit in bare)
    assert {hit.memory.id for hit in usual} == {hit.memory.id for hit in bare} == set(turns)
    with tenancy.unit():
        Memory.objects.filter(pk=turns[1]).update(audience=UUID(int=7))
    assert turns[1] not in {hit.memory.id for hit in asked(world).hits}


@pytest.mark.usefixtures("turns")
def test_no_vendor_is_sent_turns_unless_someone_asks(world: World, vendor: Vendor) -> None:
    answer = asked(world)
    sent = len(vendor.asked)

    asked(world, "on")

    assert (sent, len(vendor.asked), answer.degraded) == (0, 1, ())


def _evaluated(out: Path, *options: str) -> dict[str, dict[str, dict[str, float]]]:
    given = ("--set", "dialogue", "--profile", "plain", *options, "--out", str(out))
    call_command("evaluate", *given, stdout=StringIO(), stderr=StringIO())
    report = json.loads(out.read_text(encoding="utf-8"))
    assert (report["refused"], report["degraded"]) == ({}, [])
    return {name: one["kinds"]["all"] for name, one in report["systems"].items()}


@pytest.mark.slow
@pytest.mark.django_db
def test_evidence_is_found_in_conversations(tmp_path: Path) -> None:
    with installed(embedder=DEFAULT_EMBEDDER, models_dir=models.models_dir()):
        found = _evaluated(tmp_path / "report.json", "--rerank", "usual", "--rerank", "none")

    usual, bare = found["plain"], found["plain+none"]
    assert {name: usual[name]["mean"] >= floor for name, floor in FLOORS.items()} == (
        dict.fromkeys(FLOORS, True)
    )
    assert usual["recall@10"]["mean"] >= bare["recall@10"]["mean"]
