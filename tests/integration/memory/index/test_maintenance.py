"""What was left behind is found: memories without a vector, and embeddings that were refused."""

from datetime import datetime, timedelta

import pytest
from django.db.models.functions import Now

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.models import Job
from memory.index.actions import embedding, maintenance
from memory.index.models import MemoryVector
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from tests.support.memories import CARTS, stored

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def bare(caller: Caller, now: datetime) -> MemoryView:
    """A memory of an hour ago that has no vector, and no job."""
    memory = stored(caller, now)
    with tenancy.unit():
        MemoryVector.objects.all().delete()
        Memory.objects.update(created_at=Now() - timedelta(hours=1))
    return memory


def embeddings() -> list[str]:
    """The keys of the jobs that embed, by state."""
    found = Job.objects.filter(name__startswith="memory.embed").order_by("id")
    return [f"{job.state}:{job.key}" for job in found]


def test_a_memory_without_a_vector_is_queued_once_and_embedded(
    bare: MemoryView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "MOST_MISSING", 0)
    assert maintenance.embed_missing() == 0  # a sweep takes a bounded number
    monkeypatch.undo()

    assert maintenance.embed_missing() == 1
    assert maintenance.embed_missing() == 0
    assert embeddings() == [f"queued:{bare.id.hex}"]
    assert jobs.claim(queue="bulk", worker="w") is not None

    embedding.embed_batch(memory_ids=(bare.id,))

    assert maintenance.embed_missing() == 0
    with tenancy.unit():
        assert MemoryVector.objects.filter(memory_id=bare.id).exists()


def test_new_archived_and_embedded_memories_are_left_alone(
    bare: MemoryView, caller: Caller, now: datetime
) -> None:
    with_vector = stored(caller, now, content=CARTS)
    with tenancy.unit():
        Memory.objects.filter(pk=with_vector.id).update(created_at=Now() - timedelta(hours=1))
    for fields in (
        {"created_at": Now() - timedelta(minutes=9)},
        {"created_at": Now() - timedelta(hours=1), "status": "archived"},
    ):
        with tenancy.unit():
            Memory.objects.filter(pk=bare.id).update(**fields)
        assert maintenance.embed_missing() == 0


@pytest.mark.parametrize(("state", "queued"), [("failed", 1), ("quarantined", 0)])
def test_a_refused_embedding_is_tried_again_and_one_put_aside_waits_for_a_person(
    bare: MemoryView, state: str, queued: int
) -> None:
    maintenance.embed_missing()
    Job.objects.filter(key=bare.id.hex).update(
        state=state, finished_at=Now() - timedelta(minutes=61)
    )

    assert maintenance.embed_missing() == queued
    assert len(embeddings()) == 1
