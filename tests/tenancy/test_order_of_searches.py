"""Hiding and ranking commute: a search is what it would be in a store of only what one may see.

Every part of a score is compared, to the last digit: cosines, words by their rarity, rivals, files,
things named, neighbors in a session. Rarity is counted by audience, so even it commutes, once words
have been counted after a change (`refresh_lexicon`; a job does it when a tenth has changed). What
does not commute is time alone, and which of two equal plans an organization's size lets the
database take (`is_small_part`), which finds the same.
"""

import random
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

import pytest

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from memory.index import queries as index_queries
from memory.records.models import Memory
from memory.search.actions import search
from memory.search.request import SearchRequest
from teams.actions import create_project
from tests.support.memories import stored

WORDS = (
    *("advisory", "lock", "cart", "merge", "customer", "refund", "ledger", "posting", "webhook"),
    *("retry", "signature", "charge", "partition", "warehouse", "dashboard", "currency", "rate"),
    *("freeze", "deploy", "pipeline", "terraform", "quota"),
)
FILES = ("app/cart.py", "app/refund.py", "infra/quota.tf")
QUERIES = (
    "advisory lock of the cart",
    "which customer gets a refund",
    "webhok signature",
    "app/cart.py",
    "who uses app/refund.py",
    "le panier et la remise du client",
    "quota",
)
SESSION = UUID(int=0x5E5510)
SHARED, HIDDEN = 14, 25


@pytest.fixture
def shop(caller: Caller, clean_cache: None, now: datetime) -> None:
    """A project that everybody sees."""
    with entered(caller):
        create_project(caller=caller, slug="shop", name="Shop", now=now)


def _fill(caller: Caller, now: datetime, *, count: int, scope: str, draw: random.Random) -> None:
    """Store memories of the same words and files; half of them as turns of one session."""
    with entered(caller):
        for number in range(count):
            said = " ".join(draw.sample(WORDS, k=7))
            row = stored(
                caller,
                now,
                f"{scope.title()} note {number}: {said}.",
                project="shop",
                scope=scope,
                type="episode" if number % 2 else "fact",
                related_files=(draw.choice(FILES),),
            )
            if number % 2:
                with tenancy.unit():
                    Memory.objects.filter(pk=row.id).update(session_id=uuid5(SESSION, "one"))
        with tenancy.unit():
            index_queries.refresh_lexicon()


def _found(caller: Caller, now: datetime, **options: Any) -> list[tuple[Any, ...]]:
    with entered(caller):
        return [
            (query, hit.memory.id, hit.relevance, hit.explain)
            for query in QUERIES
            for hit in search(
                caller=caller, request=SearchRequest(query=query, threshold=0.0, **options), now=now
            ).hits
        ]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_one_may_not_see_moves_no_hit_and_no_score(
    seed: int, shop: None, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    draw, profiles = random.Random(seed), ("plain", "coding")
    _fill(caller, now, count=SHARED, scope="project", draw=draw)
    alone = {profile: _found(member_caller, now, profile=profile) for profile in profiles}

    _fill(caller, now, count=HIDDEN, scope="personal", draw=draw)

    for profile, found in alone.items():
        assert len(found) > SHARED
        assert _found(member_caller, now, profile=profile) == found
        assert _found(caller, now, profile=profile) != found
