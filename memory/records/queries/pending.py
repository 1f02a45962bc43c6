"""What waits for review and for whom: conditions on rows, and the same for one row."""

from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.caller import Caller, is_person, principal
from memory.records import verdicts
from memory.records.models import Memory, ReviewVerdict
from memory.records.verdicts import Group, Proposal, Proposer
from memory.taxonomy import Scope, Source, Status, Verdict, Verification

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


def answerable(*, caller: Caller) -> UUID:
    """Return who answers for what the caller decides: the person, or nobody's token."""
    return principal(caller=caller) or NOBODY


def is_awake(*, caller: Caller, now: datetime) -> Q:
    """Return the condition that a memory is not snoozed by the caller. In a unit."""
    snoozed = _snoozes(caller, now).filter(conflict__isnull=True)
    return ~Q(id__in=snoozed.values("memory_id"))


def is_conflict_awake(*, caller: Caller, now: datetime) -> Q:
    """Return the condition that a conflict is not snoozed by the caller. In a unit."""
    snoozed = _snoozes(caller, now).filter(conflict__isnull=False)
    return ~Q(id__in=snoozed.values("conflict_id"))


def group_of(*, row: Memory) -> Group | None:
    """Return why a memory waits, the same as the counts say; None when it does not."""
    if row.status != Status.ACTIVE:
        return None
    if row.taint_reason:
        return Group.TAINTED
    if row.verification in {Verification.STALE, Verification.CONTRADICTED} or row.stale_at:
        return Group.STALE
    if not row.needs_review:
        return None
    return Group.IMPORTS if row.source == Source.IMPORT else Group.NEW


def may_approve(*, caller: Caller, row: Memory) -> bool:
    """Say whether the caller may approve a memory."""
    if caller.user_id is not None and row.author_user == caller.user_id:
        proposer = Proposer.OWN_AGENT if row.author_agent else Proposer.SELF
    elif caller.user_id is None and row.author_user is None:
        proposer = Proposer.OWN_AGENT
    else:
        proposer = Proposer.SOMEBODY_ELSE
    proposal = Proposal(
        proposer=proposer,
        scope=Scope(row.scope),
        source=Source(row.source),
        is_tainted=bool(row.taint_reason),
    )
    return verdicts.may_approve(proposal=proposal, in_person=is_person(caller=caller))


def _snoozes(caller: Caller, now: datetime) -> QuerySet[ReviewVerdict]:
    return ReviewVerdict.objects.filter(
        decided_by=decider(caller=caller),
        verdict=Verdict.SNOOZE.value,
        undone_at__isnull=True,
        until__gt=now,
    ).order_by()
