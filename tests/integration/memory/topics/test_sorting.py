"""Topics are sorted at night, narrow searches, and are told of a question."""

from dataclasses import replace
from datetime import datetime
from io import StringIO
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from pgvector import HalfVector

from accounts import tenancy
from accounts.caller import Caller
from accounts.models import Job
from memory.intake.actions.revise import revise
from memory.records import filters
from memory.records.actions import restore
from memory.records.filters import Filters
from memory.records.queries import memories
from memory.search.actions import SearchAnswer
from memory.search.lookups import match
from memory.search.request import Narrowing
from memory.topics import actions as topics_actions
from memory.topics import queries as topics_queries
from memory.topics.actions import Sorted, sort_topics
from memory.topics.clustering import Member
from memory.topics.clustering import Topic as Sortable
from memory.topics.models import Topic, TopicMember
from memory.topics.queries import places, write
from tests.support import people
from tests.support.reviewed import World

pytestmark = pytest.mark.usefixtures("in_organization")

CARTS = (
    "Carts are merged under an advisory lock of Postgres in shop/carts.py.",
    "The merge of two carts in shop/carts.py keeps the older coupon.",
    "A cart without lines is dropped by the merge job in shop/carts.py.",
    "Totals of a cart are rounded after the merge in shop/carts.py.",
)
DEPLOYS = (
    "Deploys restart the proxy and drain connections, see deploy/run.sh.",
    "The deploy of Friday left the proxy stopped, see deploy/run.sh.",
    "The proxy certificate is renewed before deploys by deploy/run.sh.",
    "Roll a deploy back by deploy/run.sh when the proxy answers 502.",
)
LATER = "Merging carts again in shop/carts.py keeps the newest line of each cart."


@pytest.fixture
def told(world: World) -> dict[str, UUID]:
    """Memories about carts and deploys in a project, sorted."""
    ids = {text: world.stored(text).id for text in (*CARTS, *DEPLOYS)}
    sort(world.now)
    return ids


def sort(now: datetime) -> Sorted:
    return sort_topics(now=now, tell=lambda done, total: None)


def groups() -> list[set[UUID]]:
    """Return the memories of each topic."""
    with tenancy.unit():
        found: dict[UUID, set[UUID]] = {}
        for topic, memory in TopicMember.objects.values_list("topic_id", "memory_id"):
            found.setdefault(topic, set()).add(memory)
    return sorted(found.values(), key=sorted)


def topics() -> dict[UUID, Any]:
    with tenancy.unit():
        return {row.id: row for row in Topic.objects.all()}


def topic_of(memory_id: UUID) -> UUID | None:
    with tenancy.unit():
        found = TopicMember.objects.filter(memory_id=memory_id)
        topic: UUID | None = found.values_list("topic_id", flat=True).first()
    return topic


def held(memory_id: UUID) -> set[str]:
    """Return which words of its topic a memory has."""
    with tenancy.unit():
        found = TopicMember.objects.select_related("topic").get(memory_id=memory_id)
    return {word for bit, word in enumerate(found.topic.words) if found.holds >> bit & 1}


def test_memories_are_sorted_by_what_they_share(world: World, told: dict[str, UUID]) -> None:
    expected = [{told[text] for text in texts} for texts in (CARTS, DEPLOYS)]
    assert groups() == sorted(expected, key=sorted)
    before = {id: tuple(row.words) for id, row in topics().items()}
    assert {word for words in before.values() for word in words} >= {"merge", "proxy"}
    world.stored("A note of mine that nobody else sees at all.", scope="personal", project=None)
    steps: list[tuple[int, int]] = []

    found = sort_topics(now=world.now, tell=lambda done, total: steps.append((done, total)))

    assert found == Sorted(places=2, topics=2, memories=8)
    assert (steps[-1], len(steps)) == ((9, 9), 2)
    assert {id: tuple(row.words) for id, row in topics().items()} == before
    assert groups() == sorted(expected, key=sorted)


def test_what_different_people_may_see_is_sorted_apart(world: World, told: dict[str, UUID]) -> None:
    own = {world.stored(f"{text} Mine.", scope="personal").id for text in CARTS}
    sort(world.now)

    shared = set(told.values())
    assert own in groups()
    assert all(group <= own or group <= shared for group in groups())


def test_what_is_written_since_joins_the_nearest_topic(world: World, told: dict[str, UUID]) -> None:
    submerged = LATER.replace("Merging", "Submerged")
    merges = "Two merges of one cart in shop/carts.py wait for the same advisory lock."
    new, part, whole = (world.stored(text).id for text in (LATER, submerged, merges))
    far = world.stored("Whales sing at night below the frozen harbor.").id
    elsewhere = [
        world.stored(f"{LATER} Mine.", scope="personal").id,
        world.stored(f"{LATER} Everywhere.", project=None).id,
    ]

    assert topic_of(new) == topic_of(told[CARTS[0]])
    assert "merge" not in held(part)  # only whole words are held
    assert "merge" in held(whole)
    assert [topic_of(id) for id in (far, *elsewhere)] == [None] * 3


def test_what_came_meanwhile_joins_by_itself(world: World, told: dict[str, UUID]) -> None:
    since, changed = world.stored(LATER).id, told[CARTS[1]]
    joined, rows = topic_of(since), topics()
    with tenancy.unit():
        (place,) = places()
        sorted_before = dict.fromkeys(told.values(), 1) | {changed: 0}
        write(
            place=place,
            topics=tuple((id, _as_sorted(row, set(told.values()))) for id, row in rows.items()),
            versions=sorted_before,
            model_id=next(iter(rows.values())).model_id,
            now=world.now,
        )

    assert topic_of(since) == joined


