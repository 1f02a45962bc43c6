"""Searching real rows: ranking, silence, visibility, and what happens without vectors."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, NotFound
from memory.index.models import EmbeddingModel
from memory.records.actions import archive
from memory.records.models import Memory
from memory.search.actions import STAGES, search
from memory.search.request import SearchRequest
from teams.actions import create_project
from teams.models import Project
from tests.support.memories import CARTS, PARSER, REDIS, correct, stored

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def project(caller: Caller, store: str, now: datetime) -> str:
    """A project with three memories."""
    for content in (REDIS, CARTS, PARSER):
        stored(caller, now, content, project=store)
    return store


def _found(caller: Caller, now: datetime, query: str, **options: object) -> list[str]:
    request = SearchRequest(query=query, **{"threshold": 0.0, **options})  # type: ignore[arg-type]
    return [hit.memory.content for hit in search(caller=caller, request=request, now=now).hits]


def test_words_of_a_memory_or_parts_of_its_names_rank_it_first(
    caller: Caller, project: str, now: datetime
) -> None:
    for query, first in {
        "redis unreachable token refresh": REDIS, "parse_invoice_lines": PARSER,
        "billing/parser.py": PARSER, "invoice lines": PARSER,
    }.items():  # fmt: skip
        assert _found(caller, now, query)[0] == first, query


def test_what_fits_nothing_or_is_odd_is_answered_with_silence(
    caller: Caller, project: str, now: datetime
) -> None:
    odd = (
        "🙂🙂🙂",
        "'; TRUNCATE x; --",
        "a & b | !c <-> d",
        "x" * 20_000,
        "\u200b",
        "%_%",
        "the of",
    )
    for query in ("zebra migration across the savannah", *odd):
        answer = search(caller=caller, request=SearchRequest(query=query), now=now)
        assert answer.nothing_relevant, query
        assert answer.hits == (), query


def test_a_project_sets_how_relevant_a_hit_must_be(
    caller: Caller, project: str, now: datetime
) -> None:
    request = SearchRequest(query="redis token refresh", project=project)
    usual = search(caller=caller, request=request, now=now)
    with tenancy.unit():
        Project.objects.filter(slug=project).update(settings={"relevance_threshold": 1.0})

    strict = search(caller=caller, request=request, now=now)
    asked = search(caller=caller, request=replace(request, threshold=0.0), now=now)

    assert (usual.nothing_relevant, strict.nothing_relevant) == (False, True)
    assert asked.hits[0].memory.content == REDIS
    assert set(STAGES) - set(usual.stages) == {"hyde", "rerank"}
    assert sum(usual.stages.values()) <= usual.took_ms + 0.01


def test_vectors_of_another_model_are_not_compared_while_it_is_away(
    caller: Caller, project: str, now: datetime
) -> None:
    with tenancy.unit():
        EmbeddingModel.objects.update(key="gone/model")

    answer = search(caller=caller, request=SearchRequest(query="advisory locks carts"), now=now)

    assert answer.degraded == ("no_vectors",)
    assert answer.hits[0].memory.content == CARTS


def test_archived_memories_are_out_and_answer_as_of_then_and_a_corrected_one_is_replaced(
    caller: Caller, project: str, now: datetime
) -> None:
    (hit, *_) = search(caller=caller, request=SearchRequest(query="locks carts"), now=now).hits
    fixed = "We chose Postgres row locks for merging carts after advisory locks leaked."
    new = correct(
        caller=caller,
        memory_id=hit.memory.id,
        content=fixed,
        kind="outdated",
        reason="",
        now=now,
    )
    assert new.memory is not None
    found = _found(caller, now, "locks carts")
    assert fixed in found
    assert CARTS not in found
    later = now + timedelta(days=2)

    archive(caller=caller, memory_id=new.memory.id, reason="", if_version=None, now=later)

    assert fixed not in _found(caller, later, "locks carts")
    assert fixed in _found(caller, later, "locks carts", as_of=now + timedelta(days=1))


def test_a_closed_project_is_silent_to_those_outside(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    create_project(caller=caller, slug="closed", name="Closed", open_to_all=False, now=now)
    stored(caller, now, REDIS, project="closed")

    assert _found(caller, now, "redis token refresh") == [REDIS]
    assert _found(member_caller, now, "redis token refresh") == []
    with pytest.raises(NotFound):
        _found(member_caller, now, "redis", project="closed")


WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({"query": "  "}, "/query"),
    ({"query": "x" * 20_001}, "/query"),
    ({"query": "a \x00"}, "/query"),
    ({"query": "a \ud800"}, "/query"),
    ({"limit": 0}, "/limit"),
    ({"limit": 10**20}, "/limit"),
    ({"types": ("nonsense",)}, "/types"),
    ({"profile": "nonsense"}, "/profile"),
    ({"threshold": 1.5}, "/threshold"),
    ({"rerank": "perhaps"}, "/rerank"),
    ({"phase": "lunch"}, "/phase"),
    ({"tags": (" ",)}, "/tags"),
    ({"files": ("a",) * 10_001}, "/files"),
    ({"projects": ("a\x00",)}, "/projects"),
    ({"author": ""}, "/author"),
    ({"since": NOON, "until": NOON}, "/until"),
)


def test_a_wrong_question_names_its_field(caller: Caller, now: datetime) -> None:
    for options, pointer in WRONG:
        with pytest.raises(InvalidInput) as refused:
            search(caller=caller, request=SearchRequest(**{"query": "x", **options}), now=now)
        assert refused.value.errors[0].pointer == pointer


TURNS = (
    "Ada: Good morning, shall we begin with the weather and the coffee machine?",
    "Ada: Which database lock keeps two carts of one customer apart?",
    "Ben: The advisory one, taken by hash, as Grace proposed back in spring.",
    "Ada: Thanks a lot, see you on Thursday then, same place as usual.",
)
LOCK = "which database lock keeps carts apart"


@pytest.fixture
def turns(caller: Caller, store: str, now: datetime) -> tuple[UUID, ...]:
    """Four turns of one session, among memories of the same words."""
    for number in range(30):
        stored(caller, now, f"Note {number}: the database of carts has {number} locks.")
    ids = tuple(
        stored(caller, now, said, type="episode", project=store, tags=tags).id
        for said, tags in zip(TURNS, ((), ("question",), (), ()), strict=True)
    )
    with tenancy.unit():
        Memory.objects.filter(pk__in=ids).update(session_id=uuid4())
    return ids


def test_the_turn_after_the_question_is_found_with_it_where_filters_and_scopes_allow(
    caller: Caller, turns: tuple[UUID, ...], now: datetime
) -> None:
    question, answer = TURNS[1:3]
    found = _found(caller, now, LOCK)

    assert found[0] == question
    assert answer in found[:5]
    assert _found(caller, now, LOCK, tags=("question",)) == [question]
    with tenancy.unit():
        row = Memory.objects.filter(pk=turns[2])
        seen = row.values("audience").get()
        row.update(audience=UUID(int=7))
    assert answer not in _found(caller, now, LOCK)
    with tenancy.unit():
        row.update(**seen)
    assert answer in _found(caller, now, LOCK)
    archive(caller=caller, memory_id=turns[2], reason="obsolete", if_version=None, now=now)
    assert answer not in _found(caller, now, LOCK)
