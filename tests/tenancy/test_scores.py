"""What one may not see changes no hit and no score, by no word, name or count.

Hiding and ranking commute: a search is what it would be in a store of only what one may see. Every
part of a score is compared, to the last digit: cosines, words by their rarity, rivals, files,
things named, neighbors in a session. Rarity is counted by audience, so even it commutes, once words
have been counted after a change (`refresh_lexicon`; a job does it when a tenth has changed). What
does not commute is time alone, and which of two equal plans an organization's size lets the
database take (`is_small_part`), which finds the same.
"""

import random
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

import pytest

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from memory.entities import queries as entities
from memory.index import queries as index_queries
from memory.intake.actions.remember import remember_all
from memory.records.models import Memory
from memory.search.actions import search
from memory.search.fusion import FusedCandidate
from memory.search.request import SearchRequest
from teams import visibility
from teams.actions import create_project
from teams.queries import find_project
from tests.support import crowds
from tests.support.memories import new, stored

PROXY = (
    "Zanzibar restarts the proxy of AuthService on Fridays because the certificate job runs in"
    " deploy/run.sh."
)
RARE = SearchRequest(query="zanzibar kubernetes", threshold=0.0)
RARITIES = (RARE, replace(RARE, project="shop"))  # counted in the organization, and in a project
MISSPELT = (SearchRequest(query="zanzibaro kubernetis", threshold=0.0),)
ENOUGH = 200  # memories that name a thing, of which the path then says nothing
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
    """A project that everybody sees, and one without any memory."""
    with entered(caller):
        for slug in ("shop", "vault"):
            create_project(caller=caller, slug=slug, name=slug, now=now)


@pytest.fixture
def proxy(shop: None, caller: Caller, now: datetime) -> None:
    """One memory that everybody sees."""
    add(caller, now, [PROXY], project="shop")


@pytest.fixture
def bound(shop: None, caller: Caller) -> Caller:
    """The owner's token that is bound to the project."""
    with entered(caller), tenancy.unit():
        return replace(caller, bound_projects=(find_project(caller=caller, ref="shop").id,))


def add(caller: Caller, now: datetime, texts: Iterable[str], **where: str) -> None:
    """Store memories in a place; each is one of its own."""
    sent = tuple(new(text, **where) for text in texts)
    with entered(caller):
        done = remember_all(caller=caller, new=sent, now=now)
    assert {one.outcome for one in done} == {"added"}


def scores(caller: Caller, now: datetime, asked: Iterable[SearchRequest]) -> list[Any]:
    """Count words; return how relevant the shared memory is to questions, and why."""
    with entered(caller):
        with tenancy.unit():
            index_queries.refresh_lexicon()
        found = [search(caller=caller, request=one, now=now).hits for one in asked]
    return [
        [(hit.relevance, hit.explain) for hit in hits if "proxy" in hit.memory.content]
        for hits in found
    ]


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (RARITIES, "Zanzibar is the code name of deal {}, which nobody else may read about."),
        (MISSPELT, "Zanzibare and kubernetes are words of deal {}, which nobody else reads."),
    ],
    ids=["rare", "misspelt"],
)
def test_personal_words_of_others_change_no_score(
    proxy: None, caller: Caller, member_caller: Caller, now: datetime,
    asked: tuple[SearchRequest, ...], text: str,
) -> None:  # fmt: skip
    before = scores(member_caller, now, asked)

    add(caller, now, map(text.format, range(5)), project="shop", scope="personal")

    assert all(before)
    assert scores(member_caller, now, asked) == before
    assert scores(caller, now, asked) != before


def test_words_of_other_projects_change_no_score_of_a_bound_token(
    proxy: None, caller: Caller, bound: Caller, now: datetime
) -> None:
    before = scores(bound, now, RARITIES)

    text = "Kubernetes is the code name of deal {}, which stays inside of the vault."
    add(caller, now, map(text.format, range(5)), project="vault")

    assert all(before)
    assert scores(bound, now, RARITIES) == before
    assert scores(caller, now, RARITIES) != before


def test_words_that_one_may_see_do_change_scores(
    proxy: None, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    before = scores(member_caller, now, [RARE])

    text = "Zanzibar is also the name of the printer on floor {}, near the kitchen."
    add(caller, now, map(text.format, range(5)), project="shop")

    assert scores(member_caller, now, [RARE])[0][0] != before[0][0]


def crowd(caller: Caller, now: datetime, **where: str) -> None:
    """Name what the shared memory names in very many others."""
    text = "Deal {} is signed by AuthService and TokenStore."
    add(caller, now, map(text.format, range(ENOUGH)), **where)


def named(caller: Caller) -> tuple[FusedCandidate, ...]:
    """Return the candidates by two names."""
    with entered(caller), tenancy.unit():
        return crowds.ask(caller=caller, named=("auth service", "token store"))


def test_what_others_name_for_themselves_changes_nothing(
    proxy: None, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    before = named(member_caller)

    crowd(caller, now, project="shop", scope="personal")

    assert [one.scores["entities"] for one in before] == [1.0]
    assert named(member_caller) == before


def test_what_other_projects_name_changes_nothing_for_a_bound_token(
    proxy: None, caller: Caller, bound: Caller, now: datetime
) -> None:
    before = named(bound)

    crowd(caller, now, project="vault")

    assert [one.scores["entities"] for one in before] == [1.0]
    assert named(bound) == before


def test_what_one_may_see_does_change_it(
    proxy: None, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    crowd(caller, now, project="shop")

    assert named(member_caller) == ()


def test_what_a_memory_names_is_told_to_who_may_see_it(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    with entered(caller):
        own = stored(caller, now, PROXY, scope="personal").id

    def told(who: Caller) -> dict[UUID, frozenset[str]]:
        with entered(who), tenancy.unit():
            return entities.things_of(memory_ids=(own,), sight=visibility.sight_of(caller=who))

    assert told(caller) == {own: frozenset({"auth service", "deploy/run.sh"})}
    assert told(member_caller) == {}


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
