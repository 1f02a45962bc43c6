"""Topics narrow a search, are told of a question, and may count among its paths."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from pgvector import HalfVector

from accounts import tenancy
from accounts.caller import Caller
from memory.records import filters
from memory.records.filters import Filters
from memory.records.queries import memories
from memory.search.actions import SearchAnswer, search
from memory.search.lookups import match
from memory.search.request import Narrowing, SearchRequest
from memory.topics import queries as topics_queries
from memory.topics.actions import sort_topics
from memory.topics.models import Topic
from tests.integration.memory.topics.test_sorting import CARTS, DEPLOYS, LATER, topic_of
from tests.support.memories import stored

Told = dict[str, UUID]

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def told(caller: Caller, store: str, now: datetime) -> Told:
    """Memories about carts and deploys, sorted."""
    ids = {text: stored(caller, now, text, project=store).id for text in (*CARTS, *DEPLOYS)}
    sort_topics(now=now, tell=lambda done, total: None)
    return ids


def asked(caller: Caller, now: datetime, query: str, **given: Any) -> SearchAnswer:
    request = SearchRequest(query=query, threshold=0, limit=20, **given)
    return search(caller=caller, request=request, now=now)


def ids(answer: SearchAnswer) -> set[UUID]:
    return {hit.memory.id for hit in answer.hits}


def carts_topic(caller: Caller) -> topics_queries.TopicView:
    found = topics_queries.topics(caller=caller, project=None, after=None, limit=9).items
    return next(one for one in found if "merge" in one.words)


def test_a_search_that_is_near_no_topic_reads_none(
    caller: Caller, store: str, now: datetime
) -> None:
    stored(caller, now, CARTS[0], project=store)
    sent: list[str] = []

    def keep(execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        sent.append(str(sql))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(keep):
        answer = asked(caller, now, "proxy of carts")

    assert answer.topic is None
    assert any("t.reach" in sql for sql in sent)  # which one is nearest was asked
    assert not any("t.sorted_at" in sql for sql in sent)


def test_a_search_keeps_to_a_topic(caller: Caller, told: Told, now: datetime) -> None:
    topic = carts_topic(caller)
    nowhere = "00000000-0000-4000-8000-000000000000"

    for ref in (str(topic.id), topic.label, "MERGE"):
        found = asked(caller, now, "proxy of carts", topics=(ref,))
        assert ids(found) == {told[text] for text in CARTS}, ref
    for ref in ("nothing", "merge proxy", nowhere):
        assert ids(asked(caller, now, "proxy of carts", topics=(ref,))) == set(), ref
    both = asked(caller, now, "carts", topics=("merge",), files=("deploy/run.sh",))
    assert ids(both) == set()
    matched = match(
        caller=caller, pattern="the", narrowing=Narrowing(topics=("proxy",), limit=20), now=now
    )
    assert {one.id for one, _ in matched.items} <= {told[text] for text in DEPLOYS}
    assert matched.items


def test_a_list_keeps_to_a_topic(caller: Caller, told: Told, now: datetime) -> None:
    asked = filters.parse(text='topic:"merge" is:active')

    page = memories.page(caller=caller, filters=asked, cursor=None, limit=20, now=now)

    assert {one.id for one in page.items} == {told[text] for text in CARTS}
    assert memories.count(caller=caller, filters=replace(asked, topics=("nothing",))) == 0
    boxed = filters.parse(text='topic:"cart · merge" redis')
    assert boxed == Filters(topics=("cart · merge",), text="redis")
    assert filters.render(filters=boxed) == 'topic:"cart · merge" redis'


def test_a_search_tells_the_topic_of_the_question(
    caller: Caller, member_caller: Caller, told: Told, now: datetime
) -> None:
    near = asked(caller, now, f"Files: shop/carts.py {CARTS[0]} {CARTS[1]}").topic
    far = asked(caller, now, "Whales sing at night below the frozen harbor.").topic

    assert near is not None
    assert near.topic == carts_topic(member_caller)
    assert near.closeness > 0
    assert far is None


def test_centers_of_another_model_are_compared_with_nothing(
    caller: Caller, told: Told, store: str, now: datetime
) -> None:
    with tenancy.unit():
        Topic.objects.update(center=HalfVector([1.0] * 16), model=None, reach=0.0)

    answer = asked(caller, now, "proxy of carts")
    new = stored(caller, now, LATER, project=store)

    assert answer.topic is None
    assert ids(answer) == set(told.values())
    assert topic_of(new.id) is None


def test_topics_of_the_first_hits_are_explained_and_weigh_what_the_profile_says(
    caller: Caller, told: Told, now: datetime
) -> None:
    for profile in ("plain", "topical"):
        best = asked(caller, now, "advisory lock of Postgres", profile=profile).hits[0]
        shown = best.explain["paths"]["communities"]
        assert shown["score"] > 0
        assert (shown["weight"] > 0, shown["value"] > 0) == (profile == "topical",) * 2
    found = asked(caller, now, "merge of carts", profile="topical", files=("deploy/run.sh",))
    assert ids(found) <= {told[text] for text in DEPLOYS}
