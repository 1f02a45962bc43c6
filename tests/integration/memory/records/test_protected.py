"""What layers 1 and 2 and protected tags hold, no agent forgets: not even its person's own one."""

from collections.abc import Callable
from datetime import datetime

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.errors import ProtectedMemory
from memory.intake.actions.remember import Outcome
from memory.intake.actions.revise import revise
from memory.records.actions import archive, confirm, pin
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from memory.review.actions.corrections import correct
from memory.review.actions.verdicts import merge, reject
from tests.support.memories import CARTS, PARSER, REDIS, as_agent, sent, stored

pytestmark = pytest.mark.usefixtures("in_organization")

FIXED = "Carts are merged at sign-in, and emptied at sign-out."
TAUGHT = {"type": "decision", "external_id": "adr-1"}
Forgets = Callable[[Caller, MemoryView, datetime], object]


def _archive(agent: Caller, memory: MemoryView, now: datetime) -> object:
    return archive(caller=agent, memory_id=memory.id, reason="", if_version=None, now=now)


def _change(agent: Caller, memory: MemoryView, now: datetime) -> object:
    changes = {"tags": ["old"]}
    return revise(caller=agent, memory_id=memory.id, changes=changes, if_version=None, now=now)


def _overwrite(agent: Caller, memory: MemoryView, now: datetime) -> object:
    return sent(agent, now, PARSER, project=memory.project_slug, **TAUGHT)


def _unpin(agent: Caller, memory: MemoryView, now: datetime) -> object:
    return pin(caller=agent, memory_id=memory.id, pinned=False, now=now)


def _reject(agent: Caller, memory: MemoryView, now: datetime) -> object:
    with tenancy.unit():
        Memory.objects.filter(pk=memory.id).update(needs_review=True)
    return reject(caller=agent, memory_id=memory.id, reason="", now=now)


def _correct(agent: Caller, memory: MemoryView, now: datetime) -> Outcome:
    return correct(
        caller=agent, memory_id=memory.id, content=FIXED, kind="outdated", reason="", now=now
    )


@pytest.mark.parametrize("forget", [_archive, _change, _overwrite, _unpin, _reject])
def test_what_is_taught_stays(caller: Caller, store: str, now: datetime, forget: Forgets) -> None:
    taught = stored(caller, now, CARTS, project=store, pinned=True, **TAUGHT)

    with pytest.raises(ProtectedMemory):
        forget(as_agent(caller), taught, now)

    with tenancy.unit():
        kept = Memory.objects.get(pk=taught.id)
    assert (kept.status, kept.content, kept.pinned) == ("active", CARTS, True)


@pytest.mark.parametrize("forget", [_archive, _change, _overwrite, _unpin, _reject])
def test_agents_forget_own_ones(caller: Caller, store: str, now: datetime, forget: Forgets) -> None:
    agent = as_agent(caller)
    other = stored(agent, now, CARTS, project=store, **TAUGHT)
    forget(agent, other, now)
    vouched = stored(agent, now, REDIS, project=store, type="decision", external_id="adr-2")

    confirm(caller=caller, memory_id=vouched.id, now=now)

    with pytest.raises(ProtectedMemory):
        _archive(agent, vouched, now)


def test_another_agent_is_another_writer(caller: Caller, store: str, now: datetime) -> None:
    decision = stored(as_agent(caller), now, CARTS, project=store, type="decision")

    with pytest.raises(ProtectedMemory):
        _archive(as_agent(caller, agent="codex"), decision, now)


def test_an_agent_corrects_for_its_person_and_cannot_let_go_of_the_correction(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    decision = stored(caller, now, CARTS, project=store, type="decision")

    with pytest.raises(ProtectedMemory):
        _correct(as_agent(member_caller), decision, now)
    outcome = _correct(as_agent(caller), decision, now)

    assert outcome.memory is not None
    with pytest.raises(ProtectedMemory):
        _archive(as_agent(caller), outcome.memory, now)


def test_agents_merge_nothing_protected_away(caller: Caller, store: str, now: datetime) -> None:
    into = stored(caller, now, REDIS, project=store, type="fact")
    taught = stored(caller, now, CARTS, project=store, type="decision")
    with tenancy.unit():
        Memory.objects.filter(pk=taught.id).update(needs_review=True, author_user=None)

    with pytest.raises(ProtectedMemory):
        merge(caller=as_agent(caller), memory_id=taught.id, into=into.id, now=now)
