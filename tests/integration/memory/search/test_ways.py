"""The other ways to ask: by words, by pattern, by likeness, about a file, in time."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, NotFound
from memory.index.models import MemoryVector
from memory.records.queries.views import MemoryView
from memory.search.lookups import Closeness, Lookup, match, recall, similar, timeline
from memory.search.request import Narrowing
from tests.support.memories import CARTS, PARSER, REDIS
from tests.support.reviewed import World

Known = tuple[MemoryView, ...]

OTHER_REDIS = "Redis refuses token refresh connections after a failover; reconnect with a delay."
ENDLESS = "(.{0,100}){0,100}$"


pytestmark = pytest.mark.usefixtures("known")


@pytest.fixture
def known(world: World) -> Known:
    """Four memories, a day between each and the next, all about files."""
    files = ("auth/token.py", "shop/carts.py", "billing/parser.py", "src/auth/token.py")
    return tuple(
        world.stored(
            content, type="gotcha", tags=[file.split("/")[0]], related_files=(file,),
            event_at=world.now - timedelta(days=day),
        )
        for day, (content, file) in enumerate(
            zip((REDIS, CARTS, PARSER, OTHER_REDIS), files, strict=True)
        )
    )  # fmt: skip


def _matched(world: World, pattern: str, **narrowed: Any) -> Lookup[str]:
    narrowing = Narrowing(**narrowed)
    return match(caller=world.owner, pattern=pattern, narrowing=narrowing, now=world.now)


def alike(world: World, memory_id: UUID, by: Caller | None = None) -> Lookup[float]:
    given = {"narrowing": Narrowing(), "now": world.now}
    return similar(caller=by or world.owner, memory_id=memory_id, **given)


def test_words_alone_ask_no_model(world: World, known: Known) -> None:
    answer = world.search("parse_invoice_lines", mode="keyword", threshold=0.0)

    assert [hit.memory.id for hit in answer.hits] == [known[2].id]
    assert set(answer.hits[0].explain["paths"]) <= {"keyword", "graph", "entities"}
    assert answer.degraded == ()


PATTERNS: dict[str, set[int]] = {
    r"\bECONN\w+": {0}, "redis": {0, 3}, "Redis re": {3}, "redis (is|refuses)": {0, 3},
    "^parse_[a-z_]+ in": {2}, "no such thing": set(), r"100%|carts\.x": set(),
}  # fmt: skip
NARROWED: tuple[tuple[dict[str, Any], set[int]], ...] = (
    ({"tags": ("auth",)}, {0}),
    ({"files": ("token.py",)}, {0, 3}),
    ({"files": ("src/*.py",)}, {3}),
    ({"types": ("decision",)}, set()),
    ({"author": "nobody"}, set()),
    ({"project": "store", "tags": ("src",)}, {3}),
)


def test_a_pattern_finds_what_it_matches_and_passes_the_filters(world: World, known: Known) -> None:
    with tenancy.unit(), connection.cursor() as cursor:
        _matched(world, "redis")
        cursor.execute("SHOW statement_timeout")  # statements behind a pattern take their time
        assert cursor.fetchone() == ("0",)
    asked = (*((text, {}, found) for text, found in PATTERNS.items()),
             *(("redis", narrowed, found) for narrowed, found in NARROWED))  # fmt: skip
    for pattern, narrowed, found in asked:
        matches = _matched(world, pattern, **narrowed)
        assert {one.id for one, _ in matches.items} == {known[n].id for n in found}, pattern
    ((_, excerpt),) = _matched(world, "ECONN[A-Z]+").items
    assert "catch ECONNREFUSED." in excerpt


def test_a_broken_pattern_is_refused_and_one_without_end_is_stopped(world: World) -> None:
    for pattern in ("(", "[z-a]", "a{9,1}", "*a", "a{999}", r"(a)\1", "\x00", ENDLESS):
        with pytest.raises(InvalidInput) as refused:
            _matched(world, pattern)
        (fault,) = refused.value.errors
        code = "slow_pattern" if pattern == ENDLESS else "broken_pattern"
        assert (fault.pointer, fault.code) == ("/query", code), pattern


def test_what_is_alike_comes_nearest_first_or_by_words(world: World, known: Known) -> None:
    found = alike(world, known[0].id)
    with tenancy.unit():
        MemoryVector.objects.filter(memory_id=known[0].id).delete()
    worded = alike(world, known[0].id)

    assert known[0].id not in {one.id for one, _ in found.items}
    values = [value for _, value in found.items]
    assert values == sorted(values, reverse=True)
    assert [one.items[0][0].id for one in (found, worded)] == [known[3].id] * 2
    assert (found.degraded, worded.degraded) == ((), ("no_vectors",))
    own = world.stored(REDIS, scope="personal")
    with pytest.raises(NotFound):
        alike(world, own.id, world.member)


OF_FILES = (
    ("auth/token.py", Closeness.FILE, [(0, "file")]),
    ("./auth/token.py", Closeness.NAME, [(0, "file"), (3, "name")]),
    ("auth/other.py", Closeness.FOLDER, [(0, "folder")]),
    ("home/me/src/auth/token.py", Closeness.NAME, [(3, "name"), (0, "name")]),
    ("ken.py", Closeness.FOLDER, []),
    ("README.md", Closeness.FOLDER, []),
)


def test_what_is_known_about_a_file_comes_closest_first(world: World, known: Known) -> None:
    given = {"caller": world.owner, "narrowing": Narrowing(), "now": world.now}
    for path, closeness, found in OF_FILES:
        told = recall(path=path, closeness=closeness, **given)
        said = [(one.id, how.value) for one, how in told.items]
        assert sorted(said) == sorted((known[n].id, how) for n, how in found), path
        assert [how for _, how in said] == [how for _, how in found], path
    for path in (" ", "./", "a" * 401, "a\x00b"):
        with pytest.raises(InvalidInput):
            recall(path=path, closeness=closeness, **given)


def test_a_timeline_tells_page_by_page_what_happened(world: World, known: Known) -> None:
    given = {"caller": world.owner, "now": world.now}
    told, after = [], None
    for _ in range(3):
        page = timeline(narrowing=Narrowing(), after=after, limit=2, **given)
        told += [one.id for one, _ in page.items]
        after = page.next_place
        if after is None:
            break

    assert told == [view.id for view in reversed(known)]
    happened = Narrowing(since=world.now - timedelta(days=2), until=world.now)  # not: learned
    page = timeline(narrowing=happened, after=None, limit=10, **given)
    assert [one.id for one, _ in page.items] == [known[2].id, known[1].id]
