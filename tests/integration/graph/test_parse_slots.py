"""As many calls of an organization are read at a time as may be, in all processes together."""

from contextlib import ExitStack

import pytest
from django.core.cache import cache

from accounts import redis_backoff, tenancy
from accounts.errors import RateLimited
from accounts.redis_backoff import Backoff
from graph.index.parser_process import LEASE_SECONDS, ParseSlots

pytestmark = pytest.mark.usefixtures("in_organization", "clean_cache")


@pytest.fixture(autouse=True)
def awake(monkeypatch: pytest.MonkeyPatch) -> Backoff:
    """Nobody rests from Redis."""
    rest = Backoff()
    monkeypatch.setattr(redis_backoff, "redis", rest)
    return rest


def test_the_places_are_those_of_all_processes() -> None:
    one, two, three = ParseSlots(), ParseSlots(), ParseSlots()  # of a process each

    with one.hold(), two.hold(), pytest.raises(RateLimited, match="2 calls"), three.hold():
        raise AssertionError("there was a third place")

    with three.hold(), one.hold():
        assert cache.get(tenancy.key("reading", "1")) is not None


def test_a_place_whose_process_died_is_free_when_its_lease_ends() -> None:
    with ParseSlots().hold():
        key = tenancy.key("reading", "0")
        client = cache._cache.get_client()  # type: ignore[attr-defined]
        left = client.ttl(cache.make_and_validate_key(key))

    assert 0 < left <= LEASE_SECONDS
    assert cache.get(key) is None


def test_a_place_that_somebody_else_has_by_now_stays_theirs() -> None:
    key = tenancy.key("reading", "0")

    with ParseSlots().hold():
        cache.set(key, "somebody else", LEASE_SECONDS)

    assert cache.get(key) == "somebody else"


def test_where_redis_is_away_each_process_counts_for_itself(awake: Backoff) -> None:
    awake.start()
    own = ParseSlots()

    with ExitStack() as held:
        for turns in (own, own, ParseSlots()):
            held.enter_context(turns.hold())
        with pytest.raises(RateLimited), own.hold():
            raise AssertionError("there was a third place in one process")

    assert cache.get(tenancy.key("reading", "0")) is None
