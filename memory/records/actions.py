"""Archive, restore, pin and confirm one memory, and open or close a project.

Each verb loads and locks the memory, decides who may, writes it in one transaction with its place
in the index, tells the change feed, and appends one entry to the audit log. The functions that end
in `_row` or `_memory` do the same inside of a unit that somebody else opened, without the entry.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import rights, tenancy
from accounts.caller import Caller, is_person, principal
from accounts.errors import Conflict, FieldError, InvalidInput, PreconditionFailed
from accounts.messages import message
from memory.errors import NotActive, ProtectedMemory
from memory.index.actions import embedding
from memory.records import formulas, note_statements, verdict_log, versions, writes
from memory.records.models import Memory, MemoryLink, MemoryVersion
from memory.records.queries import pending
from memory.records.queries.memories import AUDIENCE, lock_memory
from memory.records.queries.views import MemoryView, to_view
from memory.records.verdict_log import DecidedMemory, Traces
from memory.records.verdicts import Group
from memory.secrets import scanner
from memory.taxonomy import (
    Governance,
    LinkKind,
    MemoryType,
    Scope,
    SourceInterface,
    Status,
    Verdict,
    Verification,
    governance_of,
    may_be_forgotten_by_agent,
)
from memory.text.text import check_text
from teams.actions.projects import admit, hold_project
from teams.models import Project
from teams.permissions import Act, require
from teams.queries import ProjectView

LONGEST_REASON: Final = 200  # characters, the column's
IMPORTANCE_BOOST: Final = 0.02  # of a restatement; default, not measured
MOST_SESSIONS: Final = 50  # kept with a memory that stated it, the newest; default, not measured
WIDER_SCOPES: Final = (Scope.TEAM.value, Scope.ORGANIZATION.value)  # seen beyond a project's people


def archive(
    *, caller: Caller, memory_id: UUID, reason: str, if_version: int | None, now: datetime
) -> MemoryView:
    """Archive a memory: it leaves searches, keeps its reason, and can be restored.

    Raises NotFound, NotActive, ProtectedMemory, PreconditionFailed, and InvalidInput for a reason
    with a secret in it.
    """
    require(caller=caller, act=Act.WRITE)
    check_reason(reason=reason)
    with tenancy.unit():
        row = lock_memory(caller=caller, memory_id=memory_id)
        check_version(row=row, if_version=if_version)
        view = archive_row(caller=caller, row=row, reason=reason, now=now)
        writes.record(caller=caller, act="memory.archived", memory_id=memory_id)
        return view


def archive_row(*, caller: Caller, row: Memory, reason: str, now: datetime) -> MemoryView:
    """Archive a locked memory inside the current unit."""
    check_active(row=row)
    check_agent_may_forget(caller=caller, row=row)
    row.status, row.archived_reason = Status.ARCHIVED.value, reason
    row.valid_until = now
    writes.save(row=row, fields=("status", "archived_reason", "valid_until"), now=now)
    writes.announce(caller=caller, kind="memory.archived", rows=(row,))
    return to_view(row, now=now)


def restore(*, caller: Caller, memory_id: UUID, now: datetime) -> MemoryView:
    """Restore an archived memory: one's own, or as a steward anybody's.

    Raises NotFound, RoleNotSufficient, NotActive, Conflict with a newer memory of the same text.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        row = lock_memory(caller=caller, memory_id=memory_id)
        if not is_author(caller=caller, row=row):
            require(caller=caller, act=Act.RESTORE)
        if row.status != Status.ARCHIVED:
            raise NotActive(
                detail=message("This memory is {status}, not archived.", status=Status(row.status)),
                hint="Only archived memories are restored.",
            )
        row.status, row.archived_reason, row.valid_until = Status.ACTIVE.value, "", None
        writes.save_unique(row=row, fields=("status", "archived_reason", "valid_until"), now=now)
        if not getattr(row, "is_embedded", False):
            embedding.enqueue(layers={row.id: row.governance}, created_by=principal(caller=caller))
        writes.announce(caller=caller, kind="memory.restored", rows=(row,))
        writes.record(caller=caller, act="memory.restored", memory_id=memory_id)
        return to_view(row, now=now)


