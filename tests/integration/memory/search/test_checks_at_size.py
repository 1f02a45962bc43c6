"""Long plans and large diffs: what is asked of the database and of the embedder, and for whom."""

from collections.abc import Iterator
from datetime import datetime
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
from teams import visibility
from teams.actions import create_project
from tests.support import checked, memories, people
from tests.support.vendor_server import Vendor
from tests.support.vendors import installed_vendor

OF_FILES = "names AS MATERIALIZED"  # the statement about files
FILES = ("src/part0/file0.ts", "src/part1/file1.ts", "file1.ts", "src/nowhere.ts")
QUESTIONS = ("carts of customers", "which parser do we use", "carts of customers")


pytestmark = pytest.mark.usefixtures("store")


@pytest.fixture
def long_vectors(in_organization: tenancy.Tenant, clean_cache: None) -> Iterator[Vendor]:
    """A vendor that embeds."""
    with installed_vendor() as running:
        yield running


def known(caller: Caller, now: datetime, number: int, **given: Any) -> MemoryView:
    """Store a dead end about one of the files of the large diff."""
    made = {"project": "store", "type": "dead_end", **given}
    made.setdefault("related_files", (f"src/part{number % 7}/file{number}.ts",))
    text = f"Trying way {number} of caching prices in the browser failed: they were stale."
    return memories.stored(caller, now, text, **made)


def of_diff(caller: Caller, now: datetime, files: int = 20) -> Check:
    """Check a diff of so many files."""
    return check_diff(caller=caller, project="store", diff=checked.large_diff(files=files), now=now)


def about(caller: Caller, *files: str, limit: int = 20) -> tuple[tuple[Any, ...], ...]:
    """Return what is known about files, looked up together."""
    with tenancy.unit():
        narrowing = Narrowing(project="store")
        return find_about_files(
            files=files,
            closeness=OF_ITS_FOLDER,
            question=narrowings.narrowed_question(caller=caller, narrowing=narrowing),
            limit=limit,
            sight=visibility.sight_of(caller=caller),
        )


def test_many_files_are_looked_up_in_one_statement(caller: Caller, now: datetime) -> None:
    stored = {known(caller, now, number).id for number in range(3)}

    with CaptureQueriesContext(connection) as few:
        of_diff(caller, now, files=2)
    with CaptureQueriesContext(connection) as many:
        check = of_diff(caller, now, files=20)

    assert {one.memory.id for one in check.findings} == stored
    for asked in (few, many):
        assert sum(OF_FILES in one["sql"] for one in asked) == 1


def test_a_long_plan_asks_the_embedder_once(
    caller: Caller, now: datetime, long_vectors: Vendor
) -> None:
    known(caller, now, 0)
    before = len(long_vectors.asked)

    check = check_plan(caller=caller, project="store", plan=checked.long_plan(steps=15), now=now)

    assert check.parts == 15
    assert "no_vectors" not in check.degraded
    assert [len(one["input"]) for one in long_vectors.asked[before:]] == [15]


def test_questions_asked_together_are_answered_as_if_asked_alone(
    caller: Caller, store: str, now: datetime
) -> None:
    for content in (memories.CARTS, memories.PARSER, memories.REDIS):
        memories.stored(caller, now, content, project=store)
    requests = tuple(
        SearchRequest(query=words, project=store, threshold=0.0, is_noted=False)
        for words in QUESTIONS
    )

    together = search_each(caller=caller, requests=requests, now=now)

    alone = [search(caller=caller, request=request, now=now) for request in requests]
    assert [one.hits for one in together] == [one.hits for one in alone]
    assert all(one.hits for one in together)


def test_files_looked_up_together_are_those_looked_up_alone(caller: Caller, now: datetime) -> None:
    for number in range(6):
        known(caller, now, number, related_files=(FILES[number % 2], f"src/other{number}.ts"))

    together = about(caller, *FILES, limit=3)

    assert together == tuple(about(caller, path, limit=3)[0] for path in FILES)
    assert [[close for _, close in found] for found in together] == [
        [0, 0, 0], [0, 0, 0], [1, 1, 1], [2, 2, 2],
    ]  # fmt: skip
    assert [len(found) for found in about(caller, *FILES[:2], limit=2)] == [2, 2]  # each its own


def test_nobody_is_told_what_others_keep_to_themselves_or_elsewhere(
    caller: Caller,
    member_caller: Caller,
    other_caller: Caller,
    other_organization: Organization,
    now: datetime,
) -> None:
    create_project(caller=caller, slug="other", name="Other", now=now)
    own = known(member_caller, now, 0, scope="personal")
    known(caller, now, 1, project="other")

    check = of_diff(caller, now)

    assert about(caller, *FILES) == ((), (), (), ())
    assert (check.findings, check.left_out) == ((), 0)
    assert [one.memory.id for one in of_diff(member_caller, now).findings] == [own.id]
    known(caller, now, 2)
    with people.outside(), people.entered(organization=other_organization):
        create_project(caller=other_caller, slug="store", name="Store", now=now)
        theirs = of_diff(other_caller, now)
        assert about(other_caller, *FILES) == ((), (), (), ())
    assert (theirs.findings, theirs.left_out) == ((), 0)
