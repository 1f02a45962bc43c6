"""Merge a memory that waits for review into another that says the same.

The other one keeps its words and gains the tags, files and sessions; what it was stays as a version
of it. The merged one is superseded and stays readable, with an edge to its successor. Both stand in
the same place, so that nobody sees more of either than before. A taint goes along: trust is that of
the least trusted part.
"""

from datetime import datetime
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from accounts.messages import message
from memory.customization import custom_type_rules
from memory.intake.integrate import SUPERSEDED_CONFIDENCE
from memory.records.actions import confirm, revise, writes
from memory.records.actions.validation import LISTS
from memory.records.models import Memory, MemoryLink
from memory.records.queries.memories import lock_memory
from memory.records.queries.views import to_view
from memory.records.verdicts import Verdict
from memory.review.actions import verdict
from memory.review.actions.verdict import Decided, Traces
from memory.taxonomy import LinkKind, MemoryType, Scope, Status, governance_of
from teams.permissions import Act, require

MERGED = message("merged in review")  # why there is a new version


def merge(*, caller: Caller, memory_id: UUID, into: UUID, now: datetime) -> Decided:
    """Merge a waiting memory into another one of the same place; return the other one.

    Raises NotFound, Conflict when it does not wait, NotActive, InvalidInput for another place,
    SelfApproval, ProtectedMemory, RoleNotSufficient: merging what others see is a steward's.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        decided = apply(caller=caller, memory_id=memory_id, into=into, now=now)
        details = {"into": str(into)}
        writes.record(caller=caller, act="memory.merged", memory_id=memory_id, details=details)
        return decided


def apply(*, caller: Caller, memory_id: UUID, into: UUID, now: datetime) -> Decided:
    """Merge a waiting memory into another inside the current unit."""
    traces = Traces()
    row, other = _locked(caller, memory_id, into)
    _check_place(row, other)
    if row.scope != Scope.PERSONAL:
        require(caller=caller, act=Act.MERGE)
    verdict.check_may_approve(caller=caller, row=row)
    confirm.check_active(row=other)
    revise.check_agent_may_forget(caller=caller, row=row)
    revise.check_agent_may_change(caller=caller, row=other)
    traces.keep(row)
    traces.keep(other)
    version = revise.keep_version(caller=caller, row=other, reason=MERGED, now=now)
    traces.versions.append(version)
    _gain(other, row, now)
    _retire(row, other, now)
    link, is_new = MemoryLink.objects.get_or_create(
        source=other, target=row, kind=LinkKind.SUPERSEDES.value, defaults={"description": MERGED}
    )
    traces.links += [link.pk] if is_new else []
    writes.announce(caller=caller, kind="memory.merged", rows=(row, other))
    made = verdict.note(caller=caller, row=row, verdict=Verdict.MERGE, traces=traces, now=now)
    view = to_view(lock_memory(caller=caller, memory_id=other.id), now=now)
    return Decided(memory=view, verdict=Verdict.MERGE, review_id=made)


def _locked(caller: Caller, memory_id: UUID, into: UUID) -> tuple[Memory, Memory]:
    """Lock both in the order of their ids, so that two merges never wait for each other."""
    for one in sorted({memory_id, into}):
        lock_memory(caller=caller, memory_id=one)
    row = verdict.lock_waiting(caller=caller, memory_id=memory_id)
    return row, lock_memory(caller=caller, memory_id=into)


def _check_place(row: Memory, other: Memory) -> None:
    same = (row.project_id, row.audience) == (other.project_id, other.audience)
    if same and row.id != other.id:
        return
    raise wrong_field(
        pointer="/into",
        detail="A memory is merged into another one of the same project and scope.",
        hint="Pick one that the same people see, or correct this one instead.",
        code="place",
    )


def _gain(other: Memory, row: Memory, now: datetime) -> None:
    own_type = custom_type_rules.named(tags=other.tags)
    for name, (most, _longest) in LISTS.items():
        both = custom_type_rules.plain(tags=(*getattr(other, name), *getattr(row, name)))
        setattr(other, name, list(dict.fromkeys(both))[:most])
    other.tags = list(custom_type_rules.marked(tags=other.tags, name=own_type))
    other.provenance_sessions = confirm.met_in(
        known=other.provenance_sessions, sessions=(row.session_id, *row.provenance_sessions)
    )
    other.confirmations += 1
    other.last_confirmed_at = now
    other.taint_reason = other.taint_reason or row.taint_reason
    other.governance = governance_of(
        type=MemoryType(other.type), tags=tuple(other.tags), pinned=other.pinned
    )
    fields = (*LISTS, "provenance_sessions", "confirmations", "last_confirmed_at", "taint_reason",
              "governance")  # fmt: skip
    writes.save(row=other, fields=fields, now=now)
    writes.index_words(rows=(other,))


def _retire(row: Memory, other: Memory, now: datetime) -> None:
    row.status, row.superseded_by = Status.SUPERSEDED.value, other
    row.confidence = min(row.confidence, SUPERSEDED_CONFIDENCE)
    row.valid_until, row.archived_reason = now, MERGED
    fields = ("status", "superseded_by", "confidence", "valid_until", "archived_reason")
    writes.save(row=row, fields=fields, now=now)
