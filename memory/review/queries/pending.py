"""What waits for somebody to look at it, and what a caller has snoozed, as conditions."""

from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.caller import Caller, principal
from memory.records.verdict_models import ReviewVerdict
from memory.records.verdicts import Verdict
from memory.taxonomy import Verification

STALE: Final = Q(verification__in=(Verification.STALE.value, Verification.CONTRADICTED.value)) | Q(
    stale_at__isnull=False
)
TAINTED: Final = ~Q(taint_reason="")
WAITING: Final = (  # in the words of the index memory_attention, or it is not used
    Q(verification__in=(Verification.STALE.value, Verification.CONTRADICTED.value))
    | TAINTED
    | Q(stale_at__isnull=False)
    | Q(needs_review=True)
)
NOBODY: Final = UUID(int=0)


def decider(*, caller: Caller) -> UUID:
    """Return whose verdicts the caller's are: a token's, or those of a person without one."""
    return caller.token_id or caller.user_id or NOBODY


def answering(*, caller: Caller) -> UUID:
    """Return who answers for what the caller decides: the person, or nobody's token."""
    return principal(caller=caller) or NOBODY


def awake(*, caller: Caller, now: datetime) -> Q:
    """Return the condition that a memory is not snoozed by the caller. In a unit."""
    snoozed = _snoozed(caller, now).filter(conflict__isnull=True)
    return ~Q(id__in=snoozed.values("memory_id"))


def conflict_awake(*, caller: Caller, now: datetime) -> Q:
    """Return the condition that a conflict is not snoozed by the caller. In a unit."""
    snoozed = _snoozed(caller, now).filter(conflict__isnull=False)
    return ~Q(id__in=snoozed.values("conflict_id"))


def _snoozed(caller: Caller, now: datetime) -> QuerySet[ReviewVerdict]:
    return ReviewVerdict.objects.filter(
        decided_by=decider(caller=caller),
        verdict=Verdict.SNOOZE.value,
        undone_at__isnull=True,
        until__gt=now,
    ).order_by()
