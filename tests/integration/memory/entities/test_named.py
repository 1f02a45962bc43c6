"""What a memory names, from its text to the searches that find it by that."""

import math
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.entities.models import Mention
from memory.intake.actions.remember import remember_all
from memory.intake.actions.revise import revise
from memory.search.actions import search
from memory.search.query import understand
from memory.search.request import SearchRequest
from tests.support import crowds
from tests.support.memories import correct, new, stored

pytestmark = pytest.mark.usefixtures("in_organization")

TOKENS = "AuthService keeps its tokens for an hour and asks k8s for new ones."
OTHER = "The auth-service is restarted by hand after every change of its keys."
PLAIN = "Nightly exports wait for the warehouse and give up after ten minutes."


def named(caller: Caller, question: str, **wanted: Any) -> dict[UUID, float]:
    """Return the score of each memory that names what a question names."""
    with tenancy.unit():
        found = crowds.ask(caller=caller, named=[*understand(text=question).named], **wanted)
    return {
        one.memory_id: round(one.scores["entities"], 4) for one in found if "entities" in one.scores
    }


def mentions(memory_id: UUID) -> set[tuple[str, str]]:
    """Return what a memory names: key, and how it is written."""
    with tenancy.unit():
        return set(Mention.objects.filter(memory_id=memory_id).values_list("key", "name"))


def test_many_at_once_name_theirs(caller: Caller, store: str, now: datetime) -> None:
    both = tuple(new(text, project=store) for text in (TOKENS, OTHER))

    views = [one.memory for one in remember_all(caller=caller, new=both, now=now)]

    assert [mentions(view.id) for view in views if view] == [
        {("auth service", "AuthService"), ("kubernetes", "k8s")},
        {("auth service", "auth-service")},
    ]


def test_a_moved_changed_or_corrected_memory_names_what_it_says_now_to_its_readers(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    memory = stored(caller, now, TOKENS, project=store, scope="personal")
    before = named(member_caller, "AuthService")

    changes = {"scope": "project"}
    revise(caller=caller, memory_id=memory.id, changes=changes, if_version=None, now=now)

    assert before == {}
    assert set(named(member_caller, "AuthService")) == {memory.id}
    changes = {"content": PLAIN.replace("warehouse", "Kafka")}
    revise(caller=caller, memory_id=memory.id, changes=changes, if_version=None, now=now)
    assert mentions(memory.id) == {("kafka", "Kafka")}
    text = TOKENS.replace("AuthService", "TokenStore")
    outcome = correct(
        caller=caller, memory_id=memory.id, content=text, kind="wrong", reason="", now=now
    )
    assert outcome.memory is not None
    assert set(named(caller, "TokenStore")) == {outcome.memory.id}
    assert named(caller, "Kafka") == {}


def test_every_spelling_finds_every_spelling_and_a_rare_thing_counts_more(
    caller: Caller, store: str, now: datetime
) -> None:
    rare, common = (stored(caller, now, text, project=store).id for text in (TOKENS, OTHER))
    stored(caller, now, PLAIN, project=store)

    for question in ("AuthService", "what does the auth service do", "restart auth-services now"):
        assert set(named(caller, question)) == {rare, common}, question
    once, twice = 1.0, 1 / (1 + math.log(2))
    found = named(caller, "auth service on kubernetes")
    assert found == {rare: round(once + twice, 4), common: round(twice, 4)}
    assert named(caller, "why is it so?") == {}


def test_a_search_says_what_it_found_by_name(
    caller: Caller, store: str, clean_cache: None, now: datetime
) -> None:
    memory = stored(caller, now, TOKENS, project=store)
    stored(caller, now, PLAIN, project=store)

    hits = search(
        caller=caller, request=SearchRequest(query="kubernetes", threshold=0.0), now=now
    ).hits

    assert hits[0].memory.id == memory.id
    assert hits[0].explain["paths"]["entities"]["score"] == 1.0
