"""Vectors follow their text; what was left behind without one is found."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from django.db.models.functions import Now

from accounts import jobs, tenancy
from accounts.jobs import PermanentFailure
from accounts.models import Job
from memory.errors import EmbedderUnavailable
from memory.index.actions import embedding, maintenance
from memory.index.models import MemoryVector
from memory.providers import registry
from memory.providers.contracts import Vectors
from memory.providers.errors import CircuitOpen, ProviderRefused, ProviderTimeout
from memory.providers.static import HashingEmbedder
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from tests.support.memories import CARTS, REDIS
from tests.support.reviewed import World

pytestmark = pytest.mark.usefixtures("in_organization")


class Meanwhile(HashingEmbedder):
    """An embedder during whose work something else happens."""

    def __init__(self, happens: Callable[[], object]) -> None:
        self.happens = happens

    def embed_documents(self, *, texts: tuple[str, ...]) -> Vectors:
        self.happens()
        return self.embed(texts=texts)


def hashes() -> list[str]:
    with tenancy.unit():
        return list(MemoryVector.objects.order_by("id").values_list("text_hash", flat=True))


def test_no_vector_of_an_old_text_is_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = world.stored(REDIS, project=None)
    with tenancy.unit():
        MemoryVector.objects.all().delete()

    def change() -> None:
        world.say(memory, CARTS, by=world.owner)

    monkeypatch.setattr(registry, "embedder", lambda **_: Meanwhile(change))

    assert embedding.embed_batch(memory_ids=(memory.id,)) == 0
    assert hashes() == []


def test_only_another_text_is_embedded_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = world.stored(REDIS, project=None)
    asked: list[str] = []
    monkeypatch.setattr(registry, "embedder", lambda **_: Meanwhile(lambda: asked.append("again")))

    assert embedding.embed_batch(memory_ids=(memory.id,)) == 1
    assert asked == []
    [before] = hashes()
    world.say(memory, CARTS, by=world.owner)
    assert embedding.embed_batch(memory_ids=(memory.id,)) == 1
    [after] = hashes()
    assert after != before
    world.archive(memory.id)
    assert embedding.embed_batch(memory_ids=(memory.id,)) == 0


def test_a_fault_says_whether_to_try_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = world.stored(REDIS, project=None)
    with tenancy.unit():
        MemoryVector.objects.update(text_hash="of an earlier text")
    before = hashes()

    def fail(fault: Exception) -> None:
        raise fault

    for fault, told in (
        (ProviderTimeout(detail="Too slow."), EmbedderUnavailable),
        (CircuitOpen(detail="Left alone for a while."), EmbedderUnavailable),
        (ProviderRefused(detail="Wrong key."), PermanentFailure),
    ):
        away = Meanwhile(partial(fail, fault))
        monkeypatch.setattr(registry, "embedder", lambda away=away, **_: away)
        with pytest.raises(told):
            embedding.embed_batch(memory_ids=(memory.id,))
    assert hashes() == before


@pytest.fixture
def bare(world: World) -> MemoryView:
    """A memory of an hour ago that has no vector, and no job."""
    memory = world.stored(REDIS, project=None)
    with tenancy.unit():
        MemoryVector.objects.all().delete()
        Memory.objects.update(created_at=Now() - timedelta(hours=1))
    return memory


def embeddings() -> list[str]:
    """The keys of the jobs that embed, by state."""
    found = Job.objects.filter(name__startswith="memory.embed").order_by("id")
    return [f"{job.state}:{job.key}" for job in found]


def test_one_without_vector_is_queued(bare: MemoryView, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_new_archived_and_embedded_memories_are_left_alone(world: World, bare: MemoryView) -> None:
    with_vector = world.stored(CARTS, project=None)
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
def test_a_refused_embedding_is_tried_again(bare: MemoryView, state: str, queued: int) -> None:
    maintenance.embed_missing()
    Job.objects.filter(key=bare.id.hex).update(
        state=state, finished_at=Now() - timedelta(minutes=61)
    )

    assert maintenance.embed_missing() == queued
    assert len(embeddings()) == 1
