"""Topics tell nothing of memories that one may not see: no name, no word, no count."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import NotFound
from memory.intake.actions.revise import revise
from memory.records.actions import archive
from memory.records.queries import memories
from memory.topics import queries as topics_queries
from memory.topics.actions import sort_topics
from memory.topics.queries import TopicPlace, TopicView
from teams.actions import create_project
from teams.queries import find_project
from tests.support.memories import stored

pytestmark = pytest.mark.usefixtures("in_organization")

CARTS = (
    "Carts are merged under an advisory lock of Postgres in shop/carts.py.",
    "The merge of two carts in shop/carts.py keeps the older coupon.",
    "A cart without lines is dropped by the merge job in shop/carts.py.",
)
OWN = (
    "The acquisition of Initech is planned in board/secret.md for spring.",
    "Lawyers read the acquisition papers in board/secret.md twice.",
    "The price of the acquisition stands in board/secret.md alone.",
)


@pytest.fixture
def store(caller: Caller, now: datetime) -> str:
    """The slug of a project without memories."""
    return create_project(caller=caller, slug="store", name="Store", now=now).slug


@pytest.fixture
def told(caller: Caller, store: str, now: datetime) -> dict[str, UUID]:
    """Three memories that all see and three of the owner's own, sorted."""
    shared = {text: stored(caller, now, text, project=store).id for text in CARTS}
    own = {text: stored(caller, now, text, project=store, scope="personal").id for text in OWN}
    sort_topics(now=now, tell=lambda done, total: None)
    return {**shared, **own}


def listed(caller: Caller, **given: Any) -> tuple[TopicView, ...]:
    usual = {"project": None, "after": None, "limit": 50}
    return topics_queries.topics(caller=caller, **{**usual, **given}).items


def test_one_sees_the_topics_of_ones_own_places(
    told: dict[str, UUID], caller: Caller, member_caller: Caller, store: str
) -> None:
    owners, members = listed(caller), listed(member_caller)
    with tenancy.unit():
        project = find_project(caller=caller, ref=store).id

    assert sorted(one.scope for one in owners) == ["personal", "project"]
    assert [one.scope for one in members] == ["project"]
    assert "acquisition" not in str(members)
    assert len(listed(replace(caller, bound_projects=(project,)))) == 2
    assert listed(replace(caller, bound_projects=(uuid4(),))) == ()


def test_a_hidden_topic_is_as_if_it_did_not_exist_and_found_by_no_filter(
    told: dict[str, UUID], caller: Caller, member_caller: Caller, now: datetime
) -> None:
    own = next(one for one in listed(caller) if one.scope == "personal").id
    answers = []
    for id in (own, uuid4()):
        with pytest.raises(NotFound) as refused:
            topics_queries.topic(caller=member_caller, topic_id=id)
        answers.append((refused.value.detail, refused.value.hint))

    assert answers[0] == answers[1]
    read = memories.memories_of_topic(caller=member_caller, topic_id=own, limit=9, now=now)
    assert read == ()
    with tenancy.unit():
        for asked in ("acquisition", "Acquisition · Initech", str(own)):
            assert topics_queries.named_by(caller=member_caller, refs=(asked, "carts\x00")) == ()
        found = topics_queries.named_by(caller=caller, refs=(str(own), "Acquisition"))
    assert found == (own,)


def test_what_became_personal_is_gone_from_counts_and_words_at_once(
    told: dict[str, UUID], caller: Caller, member_caller: Caller, now: datetime
) -> None:
    before = listed(member_caller)[0]

    revise(
        caller=caller,
        memory_id=told[CARTS[0]],
        changes={"scope": "personal"},
        if_version=None,
        now=now,
    )

    after = listed(member_caller)[0]
    assert (before.memories, after.memories) == (3, 2)
    assert all(
        sum(word.lower().rstrip("s") in text.lower() for text in CARTS[1:]) == 2
        for word in after.words
    )


def test_a_topic_of_one_memory_is_not_told(
    told: dict[str, UUID], member_caller: Caller, caller: Caller, now: datetime
) -> None:
    for text in CARTS[:2]:
        archive(caller=caller, memory_id=told[text], reason="", if_version=None, now=now)

    assert listed(member_caller) == ()


def test_pages_follow_the_order_of_the_numbers_that_are_shown(
    told: dict[str, UUID], caller: Caller, store: str, now: datetime
) -> None:
    stored(caller, now, "A merge of a cart with itself in shop/carts.py fails.", project=store)
    sort_topics(now=now, tell=lambda done, total: None)
    every = listed(caller)
    pages: list[TopicView] = []
    after: TopicPlace | None = None
    for _ in every:
        page = topics_queries.topics(caller=caller, project=None, after=after, limit=1)
        pages, after = [*pages, *page.items], page.next_place

    assert tuple(pages) == every
    assert after is None
    assert [one.memories for one in every] == [4, 3]