def pin(*, caller: Caller, memory_id: UUID, pinned: bool, now: datetime) -> MemoryView:
    """Pin a memory, so that it never fades, or take the pin away.

    A pin protects, so an agent takes none from what it may not forget. Raises NotFound, NotActive,
    ProtectedMemory, RoleNotSufficient.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        view = pin_memory(caller=caller, memory_id=memory_id, pinned=pinned, now=now)
        act = "memory.pinned" if pinned else "memory.unpinned"
        writes.record(caller=caller, act=act, memory_id=memory_id)
        return view


def pin_memory(*, caller: Caller, memory_id: UUID, pinned: bool, now: datetime) -> MemoryView:
    """Set or take away the pin inside the current unit."""
    row = lock_memory(caller=caller, memory_id=memory_id)
    check_active(row=row)
    check = check_agent_may_change if pinned else check_agent_may_forget
    check(caller=caller, row=row)
    row.pinned = pinned
    row.governance = governance_of(type=MemoryType(row.type), tags=tuple(row.tags), pinned=pinned)
    writes.save(row=row, fields=("pinned", "governance"), now=now)
    writes.announce(caller=caller, kind="memory.pinned", rows=(row,))
    return to_view(row, now=now)


def confirm(*, caller: Caller, memory_id: UUID, now: datetime) -> MemoryView:
    """Confirm a memory. A person's confirmation also verifies it, makes it surer, ends its review.

    Raises NotFound, NotActive, RoleNotSufficient, and SelfApproval where a person confirms what
    waits and may not approve it.
    """
    require(caller=caller, act=Act.CONFIRM)
    with tenancy.unit():
        view = confirm_in_unit(caller=caller, memory_id=memory_id, now=now)
        writes.record(caller=caller, act="memory.confirmed", memory_id=memory_id)
        return view


def confirm_in_unit(*, caller: Caller, memory_id: UUID, now: datetime) -> MemoryView:
    """Confirm a memory that somebody looks at, inside the current unit; raises as `confirm`.

    What a person confirms while it waits for review is kept, wherever they are; an agent ends no
    wait by confirming. That a memory of one's own still holds takes nobody else.
    """
    row = lock_memory(caller=caller, memory_id=memory_id)
    group = pending.group_of(row=row) if is_person(caller=caller) else None
    if group is None:
        return confirm_memory(caller=caller, memory_id=memory_id, now=now)
    is_only_stale = group is Group.STALE and not row.needs_review
    if is_only_stale and not pending.may_approve(caller=caller, row=row):
        return _renew(caller, row, now)
    return approve(caller=caller, row=row, now=now).memory


def approve(*, caller: Caller, row: Memory, now: datetime) -> DecidedMemory:
    """Keep a locked memory that waits, inside the current unit. Raises SelfApproval."""
    traces = Traces()
    verdict_log.check_may_approve(caller=caller, row=row)
    traces.keep(row)
    confirm_memory(caller=caller, memory_id=row.id, now=now)
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


def _renew(caller: Caller, row: Memory, now: datetime) -> MemoryView:
    """Confirm in person a locked memory that is stale and waits for nothing else. In a unit."""
    confirm_memory(caller=caller, memory_id=row.id, now=now)
    row.refresh_from_db()
    row.stale_at = None
    row.archived_reason = note_statements.decided(reason=row.archived_reason, in_person=True)
    writes.save(row=row, fields=("stale_at", "archived_reason"), now=now)
    return to_view(lock_memory(caller=caller, memory_id=row.id), now=now)


def confirm_memory(
    *, caller: Caller, memory_id: UUID, now: datetime, session_id: UUID | None = None
) -> MemoryView:
    """Confirm a memory inside the current unit; `session_id` is the session that stated it again.

    A person's confirmation also verifies it and makes it surer; `confirm` also ends a wait.
    """
    row = lock_memory(caller=caller, memory_id=memory_id)
    check_active(row=row)
    fields = list(count_restatement(row=row, sessions=(session_id,), now=now))
    if is_person(caller=caller):
        row.verification, row.verified_at = Verification.VERIFIED.value, now
        row.user_verified, row.needs_review = True, False
        row.confidence = formulas.confirmed(confidence=row.confidence)
        fields += ["verification", "verified_at", "user_verified", "needs_review", "confidence"]
    writes.save(row=row, fields=tuple(fields), now=now)
    writes.announce(caller=caller, kind="memory.confirmed", rows=(row,))
    return to_view(row, now=now)


def count_restatement(
    *, row: Memory, sessions: Iterable[UUID | None], now: datetime
) -> tuple[str, ...]:
    """Count that a locked memory was stated again, in these sessions; return the changed fields."""
    row.confirmations += 1
    row.last_confirmed_at = now
    row.importance = min(1.0, row.importance + IMPORTANCE_BOOST)
    row.provenance_sessions = add_sessions(known=row.provenance_sessions, sessions=sessions)
    return ("confirmations", "last_confirmed_at", "importance", "provenance_sessions")


def add_sessions(*, known: Iterable[UUID], sessions: Iterable[UUID | None]) -> list[UUID]:
    """Return the sessions of a memory with further ones, each once and the newest last."""
    kept = dict.fromkeys(known)
    added = [one for one in dict.fromkeys(sessions) if one is not None and one not in kept]
    return [*kept, *added][-MOST_SESSIONS:]


def keep_version(*, caller: Caller, row: Memory, reason: str, now: datetime) -> int:
    """Keep what a memory says now as a version of it; return the version's row. In a unit."""
    kept = MemoryVersion.objects.create(
        memory=row,
        number=row.version,
        content=row.content,
        fields={
            **{name: versions.plain(value=getattr(row, name)) for name in versions.KEPT},
            AUDIENCE: str(row.audience),
        },
        reason=reason,
        changed_by=caller.user_id,
        changed_agent=caller.agent,
        changed_at=now,
    )
    return kept.pk


