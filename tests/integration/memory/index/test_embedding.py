"""Vectors follow their text: what changes while it is embedded waits for the next job."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.jobs import PermanentFailure
from memory.errors import EmbedderUnavailable
from memory.index.actions import embedding
from memory.index.models import MemoryVector
from memory.intake.actions.revise import revise
from memory.providers import registry
from memory.providers.contracts import Vectors
from memory.providers.errors import CircuitOpen, ProviderRefused, ProviderTimeout
from memory.providers.static import HashingEmbedder
from memory.records.actions import archive
from tests.support.memories import CARTS, stored

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


def test_a_memory_that_changes_meanwhile_keeps_no_vector_of_its_old_text(
    caller: Caller, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = stored(caller, now)
    with tenancy.unit():
        MemoryVector.objects.all().delete()

    def change() -> None:
        changes = {"content": CARTS}
        revise(caller=caller, memory_id=memory.id, changes=changes, if_version=None, now=now)

    monkeypatch.setattr(registry, "embedder", lambda **_: Meanwhile(change))

    assert embedding.embed_batch(memory_ids=(memory.id,)) == 0
    assert hashes() == []


def test_only_an_active_memory_with_another_text_is_embedded_again(
    caller: Caller, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = stored(caller, now)
    asked: list[str] = []
    monkeypatch.setattr(registry, "embedder", lambda **_: Meanwhile(lambda: asked.append("again")))

    assert embedding.embed_batch(memory_ids=(memory.id,)) == 1
    assert asked == []
    [before] = hashes()
    changes = {"content": CARTS}
    revise(caller=caller, memory_id=memory.id, changes=changes, if_version=None, now=now)
    assert embedding.embed_batch(memory_ids=(memory.id,)) == 1
    [after] = hashes()
    assert after != before
    archive(caller=caller, memory_id=memory.id, reason="", if_version=None, now=now)
    assert embedding.embed_batch(memory_ids=(memory.id,)) == 0


def test_a_fault_of_the_embedder_stores_nothing_and_says_whether_to_try_again(
    caller: Caller, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = stored(caller, now)
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
