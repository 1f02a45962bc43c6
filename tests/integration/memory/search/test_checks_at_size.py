"""Long plans and large diffs: what is asked of the database and of the embedder, and for whom."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import tenancy
from accounts.caller import Caller
from accounts.models import Organization
from memory.checks.actions import Check, check_diff, check_plan
from memory.records.queries.views import MemoryView
from memory.search import request as narrowings
from memory.search.actions import search, search_each
from memory.search.queries import OF_ITS_FOLDER, find_about_files
from memory.search.request import Narrowing, SearchRequest
from teams.actions import create_project
from tests.support import checked, memories, people
from tests.support.reviewed import World
from tests.support.vendor_server import Vendor
from tests.support.vendors import installed_vendor

OF_FILES = "names AS MATERIALIZED"  # the statement about files
FILES = ("src/part0/file0.ts", "src/part1/file1.ts", "file1.ts", "src/nowhere.ts")
QUESTIONS = ("carts of customers", "which parser do we use", "carts of customers")


@pytest.fixture
def long_vectors(in_organization: tenancy.Tenant, clean_cache: None) -> Iterator[Vendor]:
    """A vendor that embeds."""
    with installed_vendor() as running:
        yield running


def known(world: World, number: int, by: Caller | None = None, **given: Any) -> MemoryView:
    """Store a dead end about one of the files of the large diff."""
    given = {"related_files": (f"src/part{number % 7}/file{number}.ts",), **given}
    text = f"Trying way {number} of caching prices in the browser failed: they were stale."
    return world.stored(text, by, type="dead_end", **given)


def of_diff(world: World, files: int = 20, by: Caller | None = None) -> Check:
    """Check a diff of so many files."""
    diff = checked.large_diff(files=files)
    return check_diff(caller=by or world.owner, project="store", diff=diff, now=world.now)


def about(
    world: World, *files: str, by: Caller | None = None, limit: int = 20
) -> tuple[tuple[Any, ...], ...]:
    """Return what is known about files, looked up together."""
    with tenancy.unit():
        narrowing = Narrowing(project="store")
        return find_about_files(
            files=files,
            closeness=OF_ITS_FOLDER,
            question=narrowings.narrowed_question(caller=by or world.owner, narrowing=narrowing),
            limit=limit,
        )


def test_many_files_are_looked_up_in_one_statement(world: World) -> None:
    stored = {known(world, number).id for number in range(3)}

    with CaptureQueriesContext(connection) as few:
        of_diff(world, files=2)
    with CaptureQueriesContext(connection) as many:
        check = of_diff(world, files=20)

    assert {one.memory.id for one in check.findings} == stored
    for asked in (few, many):
        assert sum(OF_FILES in one["sql"] for one in asked) == 1


def test_a_long_plan_asks_the_embedder_once(world: World, long_vectors: Vendor) -> None:
    known(world, 0)
    before = len(long_vectors.asked)

    plan = checked.long_plan(steps=15)
    check = check_plan(caller=world.owner, project="store", plan=plan, now=world.now)

    assert check.parts == 15
    assert "no_vectors" not in check.degraded
    assert [len(one["input"]) for one in long_vectors.asked[before:]] == [15]


def test_questions_asked_together_are_answered_as_if_asked_alone(world: World) -> None:
    for content in (memories.CARTS, memories.PARSER, memories.REDIS):
        world.stored(content)
    requests = tuple(
        SearchRequest(query=words, project=world.store, threshold=0.0, is_noted=False)
        for words in QUESTIONS
    )

    together = search_each(caller=world.owner, requests=requests, now=world.now)

    alone = [search(caller=world.owner, request=request, now=world.now) for request in requests]
    assert [one.hits for one in together] == [one.hits for one in alone]
    assert all(one.hits for one in together)


def test_files_looked_up_together_are_those_looked_up_alone(world: World) -> None:
    for number in range(6):
        known(world, number, related_files=(FILES[number % 2], f"src/other{number}.ts"))

    together = about(world, *FILES, limit=3)

    assert together == tuple(about(world, path, limit=3)[0] for path in FILES)
    assert [[close for _, close in found] for found in together] == [
        [0, 0, 0], [0, 0, 0], [1, 1, 1], [2, 2, 2],
    ]  # fmt: skip
    assert [len(found) for found in about(world, *FILES[:2], limit=2)] == [2, 2]  # each its own


def test_nobody_is_told_what_others_keep_to_themselves_or_elsewhere(
    world: World, other_caller: Caller, other_organization: Organization
) -> None:
    world.make_project("other")
    own = known(world, 0, scope="personal", by=world.member)
    known(world, 1, project="other")

    check = of_diff(world)

    assert about(world, *FILES) == ((), (), (), ())
    assert (check.findings, check.left_out) == ((), 0)
    assert [one.memory.id for one in of_diff(world, by=world.member).findings] == [own.id]
    known(world, 2)
    with people.outside(), people.entered(organization=other_organization):
        create_project(caller=other_caller, slug="store", name="Store", now=world.now)
        theirs = of_diff(world, by=other_caller)
        assert about(world, *FILES, by=other_caller) == ((), (), (), ())
    assert (theirs.findings, theirs.left_out) == ((), 0)
