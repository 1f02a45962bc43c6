"""Confirm a memory: someone met it again, or says that it is right."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller, is_person
from accounts.messages import message
from memory.errors import NotActive
from memory.records import confidence as belief
from memory.records import note_statements
from memory.records.actions import verdict_log, writes
from memory.records.actions.verdict_log import DecidedMemory, Traces
from memory.records.models import Memory
from memory.records.queries import pending
from memory.records.queries.memories import lock_memory
from memory.records.queries.views import MemoryView, to_view
from memory.records.verdicts import Group, Verdict
from memory.taxonomy import Status, Verification
from teams.permissions import Act, require

IMPORTANCE_BOOST = 0.02  # ours; a re-statement matters a little
MOST_SESSIONS: Final = 50  # that said a memory and are told with it, the newest; ours


def confirm(*, caller: Caller, memory_id: UUID, now: datetime) -> MemoryView:
    """Confirm a memory. A person's confirmation also verifies it, makes it surer, ends its review.

    Raises NotFound, NotActive, RoleNotSufficient, and SelfApproval where a person confirms what
    waits and may not approve it.
    """
    require(caller=caller, act=Act.CONFIRM)
    with tenancy.unit():
        view = say(caller=caller, memory_id=memory_id, now=now)
        writes.record(caller=caller, act="memory.confirmed", memory_id=memory_id)
        return view


def say(*, caller: Caller, memory_id: UUID, now: datetime) -> MemoryView:
    """Confirm a memory that somebody looks at, inside the current unit; raises as `confirm`.

    What a person confirms while it waits for review is kept, wherever they are; an agent ends no
    wait by confirming. That a memory of one's own still holds takes nobody else.
    """
    row = lock_memory(caller=caller, memory_id=memory_id)
    group = pending.group_of(row=row) if is_person(caller=caller) else None
    if group is None:
        return apply(caller=caller, memory_id=memory_id, now=now)
    is_only_stale = group is Group.STALE and not row.needs_review
    if is_only_stale and not pending.may_approve(caller=caller, row=row):
        return _renewed(caller, row, now)
    return approve(caller=caller, row=row, now=now).memory


def approve(*, caller: Caller, row: Memory, now: datetime) -> DecidedMemory:
    """Keep a locked memory that waits, inside the current unit. Raises SelfApproval."""
    traces = Traces()
    verdict_log.check_may_approve(caller=caller, row=row)
    traces.keep(row)
    apply(caller=caller, memory_id=row.id, now=now)
    row.refresh_from_db()
    row.needs_review = False
    in_person = is_person(caller=caller)
    row.archived_reason = note_statements.decided(reason=row.archived_reason, in_person=in_person)
    fields = ["needs_review", "archived_reason"]
    if in_person:
        row.stale_at, row.taint_reason = None, ""
        fields += ["stale_at", "taint_reason"]
    writes.save(row=row, fields=tuple(fields), now=now)
    made = verdict_log.record_verdict(
        caller=caller, row=row, verdict=Verdict.KEEP, traces=traces, now=now
    )
    view = to_view(lock_memory(caller=caller, memory_id=row.id), now=now)
    return DecidedMemory(memory=view, verdict=Verdict.KEEP, review_id=made)


def _renewed(caller: Caller, row: Memory, now: datetime) -> MemoryView:
    """Confirm in person a locked memory that is stale and waits for nothing else. In a unit."""
    apply(caller=caller, memory_id=row.id, now=now)
    row.refresh_from_db()
    row.stale_at = None
    row.archived_reason = note_statements.decided(reason=row.archived_reason, in_person=True)
    writes.save(row=row, fields=("stale_at", "archived_reason"), now=now)
    return to_view(lock_memory(caller=caller, memory_id=row.id), now=now)


def apply(
    *, caller: Caller, memory_id: UUID, now: datetime, session_id: UUID | None = None
) -> MemoryView:
    """Confirm a memory inside the current unit; `session_id` is the session that met it again."""
    row = lock_memory(caller=caller, memory_id=memory_id)
    check_active(row=row)
    fields = list(count(row=row, sessions=(session_id,), now=now))
    if is_person(caller=caller):
        row.verification, row.verified_at = Verification.VERIFIED.value, now
        row.user_verified, row.needs_review = True, False
        row.confidence = belief.confirmed(confidence=row.confidence)
        fields += ["verification", "verified_at", "user_verified", "needs_review", "confidence"]
    writes.save(row=row, fields=tuple(fields), now=now)
    writes.announce(caller=caller, kind="memory.confirmed", rows=(row,))
    return to_view(row, now=now)


def count(*, row: Memory, sessions: Iterable[UUID | None], now: datetime) -> tuple[str, ...]:
    """Count that a locked memory was stated again, in these sessions; return what has changed."""
    row.confirmations += 1
    row.last_confirmed_at = now
    row.importance = min(1.0, row.importance + IMPORTANCE_BOOST)
    row.provenance_sessions = met_in(known=row.provenance_sessions, sessions=sessions)
    return ("confirmations", "last_confirmed_at", "importance", "provenance_sessions")


def met_in(*, known: Iterable[UUID], sessions: Iterable[UUID | None]) -> list[UUID]:
    """Return the sessions of a memory with further ones, each once and the newest last."""
    kept = dict.fromkeys(known)
    added = [one for one in dict.fromkeys(sessions) if one is not None and one not in kept]
    return [*kept, *added][-MOST_SESSIONS:]


def check_active(*, row: Memory) -> None:
    """Return when a memory can still change. Raises NotActive."""
    if row.status == Status.ACTIVE:
        return
    raise NotActive(
        detail=message("This memory is {status}.", status=Status(row.status)),
        hint="Restore it first, or work with the memory that replaced it.",
    )
