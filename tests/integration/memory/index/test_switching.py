"""Vectors follow their text; the old model answers until the new one knows all."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from time import monotonic
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, RoleNotSufficient
from accounts.jobs import PermanentFailure
from accounts.models import Job
from memory.errors import EmbedderUnavailable, NotSwitchable
from memory.index import queries as index_queries
from memory.index.actions import embedding, maintenance, model_switch
from memory.index.models import EmbeddingModel, MemoryVector
from memory.index.queries import Part
from memory.providers import registry
from memory.providers.contracts import Vectors
from memory.providers.errors import CircuitOpen, ProviderRefused, ProviderTimeout
from memory.providers.static import HashingEmbedder
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from tests.support.memories import CARTS, PARSER, REDIS
from tests.support.reviewed import World
from tests.support.switching import active_key, do_jobs, make_active, spaces_of, true_vectors
from tests.support.vendors import ONCE, installed

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


OF_ITSELF = 0.7  # least cosine of a memory and its words; across two spaces it is near 0
WORDS, TURNED = "hashing/words-384", "hashing/turned-384"
NOBODY = "http://127.0.0.1:9"  # the port of discard
LATER = "The nightly import stops at the first broken row of a supplier."


@pytest.fixture
def three(world: World) -> World:
    """Three memories with vectors of the first model."""
    for content in (REDIS, CARTS, PARSER):
        world.stored(content)
    return world


def switch(world: World, key: str = TURNED) -> UUID | None:
    """Begin a switch to the other model."""
    return model_switch.switch(caller=world.owner, key=key)


@pytest.fixture
def switching(three: World) -> World:
    """A switch to the other model that has begun, with three memories to embed."""
    switch(three)
    return three


def dense(world: World, query: str) -> float:
    """The cosine of the best hit of a search."""
    hit = world.search(query, threshold=0.0).hits[0]
    return float(hit.explain["paths"]["dense"]["score"])


def test_the_old_model_answers_until_everything_is_embedded(switching: World) -> None:
    assert active_key() == WORDS
    assert dense(switching, REDIS) > OF_ITSELF

    do_jobs()

    assert active_key() == TURNED
    assert spaces_of(switching.owner) == {WORDS: 3, TURNED: 3}
    assert dense(switching, REDIS) > OF_ITSELF
    assert true_vectors() == 6
    views = {view.key: view for view in index_queries.models(caller=switching.owner).models}
    assert views[TURNED].overlap == 1.0  # of two others each finds both
    assert (views[WORDS].part, views[TURNED].part) == (Part.KEPT, Part.ACTIVE)


def test_a_search_compares_within_one_model(three: World, monkeypatch: pytest.MonkeyPatch) -> None:
    changes: list[str] = [TURNED]
    asked: list[str] = []
    inner = embedding.embed_query

    def late(*, text: str, key: str = "") -> embedding.Embedded | None:
        found = inner(text=text, key=key)
        asked.append(found.key if found else "")
        if changes:
            make_active(changes.pop())
        return found

    monkeypatch.setattr(embedding, "embed_query", late)
    with tenancy.unit():
        key = str(embedding.space(model=registry.embedder(key=TURNED).model).key)
        ids = tuple(Memory.objects.order_by("id").values_list("id", flat=True))
    embedding.embed_beside(key=key, memory_ids=ids)

    assert dense(three, CARTS) > OF_ITSELF
    assert asked == [WORDS, TURNED]
    changes[:] = [TURNED, WORDS]

    answer = three.search(CARTS)

    assert answer.degraded == ("no_vectors",)
    assert answer.hits[0].memory.content == CARTS


def test_the_embedded_are_done_again(three: World, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = embedding.store_vector

    def late(**given: object) -> None:
        make_active(TURNED)
        inner(**given)  # type: ignore[arg-type]

    monkeypatch.setattr(embedding, "store_vector", late)

    three.stored(LATER)
    do_jobs()

    assert spaces_of(three.owner)[TURNED] == 1
    assert true_vectors() == 5


def test_what_is_written_meanwhile_is_in_it(three: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "BATCHES", 1)
    monkeypatch.setattr(embedding, "BATCH", 2)
    switch(three)
    do_jobs(1)
    three.stored(LATER)

    do_jobs()

    assert active_key() == TURNED
    assert spaces_of(three.owner)[TURNED] == 4


@pytest.mark.django_db(transaction=True)
def test_the_cut_over_holds_off_writers_of_memories_and_vectors(in_organization: object) -> None:
    with tenancy.unit(), connection.cursor() as cursor:
        index_queries.hold_memories()
        cursor.execute(
            "SELECT c.relname FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation"
            " WHERE l.pid = pg_backend_pid() AND l.mode = 'ShareLock' ORDER BY 1"
        )
        held = [name for (name,) in cursor.fetchall()]

    assert held == ["memory_memory", "memory_memoryvector"]


def test_one_without_a_vector_stops_it(switching: World, monkeypatch: pytest.MonkeyPatch) -> None:
    late = iter((lambda: switching.stored(LATER),))
    inner = index_queries.hold_memories

    def hold() -> None:
        next(late, lambda: None)()
        inner()

    monkeypatch.setattr(index_queries, "hold_memories", hold)

    do_jobs()

    assert active_key() == TURNED
    assert spaces_of(switching.owner)[TURNED] == 4


def test_changed_texts_and_those_of_the_past_are_embedded_as_they_end(world: World) -> None:
    changed, past = world.stored(REDIS), world.stored(PARSER)
    world.archive(past.id)
    switch(world)
    embedding.embed_beside(key=TURNED, memory_ids=(changed.id,))
    world.say(changed, by=world.owner, content=CARTS)

    do_jobs()

    assert active_key() == TURNED
    assert spaces_of(world.owner) == {WORDS: 2, TURNED: 2}
    assert true_vectors() == 4


def test_the_way_back_is_open_until_the_vectors_are_dropped(switching: World) -> None:
    do_jobs()
    switching.stored(LATER)
    do_jobs()

    assert model_switch.roll_back(caller=switching.owner) == WORDS
    do_jobs()
    assert spaces_of(switching.owner) == {WORDS: 4, TURNED: 4}  # with what came since
    assert dense(switching, PARSER) > OF_ITSELF
    model_switch.drop(caller=switching.owner, key=TURNED)
    do_jobs()

    assert spaces_of(switching.owner) == {WORDS: 4}
    with pytest.raises(NotSwitchable, match="no earlier model"):
        model_switch.roll_back(caller=switching.owner)


def test_the_installations_model_is_followed(three: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "embedder", _instead(TURNED))
    assert model_switch.follow_installation()
    assert not model_switch.follow_installation()
    Job.objects.filter(name=model_switch.SWITCH).delete()
    assert model_switch.resume()  # a switch whose job was lost goes on
    assert not model_switch.resume()
    do_jobs()

    assert active_key() == TURNED
    assert not model_switch.follow_installation()


def test_a_cancelled_switch_stays_so(switching: World, monkeypatch: pytest.MonkeyPatch) -> None:
    model_switch.cancel(caller=switching.owner)
    do_jobs()

    monkeypatch.setattr(registry, "embedder", _instead(TURNED))
    assert not model_switch.follow_installation()
    assert spaces_of(switching.owner) == {WORDS: 3, TURNED: 0}


def test_a_switch_by_another_process_is_noticed_before_a_vendor_is_asked(
    three: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    vendor, schema = "openai/away@384", tenancy.current().schema_name
    just_now = {schema: (vendor, monotonic())}
    monkeypatch.setattr(embedding, "_last_seen", just_now)
    monkeypatch.setattr(embedding, "LOOK_AGAIN_SECONDS", 3_600.0)
    assert embedding.embed_inline(text=CARTS) is None

    monkeypatch.setattr(embedding, "LOOK_AGAIN_SECONDS", 0.0)
    made = embedding.embed_inline(text=CARTS)

    assert made is not None
    assert made.key == WORDS == just_now[schema][0]


def test_an_unknown_model_leaves_the_own_one(three: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_last_seen", {})
    monkeypatch.setattr(registry, "embedder", _instead("nobody/knows"))

    assert dense(three, CARTS) > OF_ITSELF
    assert not model_switch.follow_installation()


def test_a_model_that_cannot_take_over_is_refused_and_nothing_begins(three: World) -> None:
    for key, refusal in (
        ("nobody/knows", InvalidInput),
        ("openai/x" + "x" * 200, InvalidInput),
        ("openai/small@20000", InvalidInput),
        (WORDS, NotSwitchable),
        ("cohere/away", NotSwitchable),
    ):
        with installed(cohere_base_url=NOBODY, limits=ONCE), pytest.raises(refusal):
            switch(three, key)

    assert spaces_of(three.owner) == {WORDS: 3}
    assert not Job.objects.filter(name=model_switch.SWITCH).exists()


def test_only_one_switch_is_under_way_the_last_one_wanted(three: World) -> None:
    with tenancy.unit():
        EmbeddingModel.objects.create(
            key="gone/model", dimensions=384, prefix_dimensions=384, filling=True
        )

    assert switch(three) is not None
    assert switch(three) is None
    parts = {view.key: view.part for view in index_queries.models(caller=three.owner).models}

    assert parts == {WORDS: Part.ACTIVE, TURNED: Part.FILLING, "gone/model": Part.LEFT}


def test_a_member_does_not_choose_the_model(member_caller: Caller) -> None:
    acts: tuple[Callable[[], object], ...] = (
        lambda: model_switch.switch(caller=member_caller, key=TURNED),
        lambda: model_switch.cancel(caller=member_caller),
        lambda: model_switch.roll_back(caller=member_caller),
        lambda: model_switch.drop(caller=member_caller, key=WORDS),
        lambda: index_queries.models(caller=member_caller),
        lambda: index_queries.queries_kept(caller=member_caller),
    )

    for act in acts:
        with pytest.raises(RoleNotSufficient):
            act()


def test_without_the_model_it_waits(switching: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(**_: object) -> object:
        raise EmbedderUnavailable(detail="It is away.", hint="Wait.")

    for key in (WORDS, TURNED):
        with pytest.raises(NotSwitchable, match="in use"):
            model_switch.drop(caller=switching.owner, key=key)
    monkeypatch.setattr(embedding, "embed_beside", away)
    do_jobs(1)

    assert index_queries.models(caller=switching.owner).waits_for == "It is away. Wait."
    assert active_key() == WORDS


def test_the_database_keeps_to_one_active_model_and_to_its_dimensions(world: World) -> None:
    world.stored(REDIS)
    vectors, spaces = MemoryVector.objects, EmbeddingModel.objects
    second = {"key": TURNED, "dimensions": 384, "prefix_dimensions": 384, "active": True}
    wrong: tuple[Callable[[], object], ...] = (
        lambda: vectors.update(prefix_dimensions=256),
        lambda: vectors.update(unit=[1.0] * 256),
        lambda: spaces.create(**second),
        lambda: spaces.update(filling=True),
    )

    for change in wrong:
        with tenancy.unit(), pytest.raises(IntegrityError), transaction.atomic():
            change()


def _instead(default: str) -> Callable[..., object]:
    inner = registry.embedder
    return lambda *, key="", tenant="": inner(key=key or default, tenant=tenant)
