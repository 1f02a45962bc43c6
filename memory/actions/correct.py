"""Correct a memory: a new one takes its place, and both stay readable (spec 2.4)."""

from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller, is_person
from accounts.errors import wrong_field
from accounts.sentences import sentence
from memory.actions import store
from memory.actions.confirm import check_active
from memory.actions.drafts import NewMemory
from memory.actions.fields import check_reason
from memory.actions.remember import Outcome, Prepared, decide, prepare
from memory.actions.revise import check_agent_may_change
from memory.errors import RefusedByGate
from memory.intake.integrate import SUPERSEDED_CONFIDENCE
from memory.models import Memory, MemoryLink
from memory.queries.memories import find_memory, lock_memory
from memory.taxonomy import LinkKind, Source, Status
from teams.permissions import require
from teams.roles import Act

KINDS: Final = ("outdated", "too_broad", "wrong", "not_here")


def correct(
    *, caller: Caller, memory_id: UUID, content: str, kind: str, reason: str, now: datetime
) -> Outcome:
    """Put a corrected memory in the place of a wrong one.

    Raises NotFound, NotActive, InvalidInput, RefusedByGate, ProtectedMemory, and Conflict when
    somebody stores the same at the same moment.
    """
    require(caller=caller, act=Act.WRITE)
    _check_kind(kind)
    check_reason(reason=reason)
    with tenancy.unit():
        old = _correctable(caller, find_memory(caller=caller, memory_id=memory_id))
        new = successor_of(caller=caller, old=old, content=content)
    prepared = prepare(caller=caller, new=new)
    _check_changed(old, prepared)
    with tenancy.unit():
        old = _correctable(caller, lock_memory(caller=caller, memory_id=memory_id))
        _retire(old, f"{kind}: {reason}".strip(": "), now)
        outcome = decide(caller=caller, prepared=prepared, now=now)
        if outcome.memory is None:
            raise RefusedByGate(gate=outcome.gate, detail=outcome.reason, hint=outcome.hint)
        _link(caller, old, outcome.memory.id)
        by = {"by": str(outcome.memory.id), "kind": kind}
        store.record(caller=caller, act="memory.corrected", memory_id=memory_id, details=by)
        return outcome


def _correctable(caller: Caller, row: Memory) -> Memory:
    check_active(row=row)
    check_agent_may_change(caller=caller, row=row)
    return row


def _check_changed(old: Memory, prepared: Prepared) -> None:
    if prepared.drafted.content_hash != old.content_hash:
        return
    raise wrong_field(
        pointer="/content",
        detail="The corrected text says exactly the same.",
        hint="Change the text, or confirm the memory instead.",
        code="unchanged",
    )


def successor_of(*, caller: Caller, old: Memory, content: str) -> NewMemory:
    """Return the candidate that says something else in the place of a memory."""
    source = Source.USER_TAUGHT if is_person(caller=caller) else Source.AGENT_EXPLICIT
    return NewMemory(
        content=content,
        source=source.value,
        type=old.type,
        project=str(old.project_id) if old.project_id else None,
        external_id=old.external_id,
        tags=tuple(old.tags),
        related_files=tuple(old.related_files),
        related_modules=tuple(old.related_modules),
        scope=old.scope,
        team=str(old.team_id) if old.team_id else None,
        attributes=old.attributes,
        pinned=old.pinned,
        reach=old.reach,
        phase=old.phase,
        methodology=old.methodology,
    )


def _retire(old: Memory, reason: str, now: datetime) -> None:
    old.status = Status.SUPERSEDED.value
    old.confidence = min(old.confidence, SUPERSEDED_CONFIDENCE)
    old.valid_until, old.archived_reason = now, reason[:200]
    store.save(row=old, fields=("status", "confidence", "valid_until", "archived_reason"), now=now)


def _link(caller: Caller, old: Memory, successor: UUID) -> None:
    old.superseded_by_id = successor
    old.save(update_fields=["superseded_by"])
    MemoryLink.objects.get_or_create(
        source_id=successor,
        target=old,
        kind=LinkKind.SUPERSEDES.value,
        defaults={"description": old.archived_reason},
    )
    store.announce(caller=caller, kind="memory.corrected", rows=(old,))


def _check_kind(kind: str) -> None:
    if kind in KINDS:
        return
    raise wrong_field(
        pointer="/kind",
        detail=sentence("{kind!r} is not what can be wrong with a memory.", kind=kind),
        hint=sentence("Use one of: {names}.", names=tuple(KINDS)),
        code="choice",
    )
