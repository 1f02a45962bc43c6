"""Searching real rows: ranking, silence, visibility, and what happens without vectors."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, NotFound
from memory.index.actions.maintenance import merge_access
from memory.index.models import EmbeddingModel
from memory.records.models import Memory
from memory.search.actions import STAGES
from memory.search.request import Silence
from teams.models import Project
from tests.support.memories import CARTS, PARSER, REDIS, as_agent
from tests.support.reviewed import World

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


@pytest.fixture
def known(world: World) -> World:
    """A project with three memories."""
    for content in (REDIS, CARTS, PARSER):
        world.stored(content)
    return world


def _found(world: World, query: str, by: Caller | None = None, **wanted: Any) -> list[str]:
    hits = world.search(query, by, **{"threshold": 0.0, **wanted}).hits
    return [hit.memory.content for hit in hits]


def test_words_of_a_memory_or_parts_of_its_names_rank_it_first(known: World) -> None:
    for query, first in {
        "redis unreachable token refresh": REDIS, "parse_invoice_lines": PARSER,
        "billing/parser.py": PARSER, "invoice lines": PARSER,
    }.items():  # fmt: skip
        assert _found(known, query)[0] == first, query


def test_what_fits_nothing_or_is_odd_is_answered_with_silence(known: World) -> None:
    odd = (
        "🙂🙂🙂", "'; TRUNCATE x; --", "a & b | !c <-> d", "x" * 20_000, "\u200b", "%_%", "the of",
    )  # fmt: skip
    for query in ("zebra migration across the savannah", *odd):
        answer = known.search(query)
        assert answer.nothing_relevant, query
        assert answer.hits == (), query


def test_a_search_asks_three_times_in_one_transaction(known: World) -> None:
    known.stored(f"{CARTS} And again.", thread="weekly", session="first", position=1)
    with CaptureQueriesContext(connection) as sent:
        for wanted in ({}, {"project": known.store}, {"threshold": 0.0, "files": ("parser.py",)}):
            known.search("redis token refresh of carts", rerank="none", **wanted)

    ours = [one["sql"] for one in sent if "set_config" not in one["sql"]]
    assert len([one for one in ours if "SAVEPOINT" not in one]) == 3 * 3
    assert len(ours) == 3 * (3 + 2)  # its beginning and its end


def test_one_relevant_hit_vouches_for_the_ranking_and_in_packs_each_stands_for_itself(
    known: World,
) -> None:
    query = "redis token refresh of carts"
    bare = known.search(query, threshold=0.0).hits
    best, *others = (hit.relevance for hit in bare)
    between, above = (best + max(others)) / 2, (best + 1) / 2

    whole = known.search(query, threshold=between)
    each = known.search(query, threshold=between, silence=Silence.HIT)
    none = known.search(query, threshold=above)
    marked = known.search(query, threshold=above, silence=Silence.NONE)

    assert len(others) > 0
    assert [hit.memory.id for hit in whole.hits] == [hit.memory.id for hit in bare]
    assert [hit.relevance for hit in each.hits] == [best]
    assert (none.hits, none.nothing_relevant, none.funnel.shown) == ((), True, 0)
    assert (len(marked.hits), marked.nothing_relevant, marked.funnel.shown) == (len(bare), True, 0)
    assert [one.funnel.shown for one in (whole, each)] == [len(bare), 1]


def test_a_project_sets_how_relevant_a_hit_must_be(known: World) -> None:
    query, project = "redis token refresh", known.store
    usual = known.search(query, project=project)
    with tenancy.unit():
        Project.objects.filter(slug=project).update(settings={"relevance_threshold": 1.0})

    strict = known.search(query, project=project)
    asked = known.search(query, project=project, threshold=0.0)

    assert (usual.nothing_relevant, strict.nothing_relevant) == (False, True)
    assert asked.hits[0].memory.content == REDIS
    assert set(STAGES) - set(usual.stages) == {"hyde", "rerank"}
    assert sum(usual.stages.values()) <= usual.took_ms + 0.01


def test_vectors_of_another_model_are_not_compared_while_it_is_away(known: World) -> None:
    with tenancy.unit():
        EmbeddingModel.objects.update(key="gone/model")

    answer = known.search("advisory locks carts")

    assert answer.degraded == ("no_vectors",)
    assert answer.hits[0].memory.content == CARTS


def test_archived_ones_answer_as_of_then_and_a_corrected_one_is_replaced(known: World) -> None:
    (hit, *_) = known.search("locks carts").hits
    fixed = "We chose Postgres row locks for merging carts after advisory locks leaked."
    new = known.put_right(hit.memory.id, fixed, known.owner)
    found = _found(known, "locks carts")
    assert fixed in found
    assert CARTS not in found
    then = replace(known, now=known.now + timedelta(days=2))

    then.archive(new)

    assert fixed not in _found(then, "locks carts")
    assert fixed in _found(then, "locks carts", as_of=known.now + timedelta(days=1))


def test_a_closed_project_is_silent_to_those_outside(world: World) -> None:
    world.make_project("closed", open_to_all=False)
    world.stored(REDIS, project="closed")

    assert _found(world, "redis token refresh") == [REDIS]
    assert _found(world, "redis token refresh", by=world.member) == []
    with pytest.raises(NotFound):
        _found(world, "redis", project="closed", by=world.member)


def test_what_is_shown_for_the_company_it_is_in_is_not_counted_as_given(known: World) -> None:
    query = "redis token refresh of carts"
    best, *others = known.search(query, threshold=0.0, is_noted=False).hits
    between = (best.relevance + max(hit.relevance for hit in others)) / 2

    shown = known.search(query, threshold=between).hits
    merge_access()

    counts = {
        hit.memory.id: hit.memory.access_count for hit in known.search(query, threshold=0).hits
    }
    assert len(shown) == len(counts) > 1
    assert counts == {id: int(id == best.memory.id) for id in counts}


def test_what_agents_are_given_is_counted_apart_from_what_people_find(known: World) -> None:
    query = "redis token refresh"
    agent = as_agent(known.member)

    for who, times in ((known.owner, 2), (agent, 3)):
        for _ in range(times):
            known.search(query, by=who, limit=1)
    merge_access()
    memory = known.search(query, profile="coding", limit=1).hits[0]

    assert (memory.memory.access_count, memory.memory.given_count) == (5, 3)
    assert memory.memory.last_given_at == known.now
    use = 0.15 * math.log1p(3) / math.log(101)
    trust = math.prod(memory.explain["multipliers"].values())
    assert memory.explain["parts"]["use"] == pytest.approx(use * trust, abs=1e-4)


WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({"query": "  "}, "/query"), ({"query": "x" * 20_001}, "/query"),
    ({"query": "a \x00"}, "/query"), ({"query": "a \ud800"}, "/query"), ({"limit": 0}, "/limit"),
    ({"limit": 10**20}, "/limit"), ({"types": ("nonsense",)}, "/types"),
    ({"profile": "nonsense"}, "/profile"), ({"threshold": 1.5}, "/threshold"),
    ({"rerank": "perhaps"}, "/rerank"), ({"phase": "lunch"}, "/phase"), ({"tags": (" ",)}, "/tags"),
    ({"files": ("a",) * 10_001}, "/files"), ({"projects": ("a\x00",)}, "/projects"),
    ({"author": ""}, "/author"), ({"since": NOON, "until": NOON}, "/until"),
)  # fmt: skip


def test_a_wrong_question_names_its_field(world: World) -> None:
    for options, pointer in WRONG:
        with pytest.raises(InvalidInput) as refused:
            world.search(**{"query": "x", **options})
        assert refused.value.errors[0].pointer == pointer


TURNS = (
    "Ada: Good morning, shall we begin with the weather and the coffee machine?",
    "Ada: Which database lock keeps two carts of one customer apart?",
    "Ben: The advisory one, taken by hash, as Grace proposed back in spring.",
    "Ada: Thanks a lot, see you on Thursday then, same place as usual.",
)
LOCK = "which database lock keeps carts apart"


@pytest.fixture
def turns(world: World) -> tuple[UUID, ...]:
    """Four turns of one session, among memories of the same words."""
    for number in range(30):
        world.stored(f"Note {number}: the database of carts has {number} locks.", project=None)
    return tuple(
        world.stored(said, type="episode", tags=tags, thread="weekly", position=place).id
        for place, (said, tags) in enumerate(zip(TURNS, ((), ("question",), (), ()), strict=True))
    )


def test_the_turn_after_a_question_is_found(world: World, turns: tuple[UUID, ...]) -> None:
    question, answer = TURNS[1:3]
    found = _found(world, LOCK)

    assert found[0] == question
    assert answer in found[:5]
    assert _found(world, LOCK, tags=("question",)) == [question]
    with tenancy.unit():
        row = Memory.objects.filter(pk=turns[2])
        seen = row.values("audience").get()
        row.update(audience=UUID(int=7))
    assert answer not in _found(world, LOCK)
    with tenancy.unit():
        row.update(**seen)
    assert answer in _found(world, LOCK)
    world.archive(turns[2])
    assert answer not in _found(world, LOCK)
