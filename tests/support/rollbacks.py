"""What tests of rollbacks do before: write, change, replace, keep and contradict memories."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.intake.actions.revise import revise
from memory.records.models import Conflict, Memory, MemoryLink, ReviewVerdict
from memory.records.queries.views import MemoryView
from memory.review.actions.corrections import correct
from memory.review.rollback.execute import RolledBack
from memory.review.rollback.plan import LeftReason, RollbackFate, RollbackPreview
from memory.sessions.actions.lifecycle import NewSession, open_session

MILL: Final = "The mill is fed by the northern weir, so its gate stays shut while it rains."
LATER: Final = timedelta(hours=1)
Roll = Callable[..., RolledBack]
Look = Callable[..., RollbackPreview]


def session_of(caller: Caller, store: str, now: datetime, **given: Any) -> UUID:
    """Open a session; return its id."""
    new = NewSession(project=store, **given)
    return open_session(caller=caller, new=new, now=now).session.id


def say(who: Caller, memory: MemoryView, text: str, now: datetime, **more: Any) -> None:
    """Change the text of a memory."""
    changes = {"content": text, **more}
    revise(caller=who, memory_id=memory.id, changes=changes, if_version=None, now=now)


def put_right(who: Caller, memory_id: UUID, text: str, now: datetime) -> UUID:
    """Put another memory in the place of one; return its id."""
    given = {"content": text, "kind": "wrong", "reason": ""}
    made = correct(caller=who, memory_id=memory_id, now=now, **given).memory
    assert made is not None
    return made.id


def stand_for(who: Caller, memory: MemoryView, now: datetime) -> None:
    """Keep a memory, as the review inbox does."""
    assert who.user_id is not None
    with tenancy.unit():
        ReviewVerdict.objects.create(
            memory_id=memory.id, verdict="keep", decided_by=who.user_id, decided_at=now
        )


def derived(child: MemoryView, parent: MemoryView, now: datetime) -> None:
    """Let a memory derive from another, and contradict it."""
    assert child.author_user is not None
    with tenancy.unit():
        MemoryLink.objects.create(source_id=child.id, target_id=parent.id, kind="derive")
        Conflict.objects.create(
            older_id=parent.id, newer_id=child.id, audience=child.author_user,
            kind="contradict", cause="unsure", found_at=now,
        )  # fmt: skip


def row_of(memory: MemoryView) -> Memory:
    with tenancy.unit():
        return Memory.objects.get(pk=memory.id)


def conflict_of(older: MemoryView, newer: MemoryView, now: datetime) -> UUID:
    """Let two memories contradict each other; return the conflict's id."""
    with tenancy.unit():
        return Conflict.objects.create(
            older_id=older.id, newer_id=newer.id, project_id=newer.project_id,
            audience=Memory.objects.get(pk=newer.id).audience,
            kind="contradict", cause="unsure", found_at=now,
        ).id  # fmt: skip


def fates(seen: RollbackPreview) -> dict[UUID, tuple[RollbackFate, LeftReason | None]]:
    return {one.memory_id: (one.fate, one.why) for one in seen.items}
