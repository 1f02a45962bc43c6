"""Surprise, the nearest topic and the newest entries, as the gates measure them."""

from datetime import datetime

import pytest
from pgvector import HalfVector

from accounts import tenancy
from accounts.caller import Caller
from memory.index.models import MemoryVector
from memory.intake import queries
from memory.intake.queries import Spot
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from memory.topics.models import Topic, TopicMember
from teams.actions import change_project
from tests.support.memories import sent, stored

CARTS = "The cart service merges two carts of a customer under a lock of the database."
NEAR = "The cart service merges the carts of a customer while it holds a lock."
FAR = "Holiday photos of the office party are on the notice board near the kitchen."

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def topic(caller: Caller, store: str, now: datetime) -> Topic:
    """A topic whose center is the vector of one memory."""
    memory = stored(caller, now, CARTS, project=store)
    with tenancy.unit():
        vector = MemoryVector.objects.get(memory_id=memory.id)
        return Topic.objects.create(
            audience=vector.audience,
            project_id=vector.project_id,
            words=["cart"],
            model_id=vector.model_id,
            center=vector.unit,
            reach=0.5,
            sorted_at=now,
        )


def _topic_of(memory: MemoryView) -> object:
    with tenancy.unit():
        found = TopicMember.objects.filter(memory_id=memory.id)
        return found.values_list("topic_id", flat=True).first()


def test_without_topics_surprise_is_neutral(caller: Caller, store: str, now: datetime) -> None:
    memory = stored(caller, now, CARTS, project=store, confidence=0.8)

    assert memory.surprise == 0.5
    assert memory.importance == pytest.approx(0.5 + 0.2 * 0.5 + 0.1 * 0.8)


def test_near_a_center_is_expected(caller: Caller, store: str, now: datetime, topic: Topic) -> None:
    near = stored(caller, now, NEAR, project=store, confidence=0.8)
    far = stored(caller, now, FAR, project=store, confidence=0.8)

    assert near.surprise < 0.5 < far.surprise
    assert near.importance == pytest.approx(0.5 + 0.2 * near.surprise + 0.1 * 0.8)
    assert (_topic_of(near), _topic_of(far)) == (topic.id, None)


def test_other_topics_do_not_count(caller: Caller, store: str, now: datetime, topic: Topic) -> None:
    assert stored(caller, now, NEAR, project=store, scope="personal").surprise == 0.5


def test_newest_entries_are_compared_too(caller: Caller, store: str, now: datetime) -> None:
    memory = stored(caller, now, CARTS, project=store)
    with tenancy.unit():
        vector = MemoryVector.objects.get(memory_id=memory.id)
        row = Memory.objects.get(pk=memory.id)
        spot = Spot(vector.model_id, row.audience, row.project_id)
        query = HalfVector(vector.unit).to_text()
        found = queries.newest(spot=spot, query=query, window=100, least=0.95)
        assert [id for id, _ in found] == [memory.id]
        assert queries.newest(spot=spot, query=query, window=0, least=0.95) == ()
        elsewhere = Spot(vector.model_id, row.id, row.project_id)
        assert queries.newest(spot=elsewhere, query=query, window=100, least=0.95) == ()


def test_projects_set_near_duplicates(caller: Caller, store: str, now: datetime) -> None:
    changes = {"near_duplicate_cosine": 0.8, "conflict_cosine": 1.0}
    change_project(caller=caller, ref=store, changes=changes, if_version=None)
    stored(caller, now, CARTS, project=store)

    outcome = sent(caller, now, f"{CARTS} Yes.", project=store)

    assert (outcome.outcome, outcome.gate) == ("confirmed", "near_duplicate")
