"""A remote embedder from end to end: long vectors, kept queries, and what is left when it fails."""

from collections import OrderedDict
from collections.abc import Iterator

import pytest
from django.core.cache import cache

from accounts import live, tenancy
from accounts.caller import Caller
from accounts.live import Backoff
from accounts.models import Organization
from memory.index import queries as index_queries
from memory.index.actions import embedding
from memory.index.models import MemoryVector
from memory.index.queries import QueriesKept
from memory.providers import registry
from memory.search.actions import SearchAnswer
from tests.support import people
from tests.support.memories import CARTS, PARSER, REDIS
from tests.support.reviewed import World
from tests.support.switching import make_active
from tests.support.vendor_server import Status, Vendor
from tests.support.vendors import KEY, ONCE, installed_vendor

pytestmark = pytest.mark.usefixtures("in_organization", "clean_cache", "no_rest")


@pytest.fixture
def no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rest from Redis that no other test has begun."""
    monkeypatch.setattr(live, "redis", Backoff())


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    """The vendor whose long vectors the installation uses."""
    with installed_vendor() as installed:
        yield installed


@pytest.fixture
def three(world: World, vendor: Vendor) -> Vendor:
    """The vendor, after it has embedded three memories."""
    for content in (REDIS, CARTS, PARSER):
        world.stored(content, project=None)
    return vendor


def asked(world: World, query: str) -> SearchAnswer:
    return world.search(query, threshold=0.0)


def cosines(answer: SearchAnswer) -> dict[str, float]:
    return {
        hit.memory.content: round(hit.explain["paths"]["dense"]["score"], 2) for hit in answer.hits
    }


def test_the_best_are_scored_by_whole_vectors(world: World, three: Vendor) -> None:
    with tenancy.unit():
        units = [row.unit for row in MemoryVector.objects.order_by("id")]

    found = cosines(asked(world, CARTS))

    assert units[0] == units[1] == units[2]  # the scan cannot tell them apart
    assert max(found, key=lambda content: found[content]) == CARTS
    assert found[CARTS] > 0.9 > found[REDIS]


def test_a_search_asks_again_when_a_longer_model_takes_over_meanwhile(
    world: World, three: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    longer = "openai/long@1536"
    with tenancy.unit():
        embedding.space(model=registry.embedder(key=longer).model)
        ids = tuple(MemoryVector.objects.values_list("memory_id", flat=True))
    embedding.embed_beside(key=longer, memory_ids=ids)
    keys: list[str] = []
    inner = embedding.embed_query

    def late(*, text: str, key: str = "") -> embedding.Embedded | None:
        found = inner(text=text, key=key)
        keys.append(found.key if found else "")
        make_active(longer)
        return found

    monkeypatch.setattr(embedding, "embed_query", late)

    answer = asked(world, CARTS)

    assert keys == [KEY, longer]
    assert answer.degraded == ()
    assert cosines(answer)[CARTS] > 0.9


def test_each_organization_keeps_its_own_queries_and_is_told_how_many(
    world: World, three: Vendor, other_caller: Caller, other_organization: Organization
) -> None:
    before = len(three.asked)
    first, again, _ = (
        asked(world, query) for query in ("advisory locks", "advisory locks", "carts")
    )

    assert len(three.asked) == before + 2
    assert cosines(first) == cosines(again)
    with people.outside(), people.entered(organization=other_organization):
        theirs = index_queries.queries_kept(caller=other_caller)
        assert theirs == QueriesKept(kept=0, asked=0)
        assert embedding.embed_query(text="advisory locks", key=KEY) is not None
    assert len(three.asked) == before + 3
    assert index_queries.queries_kept(caller=world.owner) == QueriesKept(kept=1, asked=3)


def test_nothing_of_a_query_can_be_read_where_it_is_kept(world: World, three: Vendor) -> None:
    query = "advisory locks of carts"

    asked(world, query)

    [key] = [name for name in _stored() if index_queries.AREA.encode() in name]
    vector = embedding.embed_query(text=query, key=KEY)
    assert vector is not None
    assert query.encode() not in key + _stored()[key]
    assert vector.vector.tobytes()[:64] not in _stored()[key]


def test_a_kept_value_that_cannot_be_read_is_asked_for_again(world: World, three: Vendor) -> None:
    asked(world, "advisory locks")
    before = len(three.asked)
    for name in list(_stored()):
        plain = name.decode().partition(":")[2].partition(":")[2]
        cache.set(plain, (tenancy.current().organization_id.hex, b"damaged"), 60)

    answer = asked(world, "advisory locks")

    assert answer.degraded == ()
    assert len(three.asked) == before + 1


def test_an_open_circuit_leaves_words_and_the_vendor_in_peace(world: World, three: Vendor) -> None:
    three.script = [Status(status=500)] * 20
    for number in range(ONCE.failures_to_open):
        asked(world, f"advisory locks {number}")
    before = len(three.asked)

    answer = asked(world, "advisory locks carts")

    assert len(three.asked) == before
    assert answer.degraded == ("no_vectors",)
    assert answer.hits[0].memory.content == CARTS


def _stored() -> dict[bytes, bytes]:
    client = cache._cache.get_client(None)
    return {key: client.get(key) for key in client.scan_iter(f"*{index_queries.AREA}*")}


def test_a_process_remembers_the_last_questions_of_a_local_model_by_organization(
    other_organization: Organization, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_queries, "RECENT_MOST", 2)
    monkeypatch.setattr(index_queries, "_recent", OrderedDict())

    def vector(text: str) -> object:
        embedded = embedding.embed_query(text=text, key="hashing/words-384")
        assert embedded is not None
        return embedded.vector

    vector("locks")
    kept = vector("locks")
    vector("carts")
    assert vector("locks") is kept
    vector("parsers")  # in the place of carts, asked for longer ago
    assert vector("locks") is kept
    with people.outside(), people.entered(organization=other_organization):
        vector("locks")
        assert vector("locks") is not kept
    vector("parsers")
    vector("carts")
    assert vector("locks") is not kept
