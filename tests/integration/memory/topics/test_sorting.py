"""Memories are sorted into topics at night, and join them between two nights."""

from datetime import datetime
from io import StringIO
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from accounts import tenancy
from accounts.caller import Caller
from accounts.models import Job
from memory.intake.actions.revise import revise
from memory.records.actions import archive, restore
from memory.topics import actions as topics_actions
from memory.topics.actions import Sorted, sort_topics
from memory.topics.clustering import Member
from memory.topics.clustering import Topic as Sortable
from memory.topics.models import Topic, TopicMember
from memory.topics.queries import places, write
from tests.support import people
from tests.support.memories import stored

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
def told(caller: Caller, store: str, now: datetime) -> dict[str, UUID]:
    """Memories about carts and deploys in a project, sorted."""
    ids = {text: stored(caller, now, text, project=store).id for text in (*CARTS, *DEPLOYS)}
    sort(now)
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


def test_memories_of_one_place_are_sorted_by_what_they_share_and_again_alike(
    told: dict[str, UUID], caller: Caller, now: datetime
) -> None:
    expected = [{told[text] for text in texts} for texts in (CARTS, DEPLOYS)]
    assert groups() == sorted(expected, key=sorted)
    before = {id: tuple(row.words) for id, row in topics().items()}
    assert {word for words in before.values() for word in words} >= {"merge", "proxy"}
    stored(caller, now, "A note of mine that nobody else sees at all.", scope="personal")
    steps: list[tuple[int, int]] = []

    found = sort_topics(now=now, tell=lambda done, total: steps.append((done, total)))

    assert found == Sorted(places=2, topics=2, memories=8)
    assert (steps[-1], len(steps)) == ((9, 9), 2)
    assert {id: tuple(row.words) for id, row in topics().items()} == before
    assert groups() == sorted(expected, key=sorted)


def test_what_different_people_may_see_is_sorted_apart(
    told: dict[str, UUID], caller: Caller, store: str, now: datetime
) -> None:
    own = {
        stored(caller, now, f"{text} Mine.", project=store, scope="personal").id for text in CARTS
    }
    sort(now)

    shared = set(told.values())
    assert own in groups()
    assert all(group <= own or group <= shared for group in groups())


def test_a_memory_written_since_joins_the_nearest_topic_of_its_place(
    told: dict[str, UUID], caller: Caller, store: str, now: datetime
) -> None:
    submerged = LATER.replace("Merging", "Submerged")
    merges = "Two merges of one cart in shop/carts.py wait for the same advisory lock."
    new, part, whole = (
        stored(caller, now, text, project=store).id for text in (LATER, submerged, merges)
    )
    far = stored(caller, now, "Whales sing at night below the frozen harbor.", project=store).id
    elsewhere = [
        stored(caller, now, f"{LATER} Mine.", project=store, scope="personal").id,
        stored(caller, now, f"{LATER} Everywhere.").id,
    ]

    assert topic_of(new) == topic_of(told[CARTS[0]])
    assert "merge" not in held(part)  # only whole words are held
    assert "merge" in held(whole)
    assert [topic_of(id) for id in (far, *elsewhere)] == [None] * 3


def test_what_came_and_what_changed_while_topics_were_sorted_joins_by_itself(
    told: dict[str, UUID], caller: Caller, store: str, now: datetime
) -> None:
    since, changed = stored(caller, now, LATER, project=store).id, told[CARTS[1]]
    joined, rows = topic_of(since), topics()
    with tenancy.unit():
        (place,) = places()
        sorted_before = dict.fromkeys(told.values(), 1) | {changed: 0}
        write(
            place=place,
            topics=tuple((id, _as_sorted(row, set(told.values()))) for id, row in rows.items()),
            versions=sorted_before,
            model_id=next(iter(rows.values())).model_id,
            now=now,
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


def test_what_is_archived_moved_or_rewritten_leaves_and_an_empty_topic_is_forgotten(
    told: dict[str, UUID], caller: Caller, now: datetime
) -> None:
    first, second, third, _ = (told[text] for text in CARTS)
    topic = topic_of(first)
    changes: tuple[dict[str, str], ...] = (
        {"scope": "personal"},
        {"content": "Whales sing at night below the frozen harbor."},
    )

    archive(caller=caller, memory_id=first, reason="", if_version=None, now=now)
    gone = topic_of(first)
    restore(caller=caller, memory_id=first, now=now)
    back = topic_of(first)
    for id, change in zip((second, third), changes, strict=True):
        revise(caller=caller, memory_id=id, changes=change, if_version=None, now=now)

    assert gone is None
    assert back in {topic, None}  # where it reaches as far
    assert (topic_of(second), topic_of(third)) == (None, None)
    for text in CARTS:
        archive(caller=caller, memory_id=told[text], reason="", if_version=None, now=now)
    sort(now)
    assert groups() == [{told[text] for text in DEPLOYS}]
    assert len(topics()) == 1


def test_an_organization_without_memories_has_no_topics_and_one_job_a_night(now: datetime) -> None:
    for _ in range(2):
        topics_actions.queue()

    assert sort(now) == Sorted(places=0, topics=0, memories=0)
    assert Job.objects.filter(name=topics_actions.JOB).count() == 1


def test_the_command_tells_how_far_it_is_and_refuses_an_unknown_organization(
    caller: Caller, store: str, now: datetime
) -> None:
    for text in CARTS:
        stored(caller, now, text, project=store)
    said = StringIO()

    with people.outside():
        call_command("sort_topics", tenant="acme", stdout=said)
        with pytest.raises(CommandError, match="nowhere"):
            call_command("sort_topics", tenant="nowhere")

    assert said.getvalue().splitlines() == [
        "acme: 4 of 4 memories",
        "acme: 1 topics of 4 memories in 1 places",
    ]
