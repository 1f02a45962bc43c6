"""Write down verdicts about memories, with all it takes to undo them.

Before a verdict changes a memory, the fields it may change are put down as they are, so that
undoing restores them exactly. Undoing is refused once anybody has changed one of the memories.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from accounts.caller import Caller
from accounts.errors import Conflict
from memory.errors import SelfApproval
from memory.records import versions
from memory.records.models import Conflict as ConflictRow
from memory.records.models import Memory, ReviewVerdict
from memory.records.queries import pending
from memory.records.queries.memories import lock_memory
from memory.records.queries.views import MemoryView
from memory.taxonomy import Verdict

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
    "related_modules", "governance", *sorted(TIMES), "provenance_sessions",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedMemory:
    """A memory after a verdict, and the verdict's id, by which it is undone.

    Where a conflict was snoozed, `conflict_id` says which, and the memory is one of its sides.
    """

    memory: MemoryView
    verdict: Verdict
    review_id: UUID
    conflict_id: UUID | None = None


@dataclass(slots=True, kw_only=True)
class Traces:
    """What a verdict touches: memories as they were, and what it made."""

    touched: list[dict[str, Any]] = field(default_factory=list)
    made: list[UUID] = field(default_factory=list)
    links: list[int] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)
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


def lock_waiting(*, caller: Caller, memory_id: UUID) -> Memory:
    """Lock a memory that waits in the inbox. In a unit. Raises NotFound, Conflict."""
    row = lock_memory(caller=caller, memory_id=memory_id)
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
    if name == "superseded_by_id":
        return UUID(value)
    return [UUID(one) for one in value] if name == "provenance_sessions" else value