def _as_sorted(row: Any, memories: set[UUID]) -> Sortable:
    members = TopicMember.objects.filter(topic=row, memory_id__in=memories)
    return Sortable(
        id=row.id,
        words=tuple(row.words),
        center=np.asarray(row.center, dtype=np.float32),
        reach=row.reach,
        members=tuple(
            Member(memory_id=one.memory_id, holds=0, closeness=one.closeness) for one in members
        ),
    )


def test_what_is_archived_moved_or_rewritten_leaves(world: World, told: dict[str, UUID]) -> None:
    first, second, third, _ = (told[text] for text in CARTS)
    topic = topic_of(first)
    changes: tuple[dict[str, str], ...] = (
        {"scope": "personal"},
        {"content": "Whales sing at night below the frozen harbor."},
    )

    world.archive(first)
    gone = topic_of(first)
    restore(caller=world.owner, memory_id=first, now=world.now)
    back = topic_of(first)
    for id, change in zip((second, third), changes, strict=True):
        revise(caller=world.owner, memory_id=id, changes=change, if_version=None, now=world.now)

    assert gone is None
    assert back in {topic, None}  # where it reaches as far
    assert (topic_of(second), topic_of(third)) == (None, None)
    for text in CARTS:
        world.archive(told[text])
    sort(world.now)
    assert groups() == [{told[text] for text in DEPLOYS}]
    assert len(topics()) == 1


def test_an_organization_without_memories_has_no_topics_and_one_job_a_night(world: World) -> None:
    for _ in range(2):
        topics_actions.queue()

    assert sort(world.now) == Sorted(places=0, topics=0, memories=0)
    assert Job.objects.filter(name=topics_actions.JOB).count() == 1


def test_the_command_tells_how_far_it_is_and_refuses_an_unknown_organization(world: World) -> None:
    for text in CARTS:
        world.stored(text)
    said = StringIO()

    with people.outside():
        call_command("sort_topics", tenant="acme", stdout=said)
        with pytest.raises(CommandError, match="nowhere"):
            call_command("sort_topics", tenant="nowhere")

    assert said.getvalue().splitlines() == [
        "acme: 4 of 4 memories",
        "acme: 1 topics of 4 memories in 1 places",
    ]


def asked(world: World, query: str, **given: Any) -> SearchAnswer:
    return world.search(query, threshold=0, limit=20, **given)


def ids(answer: SearchAnswer) -> set[UUID]:
    return {hit.memory.id for hit in answer.hits}


def carts_topic(world: World, by: Caller | None = None) -> topics_queries.TopicView:
    found = topics_queries.topics(caller=by or world.owner, project=None, after=None, limit=9).items
    return next(one for one in found if "merge" in one.words)


def test_a_search_without_topics_is_near_none(world: World) -> None:
    world.stored(CARTS[0])

    assert asked(world, "proxy of carts").topic is None


def test_a_search_keeps_to_a_topic(world: World, told: dict[str, UUID]) -> None:
    topic = carts_topic(world)
    nowhere = "00000000-0000-4000-8000-000000000000"

    for ref in (str(topic.id), topic.label, "MERGE"):
        found = asked(world, "proxy of carts", topics=(ref,))
        assert ids(found) == {told[text] for text in CARTS}, ref
    for ref in ("nothing", "merge proxy", nowhere):
        assert ids(asked(world, "proxy of carts", topics=(ref,))) == set(), ref
    both = asked(world, "carts", topics=("merge",), files=("deploy/run.sh",))
    assert ids(both) == set()
    narrowing = Narrowing(topics=("proxy",), limit=20)
    matched = match(caller=world.owner, pattern="the", narrowing=narrowing, now=world.now)
    assert {one.id for one, _ in matched.items} <= {told[text] for text in DEPLOYS}
    assert matched.items


def test_a_list_keeps_to_a_topic(world: World, told: dict[str, UUID]) -> None:
    asked = filters.parse(text='topic:"merge" is:active')

    page = memories.page(caller=world.owner, filters=asked, cursor=None, limit=20, now=world.now)

    assert {one.id for one in page.items} == {told[text] for text in CARTS}
    assert memories.count(caller=world.owner, filters=replace(asked, topics=("nothing",))) == 0
    boxed = filters.parse(text='topic:"cart · merge" redis')
    assert boxed == Filters(topics=("cart · merge",), text="redis")
    assert filters.render(filters=boxed) == 'topic:"cart · merge" redis'


def test_a_search_tells_the_topic_of_the_question(world: World, told: dict[str, UUID]) -> None:
    near = asked(world, f"Files: shop/carts.py {CARTS[0]} {CARTS[1]}").topic
    far = asked(world, "Whales sing at night below the frozen harbor.").topic

    assert near is not None
    assert near.topic == carts_topic(world, by=world.member)
    assert near.closeness > 0
    assert far is None


def test_centers_of_another_model_compare_with_none(world: World, told: dict[str, UUID]) -> None:
    with tenancy.unit():
        Topic.objects.update(center=HalfVector([1.0] * 16), model=None, reach=0.0)

    answer = asked(world, "proxy of carts")
    new = world.stored(LATER)

    assert answer.topic is None
    assert ids(answer) == set(told.values())
    assert topic_of(new.id) is None


def test_topics_of_hits_weigh_what_the_profile_says(world: World, told: dict[str, UUID]) -> None:
    for profile in ("plain", "topical"):
        best = asked(world, "advisory lock of Postgres", profile=profile).hits[0]
        shown = best.explain["paths"]["communities"]
        assert shown["score"] > 0
        assert (shown["weight"] > 0, shown["value"] > 0) == (profile == "topical",) * 2
    found = asked(world, "merge of carts", profile="topical", files=("deploy/run.sh",))
    assert ids(found) <= {told[text] for text in DEPLOYS}
