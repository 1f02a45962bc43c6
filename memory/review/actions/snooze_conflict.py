"""Snooze a conflict of the review inbox: for whoever asks, until a moment.

It stays open, and everybody else still sees it wait. That is written down with the side that fewer
people see, as all that is told of a conflict.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.records.actions import conflict_audience, writes
from memory.records.verdicts import Verdict
from memory.review.actions import conflict_settle, verdict
from memory.review.actions.snooze import check_until
from memory.review.actions.verdict import Traces
from memory.review.queries import conflicts
from memory.review.queries.conflicts import ConflictView
from memory.taxonomy import Status
from teams.permissions import Act, require


@dataclass(frozen=True, slots=True, kw_only=True)
class Resting:
    """A conflict that rests for the caller, and the verdict's id, by which that is undone."""

    conflict: ConflictView
    review_id: UUID


def snooze_conflict(
    *, caller: Caller, conflict_id: UUID, until: datetime, now: datetime
) -> Resting:
    """Let an open conflict rest for the caller; it waits again by itself.

    Raises NotFound, RoleNotSufficient, NotActive for one that is over, InvalidInput for a moment
    that is past or farther off than a year.
    """
    require(caller=caller, act=Act.CONFIRM)
    check_until(until=until, now=now)
    with tenancy.unit():
        row = conflicts.lock(caller=caller, conflict_id=conflict_id)
        both = {"older": row.older, "newer": row.newer}
        if row.verdict or any(side.status != Status.ACTIVE for side in both.values()):
            raise conflict_settle.over()
        side, _ = conflict_audience.told(**both, otherwise=caller.user_id)
        made = verdict.note(
            caller=caller,
            row=side,
            verdict=Verdict.SNOOZE,
            traces=Traces(),
            now=now,
            until=until,
            conflict=row,
        )
        details = {} if conflict_audience.is_apart(**both) else {"conflict": str(row.id)}
        act = "memory.conflict_snoozed"
        writes.record(caller=caller, act=act, memory_id=side.id, details=details)
        view = conflicts.view_of(caller=caller, row=row, now=now)
        return Resting(conflict=view, review_id=made)
