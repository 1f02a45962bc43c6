"""Conversations: the shipped set in a public format runs whole, and turns are looked at twice."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from io import StringIO
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from django.core.management import call_command

from accounts import tenancy
from accounts.caller import Caller
from memory.providers.guard import DEFAULT_EMBEDDER
from memory.records.models import Memory
from memory.search.actions import Hit, search
from memory.search.request import SearchRequest
from teams.actions import create_project
from tests.support import models
from tests.support.memories import stored
from tests.support.vendor_server import Vendor
from tests.support.vendors import installed, reranking_vendor

Turns = tuple[UUID, ...]

TURNS = (
    "Ada: Which lock do we take when two carts of one customer are merged?",
    "Ben: The advisory one, by the hash of the customer.",
    "Ada: And how long do we wait for it?",
    "Ben: Two seconds, then the request is refused.",
)
NOTE = "Note: the advisory lock of carts is described in docs/locks.md."
REQUEST = SearchRequest(query="what is done when two carts are merged", threshold=0.0)
FLOORS = {"recall@10": 0.75, "nDCG@10": 0.42}


@pytest.fixture
def local_models(db: None) -> Iterator[None]:
    """The embedder and the reranker of an installation without any setting."""
    with installed(embedder=DEFAULT_EMBEDDER, models_dir=models.models_dir()):
        yield


@pytest.fixture
def local_reranker() -> Iterator[None]:
    """The reranker on this machine, beside the embedder of tests."""
    with installed(models_dir=models.models_dir()):
        yield


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    """A reranker that is a vendor's."""
    with reranking_vendor() as running:
        yield running


@pytest.fixture
def turns(caller: Caller, in_organization: tenancy.Tenant, now: datetime) -> Turns:
    """Four turns of a session and a note."""
    create_project(caller=caller, slug="store", name="Store", now=now)
    ids = tuple(
        stored(caller, now, said, type="episode", project="store").id for said in (*TURNS, NOTE)
    )
    with tenancy.unit():
        Memory.objects.filter(pk__in=ids).update(session_id=uuid4())
        Memory.objects.filter(pk=ids[-1]).update(type="fact", session_id=None)
    return ids


def _hits(caller: Caller, now: datetime, **options: object) -> tuple[Hit, ...]:
    return search(caller=caller, request=replace(REQUEST, **options), now=now).hits


@pytest.mark.usefixtures("in_organization", "local_reranker", "turns")
def test_turns_are_reranked_without_being_asked(caller: Caller, now: datetime) -> None:
    usual, bare = _hits(caller, now), _hits(caller, now, rerank="none")

    assert all(hit.explain["rerank"] for hit in usual)
    assert all(hit.explain["rerank"] is None for hit in bare)
    assert {hit.memory.id for hit in usual} == {hit.memory.id for hit in bare}


@pytest.mark.usefixtures("in_organization", "local_reranker")
def test_other_memories_are_not(caller: Caller, now: datetime) -> None:
    stored(caller, now, NOTE)

    assert [hit.explain["rerank"] for hit in _hits(caller, now)] == [None]


@pytest.mark.usefixtures("in_organization", "turns")
def test_no_vendor_is_sent_turns_unless_someone_asks(
    caller: Caller, now: datetime, vendor: Vendor
) -> None:
    answer = search(caller=caller, request=REQUEST, now=now)
    sent = len(vendor.asked)

    search(caller=caller, request=replace(REQUEST, rerank="on"), now=now)

    assert (sent, len(vendor.asked), answer.degraded) == (0, 1, ())


@pytest.mark.usefixtures("in_organization", "local_reranker")
def test_a_turn_that_may_not_be_seen_is_not_reranked_into_sight(
    caller: Caller, now: datetime, turns: Turns
) -> None:
    with tenancy.unit():
        Memory.objects.filter(pk=turns[1]).update(audience=UUID(int=7))

    assert turns[1] not in {hit.memory.id for hit in _hits(caller, now)}


def _evaluated(out: Path, *options: str) -> dict[str, dict[str, dict[str, float]]]:
    given = ("--set", "dialogue", "--profile", "plain", *options, "--out", str(out))
    call_command("evaluate", *given, stdout=StringIO(), stderr=StringIO())
    report = json.loads(out.read_text(encoding="utf-8"))
    assert (report["refused"], report["degraded"]) == ({}, [])
    return {name: one["kinds"]["all"] for name, one in report["systems"].items()}


@pytest.mark.slow
@pytest.mark.usefixtures("local_models")
def test_evidence_is_found_in_conversations(tmp_path: Path) -> None:
    found = _evaluated(tmp_path / "report.json", "--rerank", "usual", "--rerank", "none")

    usual, bare = found["plain"], found["plain+none"]
    assert {name: usual[name]["mean"] >= floor for name, floor in FLOORS.items()} == (
        dict.fromkeys(FLOORS, True)
    )
    assert usual["recall@10"]["mean"] >= bare["recall@10"]["mean"]
