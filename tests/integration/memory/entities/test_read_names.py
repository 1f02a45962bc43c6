"""Names that an older reader has read are read again, in parts, once."""

from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.models import Job
from memory.entities import actions, names
from memory.entities.actions import READ_NAMES, queue_read_names
from memory.entities.models import Mention
from memory.intake.actions.remember import remember_all
from memory.intake.actions.revise import revise
from memory.records.models import Memory
from tests.support.memories import new, stored

pytestmark = pytest.mark.usefixtures("in_organization")

TOKENS = "AuthService keeps its tokens for an hour and asks k8s for new ones."


def forget_names() -> None:
    """Make every memory one that was stored before names were read."""
    with tenancy.unit():
        Mention.objects.all().delete()
        Memory.objects.update(names_version=0)


def mentions() -> set[tuple[UUID, str, str]]:
    with tenancy.unit():
        return set(Mention.objects.values_list("memory_id", "key", "name"))


def queued() -> int:
    return Job.objects.filter(name=READ_NAMES, state="queued").count()


def work() -> dict[str, Any]:
    """Run the job that waits, as a worker would."""
    held = jobs.claim(queue="maintenance", worker="w")
    assert held is not None
    result = dict(jobs.run_handler(held))
    told = Job.objects.get(pk=held.id)
    return {**result, "told": (told.progress_done, told.progress_total)}


def test_an_old_memory_is_queued_once_and_read_unless_its_text_changes(
    caller: Caller, store: str, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = stored(caller, now, TOKENS, project=store)
    assert not queue_read_names()  # what is stored now waits for nobody
    with tenancy.unit():
        before = Memory.objects.values("version", "updated_at").get(pk=old.id)
    forget_names()

    assert queue_read_names()
    assert not queue_read_names()
    assert queued() == 1
    assert work() == {"read": 1, "told": (1, 1)}
    assert mentions() == {(old.id, "auth service", "AuthService"), (old.id, "kubernetes", "k8s")}
    with tenancy.unit():
        assert Memory.objects.values("version", "updated_at").get(pk=old.id) == before
    assert not queue_read_names()
    monkeypatch.setattr(names, "VERSION", names.VERSION + 1)  # a grown reader reads all again
    assert queue_read_names()
    assert work()["read"] == 1
    forget_names()
    changes = {"content": TOKENS.replace("k8s", "Kafka")}
    revise(caller=caller, memory_id=old.id, changes=changes, if_version=None, now=now)
    assert {key for _, key, _ in mentions()} == {"auth service", "kafka"}
    assert not queue_read_names()


def test_many_are_read_in_parts(
    caller: Caller, store: str, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = tuple(new(f"Rule {n}: ask Handler{n}Service twice.", project=store) for n in range(5))
    remember_all(caller=caller, new=many, now=now)
    forget_names()
    monkeypatch.setattr(actions, "READ_BATCH", 2)
    monkeypatch.setattr(actions, "BATCHES", 1)
    queue_read_names()

    parts = [work() for _ in range(3)]

    assert parts == [
        {"read": 2, "told": (2, 5)},
        {"read": 2, "told": (4, 5)},
        {"read": 1, "told": (5, 5)},
    ]
    assert (queued(), len(mentions())) == (0, 5)
