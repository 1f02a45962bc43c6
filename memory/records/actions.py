"""Archive, restore, pin and confirm memories, one or in bulk; write verdicts down; open projects.

Each verb loads and locks the memory, decides who may, writes it in one transaction with its place
in the index, tells the change feed, and appends one entry to the audit log. The functions that end
in `_row` or `_memory` do the same inside of a unit that somebody else opened, without the entry.

Before a verdict changes a memory, the fields it may change are put down as they are (`Traces`), so
that undoing restores them exactly. Undoing is refused once anybody has changed one of the memories.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller, check_manages, decides_in_person, is_person, principal
from accounts.errors import Conflict, FieldError, InvalidInput, TooLarge
from accounts.messages import message
from memory.errors import NotActive, SelfApproval
from memory.index.actions import embedding
from memory.records import formulas, protection, versions, writes
from memory.records.models import Conflict as ConflictRow
from memory.records.models import Memory, MemoryVersion, ReviewVerdict
from memory.records.queries import memories, pending, views
from memory.taxonomy import MemoryType, Scope, Status, Verdict, Verification, governance_of
from teams import audit
from teams.actions import admit, hold_project
from teams.permissions import Act, require
from teams.queries import ProjectView

IMPORTANCE_BOOST: Final = 0.02  # of a restatement; default, not measured
MOST_SESSIONS: Final = 50  # kept with a memory that stated it, the newest; default, not measured
NO_REASON: Final = message("archived; no reason was given")
SESSION: Final = timedelta(hours=1)  # of who has no other; after `sessions`, not measured
MOST_IN_BULK: Final = 200  # memories a call, the largest page of a list
DAY_BATCH: Final = 500  # memories a transaction
DAY_BATCHES: Final = 20  # a night
WIDER_SCOPES: Final = (Scope.TEAM.value, Scope.ORGANIZATION.value)  # seen beyond a project's people
TAKEN: Final = "taken"  # keys in `before`: the links that went
REOPENED: Final = "reopened"  # how conflicts were settled that opened again
REWRITTEN: Final = "rewritten"  # number of the version that a rollback took back
RESTORED: Final = "said_again"  # number of the version whose text is back
TIMES: Final = frozenset(
    {"valid_until", "last_confirmed_at", "verified_at", "stale_at", "updated_at"}
)
FIELDS: Final = (
    "status", "archived_reason", "superseded_by_id", "confidence", "confirmations", "importance",
    "verification", "needs_review", "user_verified", "taint_reason", "tags", "related_files",
    "related_modules", "governance", *sorted(TIMES), "provenance_sessions", "scope", "audience",
)  # fmt: skip
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbDetails:
    """What a verb may need: a reason, or until when it holds."""

    reason: str = ""
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb(Generic[T]):
    """What is done to one memory inside of a unit, what it takes, and the name of its act."""

    needs: Act
    apply: Callable[[Caller, UUID, VerbDetails, datetime], T]
    done: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedMemory:
    """A memory after a verdict, and the verdict's id, by which it is undone.

    Where a conflict was snoozed, `conflict_id` says which, and the memory is one of its sides.
    """

    memory: views.MemoryView
    verdict: Verdict
    review_id: UUID
    conflict_id: UUID | None = None


@dataclass(slots=True, kw_only=True)
class Traces:
    """What a verdict touches: memories as they were, and what it made.

    `taken`, the links that it took, is read here; who takes links writes them under TAKEN.
    """

    touched: list[dict[str, Any]] = field(default_factory=list)
    made: list[UUID] = field(default_factory=list)
    links: list[int] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)
    taken: list[dict[str, Any]] = field(default_factory=list)
    _rows: list[Memory] = field(default_factory=list)

    def keep(self, row: Memory) -> None:
        """Put down a locked memory as it is now."""
        fields = {name: versions.plain(value=getattr(row, name)) for name in FIELDS}
        self.touched.append({"id": str(row.id), "fields": fields})
        self._rows.append(row)

    def as_json(self) -> dict[str, Any]:
        """Return all of it, each memory with the version that the verdict left."""
        for kept, row in zip(self.touched, self._rows, strict=True):
            kept["version"] = row.version
        return {
            "touched": self.touched,
            "made": [str(one) for one in self.made],
            "links": self.links,
            "versions": self.versions,
        }


def archive(
    *, caller: Caller, memory_id: UUID, reason: str, if_version: int | None, now: datetime
) -> views.MemoryView:
    """Archive a memory: it leaves searches, keeps its reason, and can be restored.

    Raises NotFound, NotActive, ProtectedMemory, PreconditionFailed, and InvalidInput for a reason
    with a secret in it.
    """
    require(caller=caller, act=Act.WRITE)
    protection.check_reason(reason=reason)
    with tenancy.unit():
        row = memories.lock_memory(caller=caller, memory_id=memory_id)
        protection.check_version(row=row, if_version=if_version)
        view = archive_row(caller=caller, row=row, reason=reason, now=now)
        writes.record(caller=caller, act="memory.archived", memory_id=memory_id)
        return view


def archive_row(*, caller: Caller, row: Memory, reason: str, now: datetime) -> views.MemoryView:
    """Archive a locked memory inside the current unit."""
    protection.check_active(row=row)
    protection.check_agent_may_forget(caller=caller, row=row)
    row.status, row.archived_reason = Status.ARCHIVED.value, reason or NO_REASON
    row.valid_until = now
    writes.save(row=row, fields=("status", "archived_reason", "valid_until"), now=now)
    writes.announce(caller=caller, kind="memory.archived", rows=(row,))
    return views.to_view(row, now=now)


def restore(*, caller: Caller, memory_id: UUID, now: datetime) -> views.MemoryView:
    """Restore an archived memory: one's own, or as a steward anybody's.

    Raises NotFound, RoleNotSufficient, NotActive, Conflict with a newer memory of the same text.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        row = memories.lock_memory(caller=caller, memory_id=memory_id)
        if not protection.is_author(caller=caller, row=row):
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
        return views.to_view(row, now=now)


