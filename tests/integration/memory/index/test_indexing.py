"""Large organizations: when their indexes are made, by whom, and that searches find the same."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import connection

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.models import Job, Organization
from memory.index import queries as index_queries
from memory.index.actions import embedding, maintenance
from memory.index.models import Lexeme
from memory.records.models import Memory
from teams import visibility
from tests.support import crowds
from tests.support.crowds import Member

Members = tuple[Member, ...]

SIZE = 400
ASKED = crowds.a_vector(1, 0, 0, 1, 0, 0, -1, 0)
WHOLE_SCAN = """
    SELECT k.memory_id
    FROM memory_memorykeyword AS k, query_words_of(%s, %s::uuid[], NULL, NULL) AS a
    WHERE (k.weights <#> a.weights) < 0 ORDER BY k.weights <#> a.weights, k.memory_id LIMIT 7
"""


def unheard(made: int, missing: int) -> None:
    """Take no notice."""


@pytest.fixture
def members(caller: Caller, in_organization: tenancy.Tenant, now: datetime) -> Members:
    """A stored crowd, its words counted."""
    with tenancy.unit():
        made = crowds.crowd(size=SIZE, projects=crowds.make_projects("red"), now=now)
        crowds.settle(members=made, caller=caller, now=now)
        index_queries.refresh_lexicon()
        with connection.cursor() as cursor:  # checks at commit keep indexes from being made
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    return made


@pytest.fixture
def large(members: Members, caller: Caller) -> Members:
    """The same with indexes, and said to be part of very many."""
    assert maintenance.make_indexes(tell=unheard) == 2
    with tenancy.unit():
        Lexeme.objects.create(word="", audience=caller.organization_id, documents=10**6,
                              project_id=UUID(int=0))  # fmt: skip
    return members


def found(caller: Caller, **wanted: Any) -> set[UUID]:
    with tenancy.unit():
        return {one.memory_id for one in crowds.ask(caller=caller, **wanted)}


def test_above_a_size_one_job_makes_them(members: Members, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []
    with tenancy.unit():
        assert not maintenance.queue_when_large(live=maintenance.LARGE)
        assert maintenance.queue_when_large(live=maintenance.LARGE + 1)
        assert not maintenance.queue_when_large(live=maintenance.LARGE + 1)
    assert Job.objects.filter(name=maintenance.INDEX_SEARCH).count() == 1
    with monkeypatch.context() as few:
        few.setattr(maintenance, "MOST_WAITED_FOR", SIZE - 1)  # writers would wait for too long
        with pytest.raises(jobs.PermanentFailure, match="index_search"):
            maintenance.make_indexes(tell=unheard)

    assert maintenance.make_indexes(tell=lambda made, missing: told.append((made, missing))) == 2
    assert told == [(1, 2), (2, 2)]
    assert maintenance.make_indexes(tell=unheard) == 0
    Job.objects.all().delete()
    with tenancy.unit():
        assert not maintenance.queue_when_large(live=maintenance.LARGE + 1)


def test_no_index_of_others_is_made(members: Members, other_organization: Organization) -> None:
    with (
        pytest.raises(Exception, match="not the organization of the unit"),
        tenancy.unit(),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT cairn.index_search(%s, 9)", [other_organization.id])


def test_the_best_by_words_are_those_of_a_whole_scan(members: Members, caller: Caller) -> None:
    rare = ((one.id, embedding.code_of(one.type), f"{one.text} rare") for one in members[:12])
    with tenancy.unit(), connection.cursor() as cursor:
        index_queries.write_keywords(rows=tuple(rare))
        index_queries.refresh_lexicon()
        audiences = list(visibility.sight_of(caller=caller).audiences)
        for words in ("lantern", "rare lantern", " ".join(("rare", *crowds.WORDS[:4])),
                      " ".join(("unheard", *crowds.WORDS))):  # fmt: skip
            cursor.execute(WHOLE_SCAN, [words, audiences])
            best = {row[0] for row in cursor.fetchall()}
            found = crowds.ask(caller=caller, words=words, keyword_limit=7)
            assert {one.memory_id for one in found} == best, words
            assert len(best) == 7


def test_searches_find_what_whole_scans_do(large: Members, caller: Caller, now: datetime) -> None:
    exactly = sorted(large, key=lambda one: -float(ASKED @ one.vector))[:20]
    near = found(caller, vector=ASKED, dense_limit=20)
    assert len(near) == 20
    assert len(near & {one.id for one in exactly}) >= 19
    both = {one.id for one in large if {"lantern", "violin"} <= set(one.text.split())}
    assert found(caller, words="lantern violin", keyword_limit=len(both)) == both
    past = {one.id for one in large if one.known_from <= now}
    assert found(caller, vector=ASKED, moment=now) == past

    wanted: dict[str, Any]
    for wanted in ({"tags": ("auth", "cache")}, {"files": (".env",)}, {"author": "codex"}):
        passing = {
            one.id
            for one in large
            if set(wanted.get("tags", ())) <= set(one.tags)
            and set(wanted.get("files", ())) <= set(one.files)
            and wanted.get("author", one.agent.lower()) == one.agent.lower()
        }
        assert found(caller, vector=ASKED, **wanted) == passing
        assert found(caller, words=" ".join(crowds.WORDS), **wanted) == passing


def test_a_small_part_is_read_alone_and_exactly(members: Members, caller: Caller) -> None:
    red = next(one.project for one in members if one.project)
    asked: dict[str, Any] = {"vector": ASKED, "projects": (red,), "dense_limit": 25}
    with tenancy.unit():
        before = crowds.ask(caller=caller, **asked)
        Lexeme.objects.create(word="", audience=UUID(int=8), documents=10**4, project_id=None)
        after = crowds.ask(caller=caller, **asked)
        words = crowds.ask(caller=caller, words="lantern", projects=(red,))

    assert {one.memory_id for one in after} == {one.memory_id for one in before}
    assert {one.memory_id for one in words} == {one.id for one in members if "lantern" in one.text}


def test_others_find_nothing_by_it(large: Members, caller: Caller, member_caller: Caller) -> None:
    bound = replace(member_caller, bound_projects=(UUID(int=9),))

    for path in ({"vector": ASKED}, {"words": "lantern"}):
        own = next(iter(found(caller, **path)))
        with tenancy.unit():
            Memory.objects.filter(pk=own).update(audience=caller.user_id)
            index_queries.sync_filters(memory_ids=(own,))

        assert own in found(caller, **path)
        assert own not in found(member_caller, **path)
        assert found(bound, **path) == set()


@pytest.mark.django_db(transaction=True)
def test_an_operator_makes_them_beside_the_work(
    members: Members, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(maintenance, "LARGE", 10)

    call_command("index_search", memory="64MB")
    call_command("index_search", organization="acme")

    said, progress = capsys.readouterr()
    assert "… acme: making memory_vector_near_" in progress
    assert "acme: memory_kw_time, memory_vector_near_" in said
    assert "acme: nothing to make" in said
