"""Snooze a memory of the review inbox: for whoever asks, until a moment."""

from datetime import datetime, timedelta
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from accounts.messages import message
from memory.records.actions import writes
from memory.records.queries.views import to_view
from memory.records.verdicts import LONGEST_SNOOZE_DAYS, Verdict
from memory.review.actions import verdict
from memory.review.actions.verdict import Decided, Traces
from teams.permissions import Act, require


def snooze(*, caller: Caller, memory_id: UUID, until: datetime, now: datetime) -> Decided:
    """Let a waiting memory rest; everybody else still sees it wait.

    Raises NotFound, Conflict when it does not wait, InvalidInput for a moment that is past or
    farther off than a year.
    """
    require(caller=caller, act=Act.CONFIRM)
    check_until(until=until, now=now)
    with tenancy.unit():
        decided = apply(caller=caller, memory_id=memory_id, until=until, now=now)
        writes.record(caller=caller, act="memory.snoozed", memory_id=memory_id)
        return decided


def apply(*, caller: Caller, memory_id: UUID, until: datetime, now: datetime) -> Decided:
    """Let a waiting memory rest inside the current unit."""
    row = verdict.lock_waiting(caller=caller, memory_id=memory_id)
    made = verdict.note(
        caller=caller, row=row, verdict=Verdict.SNOOZE, traces=Traces(), now=now, until=until
    )
    return Decided(memory=to_view(row, now=now), verdict=Verdict.SNOOZE, review_id=made)


def check_until(*, until: datetime, now: datetime) -> None:
    """Check that a moment lies ahead, and not too far. Raises InvalidInput."""
    if now < until <= now + timedelta(days=LONGEST_SNOOZE_DAYS):
        return
    raise wrong_field(
        pointer="/until",
        detail="This is not a moment until which to snooze.",
        hint=message("Name one in the next {days} days.", days=LONGEST_SNOOZE_DAYS),
        code="range",
    )