def pin(*, caller: Caller, memory_id: UUID, pinned: bool, now: datetime) -> views.MemoryView:
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


def pin_memory(*, caller: Caller, memory_id: UUID, pinned: bool, now: datetime) -> views.MemoryView:
    """Set or take away the pin inside the current unit."""
    row = memories.lock_memory(caller=caller, memory_id=memory_id)
    protection.check_active(row=row)
    check = protection.check_agent_may_change if pinned else protection.check_agent_may_forget
    check(caller=caller, row=row)
    row.pinned = pinned
    row.governance = governance_of(type=MemoryType(row.type), tags=tuple(row.tags), pinned=pinned)
    writes.save(row=row, fields=("pinned", "governance"), now=now)
    writes.announce(caller=caller, kind="memory.pinned", rows=(row,))
    return views.to_view(row, now=now)


def confirm(
    *, caller: Caller, memory_id: UUID, now: datetime, session_id: UUID | None = None
) -> views.MemoryView:
    """Confirm a memory. A person's confirmation also verifies it, makes it surer, ends its review.

    Once a session: `session_id` is the one that the caller works in. Where they have confirmed it
    in that before, nothing changes, and it was not last confirmed now.

    Raises NotFound, NotActive, RoleNotSufficient, and SelfApproval where a person confirms what
    waits and may not approve it.
    """
    require(caller=caller, act=Act.CONFIRM)
    with tenancy.unit():
        view = confirm_waiting_memory(
            caller=caller, memory_id=memory_id, now=now, session_id=session_id
        )
        if view.last_confirmed_at == now:
            writes.record(caller=caller, act="memory.confirmed", memory_id=memory_id)
        return view


def confirm_waiting_memory(
    *, caller: Caller, memory_id: UUID, now: datetime, session_id: UUID | None = None
) -> views.MemoryView:
    """Confirm a memory that somebody looks at, inside the current unit; raises as `confirm`.

    What a person confirms while it waits for review is kept, wherever they are; an agent ends no
    wait by confirming. That a memory of one's own still holds takes nobody else.
    """
    row = memories.lock_memory(caller=caller, memory_id=memory_id)
    group = pending.group_of(row=row) if is_person(caller=caller) else None
    if group is None:
        return confirm_memory(caller=caller, memory_id=memory_id, now=now, session_id=session_id)
    is_only_stale = group is pending.Group.STALE and not row.needs_review
    if not is_only_stale or pending.may_approve(caller=caller, row=row):
        return approve(caller=caller, row=row, now=now).memory
    confirm_memory(caller=caller, memory_id=row.id, now=now)
    row.refresh_from_db()
    row.stale_at = None
    row.archived_reason = versions.kept_reason(reason=row.archived_reason, in_person=True)
    writes.save(row=row, fields=("stale_at", "archived_reason"), now=now)
    return views.to_view(memories.lock_memory(caller=caller, memory_id=row.id), now=now)