def check_active(*, row: Memory) -> None:
    """Return when a memory can still change. Raises NotActive."""
    if row.status == Status.ACTIVE:
        return
    raise NotActive(
        detail=message("This memory is {status}.", status=Status(row.status)),
        hint="Restore it first, or work with the memory that replaced it.",
    )


def check_version(*, row: Memory, if_version: int | None) -> None:
    """Check that a locked memory is the version a writer has read, where they named one.

    Raises PreconditionFailed when it has changed since.
    """
    if if_version is None or row.version == if_version:
        return
    raise PreconditionFailed(
        detail=message(
            "The memory is at version {number}, not {asked}.", number=row.version, asked=if_version
        ),
        hint="Read it again, merge your change, and send it with the new ETag.",
    )


def check_reason(*, reason: str) -> None:
    """Check the text that says why something was changed. Raises InvalidInput."""
    errors: list[tuple[str, str]] = [
        (message("The text has a {kind} character.", kind=fault.kind), "text")
        for fault in check_text(text=reason)[:1]
    ]
    if len(reason) > LONGEST_REASON:
        errors.append((message("Use at most {most} characters.", most=LONGEST_REASON), "length"))
    if fault := scanner.fault_of(text=reason):
        errors.append((fault, "secret"))
    if errors:
        raise InvalidInput(
            detail=errors[0][0],
            hint="Correct the named fields and send it again.",
            errors=tuple(
                FieldError(pointer="/reason", detail=detail, code=code) for detail, code in errors
            ),
        )


def is_author(*, caller: Caller, row: Memory) -> bool:
    """Say whether the caller, or the person it acts for, wrote a memory."""
    return caller.user_id is not None and row.author_user == caller.user_id


def check_agent_may_change(*, caller: Caller, row: Memory) -> None:
    """Return unless an agent would correct what only people may. Raises ProtectedMemory.

    A correction leaves a successor, so nothing is forgotten by it: an agent may correct
    for the person it acts for.
    """
    if not (is_author(caller=caller, row=row) or _is_unprotected(caller, row)):
        raise _protected()


def check_agent_may_forget(*, caller: Caller, row: Memory) -> None:
    """Return unless an agent would let go of what it may not forget. Raises ProtectedMemory.

    Of layers 1 and 2, and of what a tag protects, it forgets only what it wrote itself,
    as long as no person has vouched for it and it supersedes nothing. What a person imports in
    person is no agent's doing.
    """
    if _is_unprotected(caller, row):
        return
    is_import = caller.token_id is None and caller.source_interface == SourceInterface.IMPORT
    is_own = row.author_agent == caller.agent and not row.user_verified
    supersedes = MemoryLink.objects.filter(source=row, kind=LinkKind.SUPERSEDES.value)
    may = is_import or (is_own and not supersedes.exists())
    if not (may and is_author(caller=caller, row=row)):
        raise _protected()


def _is_unprotected(caller: Caller, row: Memory) -> bool:
    free = may_be_forgotten_by_agent(governance=Governance(row.governance), tags=tuple(row.tags))
    return free or is_person(caller=caller)


def _protected() -> ProtectedMemory:
    return ProtectedMemory(
        detail="This memory is protected; an agent may not change it.",
        hint="Ask a person to change it in the dashboard, or dispute it.",
    )


def open_project(*, caller: Caller, ref: str) -> ProjectView:
    """Let everyone of the organization into a project. Raises RoleNotSufficient, NotFound."""
    rights.check_manages(caller=caller)
    with tenancy.unit():
        return admit(caller=caller, row=hold_project(caller=caller, ref=ref), everyone=True)


def close_project(*, caller: Caller, ref: str) -> ProjectView:
    """Keep a project to the people added to it, and owners and admins.

    The name of a closed project stands on no memory that others see, so what is shared with a team
    or the organization must leave the project first. Raises Conflict while memories of it are
    shared more widely, RoleNotSufficient, NotFound.
    """
    rights.check_manages(caller=caller)
    with tenancy.unit():
        row = hold_project(caller=caller, ref=ref)
        _check_shared_with_nobody(row)
        return admit(caller=caller, row=row, everyone=False)


def _check_shared_with_nobody(row: Project) -> None:
    shared = Memory.objects.filter(project=row, scope__in=WIDER_SCOPES)
    count = shared.exclude(status=Status.DELETED.value).count()
    if count:
        raise Conflict(
            detail=message(
                "Memories of this project that are shared with a team or the organization: "
                "{count}.",
                count=count,
            ),
            hint="Give them the scope project first: a closed project is named to its people "
            "alone.",
        )
