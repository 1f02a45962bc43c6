"""How rare a word is, which every score rests on, tells nothing of what one may not see."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from memory.index import queries as index_queries
from memory.intake.actions.remember import NewMemory, remember
from memory.search.actions import search
from memory.search.request import SearchRequest
from teams.actions import create_project
from teams.queries import find_project

QUERY = SearchRequest(query="zanzibar kubernetes", threshold=0.0)
IN_SHOP = replace(QUERY, project="shop")
SHARED = "Zanzibar restarts the proxy on Fridays because the certificate job runs in deploy/run.sh."


def _remember(caller: Caller, content: str, *, scope: str, now: datetime) -> None:
    new = NewMemory(content=content, source="user_taught", project="shop", scope=scope)
    assert remember(caller=caller, new=new, now=now).outcome == "added"


def _scores(caller: Caller, now: datetime, asked: SearchRequest = QUERY) -> list[Any]:
    with entered(caller):
        with tenancy.unit():
            index_queries.refresh_lexicon()
        hits = search(caller=caller, request=asked, now=now).hits
    return [(hit.relevance, hit.explain) for hit in hits if "proxy" in hit.memory.content]


@pytest.fixture
def shop(caller: Caller, clean_cache: None, now: datetime) -> None:
    """A project with one memory that everybody sees."""
    with entered(caller):
        create_project(caller=caller, slug="shop", name="Shop", now=now)
        _remember(caller, SHARED, scope="project", now=now)


def test_personal_words_of_others_change_no_score(
    shop: None, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    before = [_scores(member_caller, now, asked) for asked in (QUERY, IN_SHOP)]
    with entered(caller):
        for number in range(5):
            text = f"Zanzibar is the code name of deal {number}, which nobody else may read about."
            _remember(caller, text, scope="personal", now=now)

    after = [_scores(member_caller, now, asked) for asked in (QUERY, IN_SHOP)]

    assert all(before)
    assert after == before


def test_words_of_other_projects_change_no_score_of_a_bound_token(
    shop: None, caller: Caller, now: datetime
) -> None:
    with entered(caller), tenancy.unit():
        bound = replace(caller, bound_projects=(find_project(caller=caller, ref="shop").id,))
    before = [_scores(bound, now, asked) for asked in (QUERY, IN_SHOP)]
    with entered(caller):
        create_project(caller=caller, slug="vault", name="Vault", now=now)
        for number in range(5):
            text = f"Kubernetes is the code name of deal {number}, which stays inside of the vault."
            new = NewMemory(content=text, source="user_taught", project="vault")
            assert remember(caller=caller, new=new, now=now).outcome == "added"

    after = [_scores(bound, now, asked) for asked in (QUERY, IN_SHOP)]

    assert all(before)
    assert after == before
    assert [_scores(caller, now, asked) for asked in (QUERY, IN_SHOP)] != before


def test_words_that_one_may_see_do_change_scores(
    shop: None, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    before = _scores(member_caller, now)
    with entered(caller):
        for number in range(5):
            text = f"Zanzibar is also the name of the printer on floor {number}, near the kitchen."
            _remember(caller, text, scope="project", now=now)

    after = _scores(member_caller, now)

    assert after[0] != before[0]


def test_a_misspelt_word_tells_no_word_of_others(
    shop: None, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    asked = SearchRequest(query="zanzibaro kubernetis", threshold=0.0)
    before = _scores(member_caller, now, asked)
    with entered(caller):
        for number in range(5):
            text = f"Zanzibare and kubernetes are words of deal {number}, which nobody else reads."
            _remember(caller, text, scope="personal", now=now)

    after = _scores(member_caller, now, asked)

    assert before
    assert after == before
    assert _scores(caller, now, asked) != before