def approve(
    *, caller: Caller, row: Memory, now: datetime, traces: Traces | None = None
) -> DecidedMemory:
    """Keep a locked memory that waits, inside the current unit.

    Raises SelfApproval, and Conflict for what would take the place of another memory: who may put
    it there settles their conflict. `traces` has it as it was where more is decided at once.
    """
    check_may_approve(caller=caller, row=row)
    if pending.is_proposal(row=row):
        raise Conflict(
            detail="This would take the place of another memory, so it is not kept alone.",
            hint="Settle the conflict of the two; it waits in the review inbox.",
        )
    if traces is None:
        traces = Traces()
        traces.keep(row)
    in_person = decides_in_person(caller=caller)
    confirm_memory(caller=caller, memory_id=row.id, now=now, in_person=in_person)
    row.refresh_from_db()
    row.needs_review = False
    row.archived_reason = versions.kept_reason(reason=row.archived_reason, in_person=in_person)
    fields = ["needs_review", "archived_reason"]
    if in_person:
        row.stale_at, row.taint_reason = None, ""
        fields += ["stale_at", "taint_reason"]
    writes.save(row=row, fields=tuple(fields), now=now)
    made = record_verdict(caller=caller, row=row, verdict=Verdict.KEEP, traces=traces, now=now)
    view = views.to_view(memories.lock_memory(caller=caller, memory_id=row.id), now=now)
    return DecidedMemory(memory=view, verdict=Verdict.KEEP, review_id=made)


def confirm_memory(
    *,
    caller: Caller,
    memory_id: UUID,
    now: datetime,
    session_id: UUID | None = None,
    in_person: bool = False,
) -> views.MemoryView:
    """Confirm a memory inside the current unit; `session_id` is the session that stated it again.

    A person's confirmation also verifies it and makes it surer; `confirm` also ends a wait. Who has
    confirmed it in this session before changes nothing. `in_person`: a person decides, by whatever
    credential.
    """
    row = memories.lock_memory(caller=caller, memory_id=memory_id)
    protection.check_active(row=row)
    in_person = in_person or is_person(caller=caller)
    if _has_confirmed(caller, row, session_id, now, in_person=in_person):
        return views.to_view(row, now=now)
    fields = list(count_restatement(row=row, sessions=(session_id,), now=now))
    if in_person:
        row.verification, row.verified_at = Verification.VERIFIED.value, now
        row.user_verified, row.needs_review = True, False
        row.confidence = formulas.confirmed(confidence=row.confidence)
        fields += ["verification", "verified_at", "user_verified", "needs_review", "confidence"]
    writes.save(row=row, fields=tuple(fields), now=now)
    writes.announce(caller=caller, kind="memory.confirmed", rows=(row,))
    return views.to_view(row, now=now)


def _has_confirmed(
    caller: Caller, row: Memory, session_id: UUID | None, now: datetime, *, in_person: bool
) -> bool:
    """Say whether a caller has confirmed a memory as it is in this session. In a unit.

    Without a session, what they do within an hour is one.
    """
    if session_id is not None:
        return session_id in row.provenance_sessions
    if row.last_confirmed_at is None or now - row.last_confirmed_at >= SESSION:
        return False
    if in_person and row.verification != Verification.VERIFIED:
        return False
    acts = ("memory.confirmed", "memory.kept", "memory.shared")
    return audit.has_acted(caller=caller, acts=acts, object_id=str(row.id), within=SESSION)


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
            memories.AUDIENCE: str(row.audience),
        },
        reason=reason,
        changed_by=caller.user_id,
        changed_agent=caller.agent,
        changed_at=now,
    )
    return kept.pk


VERBS: Final[Mapping[str, Verb[views.MemoryView]]] = {  # what several memories can be chosen for
    "confirm": Verb(
        needs=Act.CONFIRM,
        apply=lambda caller, id, _, now: confirm_waiting_memory(
            caller=caller, memory_id=id, now=now
        ),
        done="confirmed",
    ),
    "pin": Verb(
        needs=Act.WRITE,
        apply=lambda caller, id, _, now: pin_memory(
            caller=caller, memory_id=id, pinned=True, now=now
        ),
        done="pinned",
    ),
    "archive": Verb(
        needs=Act.WRITE,
        apply=lambda caller, id, details, now: archive_row(
            caller=caller,
            row=memories.lock_memory(caller=caller, memory_id=id),
            reason=details.reason,
            now=now,
        ),
        done="archived",
    ),
}


def change_in_bulk(
    *, caller: Caller, verb: str, memory_ids: tuple[UUID, ...], now: datetime
) -> int:
    """Do one verb of `VERBS` to each memory; return how many there were. Raises as `apply_each`."""
    return len(
        apply_each(
            caller=caller,
            verbs=VERBS,
            name=verb,
            select=lambda: memory_ids,
            details=VerbDetails(),
            now=now,
        )
    )


