"""An answer given in a session is found by its question, and only by those who may see it."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.records.actions import archive
from memory.records.models import Memory
from memory.search.actions import search
from memory.search.request import SearchRequest
from teams.actions import create_project
from tests.support.memories import stored

Turns = tuple[UUID, ...]

TURNS = (
    "Ada: Good morning, shall we begin with the weather and the coffee machine?",
    "Ada: Which database lock keeps two carts of one customer apart?",
    "Ben: The advisory one, taken by hash, as Grace proposed back in spring.",
    "Ada: Thanks a lot, see you on Thursday then, same place as usual.",
)
REQUEST = SearchRequest(query="which database lock keeps carts apart", threshold=0.0)

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def turns(caller: Caller, in_organization: tenancy.Tenant, now: datetime) -> Turns:
    """Four turns of one session, among memories of the same words."""
    create_project(caller=caller, slug="store", name="Store", now=now)
    for number in range(30):
        stored(caller, now, f"Note {number}: the database of carts has {number} locks.")
    ids = tuple(
        stored(caller, now, said, type="episode", project="store", tags=tags).id
        for said, tags in zip(TURNS, ((), ("question",), (), ()), strict=True)
    )
    with tenancy.unit():
        Memory.objects.filter(pk__in=ids).update(session_id=uuid4())
    return ids


def _found(caller: Caller, now: datetime, **options: object) -> list[UUID]:
    request = replace(REQUEST, **options)
    return [hit.memory.id for hit in search(caller=caller, request=request, now=now).hits]


def test_the_turn_after_the_question_is_found_with_it_where_filters_and_scopes_allow(
    caller: Caller, turns: Turns, now: datetime
) -> None:
    found = _found(caller, now)

    assert found[0] == turns[1]
    assert turns[2] in found[:5]
    assert _found(caller, now, tags=("question",)) == [turns[1]]
    with tenancy.unit():
        row = Memory.objects.filter(pk=turns[2])
        seen = row.values("audience").get()
        row.update(audience=UUID(int=7))
    assert turns[2] not in _found(caller, now)
    with tenancy.unit():
        row.update(**seen)
    assert turns[2] in _found(caller, now)
    archive(caller=caller, memory_id=turns[2], reason="obsolete", if_version=None, now=now)
    assert turns[2] not in _found(caller, now)