def apply_each(
    *,
    caller: Caller,
    verbs: Mapping[str, Verb[T]],
    name: str,
    select: Callable[[], Iterable[UUID]],
    details: VerbDetails,
    now: datetime,
) -> tuple[T, ...]:
    """Do one verb to each selected memory in one transaction, in the order of their ids.

    `select` is called inside of the unit. Raises InvalidInput for an unknown verb or no memory,
    TooLarge, and what the verb itself raises; then nothing is done.
    """
    nothing = InvalidInput(
        detail="There is nothing to do.",
        hint=message("Choose memories, and one of: {names}.", names=tuple(verbs)),
        errors=(FieldError(pointer="/verb", detail="choose one", code="choice"),),
    )
    if name not in verbs:
        raise nothing
    verb = verbs[name]
    require(caller=caller, act=verb.needs)
    protection.check_reason(reason=details.reason)
    with tenancy.unit():
        ids = sorted(set(select()))
        if not ids:
            raise nothing
        if len(ids) > MOST_IN_BULK:
            raise TooLarge(
                detail=message("{count} memories.", count=len(ids)),
                hint=message("Choose at most {most}.", most=MOST_IN_BULK),
            )
        done = tuple(verb.apply(caller, one, details, now) for one in ids)
        writes.record_bulk(
            caller=caller, act=f"memory.bulk_{verb.done}", memory_ids={verb.done: tuple(ids)}
        )
    return done


def open_project(*, caller: Caller, ref: str) -> ProjectView:
    """Let everyone of the organization into a project. Raises RoleNotSufficient, NotFound."""
    check_manages(caller=caller)
    with tenancy.unit():
        return admit(caller=caller, row=hold_project(caller=caller, ref=ref), everyone=True)


def close_project(*, caller: Caller, ref: str) -> ProjectView:
    """Keep a project to the people added to it, and owners and admins.

    The name of a closed project stands on no memory that others see, so what is shared with a team
    or the organization must leave the project first. Raises Conflict while memories of it are
    shared more widely, RoleNotSufficient, NotFound.
    """
    check_manages(caller=caller)
    with tenancy.unit():
        row = hold_project(caller=caller, ref=ref)
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
        return admit(caller=caller, row=row, everyone=False)


def lock_waiting(*, caller: Caller, memory_id: UUID) -> Memory:
    """Lock a memory that waits in the inbox. In a unit. Raises NotFound, Conflict."""
    row = memories.lock_memory(caller=caller, memory_id=memory_id)
    if pending.group_of(row=row) is not None:
        return row
    raise Conflict(
        detail="This memory is not waiting for review.",
        hint="Somebody may have decided it already; read it again.",
    )


def check_may_approve(*, caller: Caller, row: Memory) -> None:
    """Refuse who proposed a memory. Raises SelfApproval."""
    if not pending.may_approve(caller=caller, row=row):
        raise SelfApproval(
            detail="Who proposed a memory cannot approve it, and a taint is lifted in person.",
            hint="Ask another person to look at it in the review inbox.",
        )


def record_verdict(
    *,
    caller: Caller,
    row: Memory,
    verdict: Verdict,
    now: datetime,
    traces: Traces | None = None,
    until: datetime | None = None,
    conflict: ConflictRow | None = None,
    extra: Mapping[str, Any] = MappingProxyType({}),
) -> UUID:
    """Write down what was decided about a memory, or a conflict of it. In a unit."""
    made = ReviewVerdict.objects.create(
        memory=row,
        conflict=conflict,
        verdict=verdict.value,
        decided_by=pending.decider(caller=caller),
        decided_agent=caller.agent,
        decided_at=now,
        until=until,
        before={**(traces or Traces()).as_json(), **extra},
    )
    return made.id


def read_field(*, name: str, value: Any) -> Any:
    """Return the value of a field as it was put down."""
    if value is None:
        return None
    if name in TIMES:
        return datetime.fromisoformat(value)
    if name in {"superseded_by_id", "audience"}:
        return UUID(value)
    return [UUID(one) for one in value] if name == "provenance_sessions" else value


def index_days() -> int:
    """Make what was stored before days were words findable by its day; return how much of it.

    A batch a transaction, so that who is stopped goes on where it was; what is left waits for the
    next night.
    """
    done, last = 0, UUID(int=0)
    for _ in range(DAY_BATCHES):
        with tenancy.unit():
            ids = writes.index_missing_days(after=last, limit=DAY_BATCH)
        done += len(ids)
        if len(ids) < DAY_BATCH:
            break
        last = ids[-1]
    return done
