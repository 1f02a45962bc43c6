"""What waits for review, why and for whom; what is suggested, and who may approve it.

A memory waits in one group only, the most pressing one: what outside content had a part in, what
its source no longer says, what an import brought, what an agent proposed. Conflicts of two memories
are a group of their own, decided by verdicts of their own. No suggestion is carried out by itself;
it says why: agreeing is one key, disagreeing another.

Who proposed a memory cannot be the one who approves it. An agent and the person who lent it a token
are two when the person looks in person, and one when the agent's token asks: so a person keeps what
the own agents proposed, and no token keeps what its person or their agents proposed. What somebody
taught others in person takes somebody else. A taint is lifted in person only.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet

from accounts.caller import Caller, decides_in_person, principal
from memory.records.models import Conflict, Memory, ReviewVerdict
from memory.taxonomy import PROPOSALS, Scope, Source, Status, Verdict, Verification
from teams import queries as places

SECONDS_EACH: Final = 20  # that a person looks at one memory; default, not measured
SAME_COSINE: Final = 0.88  # exceeded: not novel
UNSURE_BELOW: Final = 0.5  # confidence; default, not measured
LONGEST_SNOOZE_DAYS: Final = 365
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
T = TypeVar("T", bound=Model)


class Group(StrEnum):
    """Why a memory waits, the most pressing first."""

    TAINTED = "tainted"
    CONFLICTS = "conflicts"
    STALE = "stale"
    IMPORTS = "imports"
    NEW = "new"


class Why(StrEnum):
    """Why a verdict is suggested."""

    ALIKE = "alike"
    TAINTED = "tainted"
    CONTRADICTED = "contradicted"
    STALE = "stale"
    UNSURE = "unsure"
    MET_AGAIN = "met_again"
    NOVEL = "novel"


VERDICTS: Final = {
    Why.ALIKE: Verdict.MERGE,
    Why.TAINTED: Verdict.REJECT,
    Why.CONTRADICTED: Verdict.REJECT,
    Why.STALE: Verdict.EDIT,
    Why.UNSURE: Verdict.REJECT,
    Why.MET_AGAIN: Verdict.KEEP,
    Why.NOVEL: Verdict.KEEP,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedVerdict:
    """A verdict, and why."""

    verdict: Verdict
    why: Why


def suggest(
    *, row: Memory, group: Group, confidence: float, nearest: float | None
) -> SuggestedVerdict:
    """Suggest what to do about a waiting memory, by the first reason that holds.

    `confidence` is the effective one, `nearest` the cosine of the likest memory, None without.
    """
    reasons = {
        Why.CONTRADICTED: row.verification == Verification.CONTRADICTED,
        Why.STALE: group is Group.STALE,
        Why.ALIKE: (nearest or 0.0) > SAME_COSINE,
        Why.TAINTED: group is Group.TAINTED,
        Why.MET_AGAIN: row.confirmations > 0,
        Why.UNSURE: confidence < UNSURE_BELOW,
    }
    why = next((why for why, holds in reasons.items() if holds), Why.NOVEL)
    return SuggestedVerdict(verdict=VERDICTS[why], why=why)


def minutes_left(*, memories: int) -> int:
    """Return how many minutes so many memories take, rounded up; 0 for none."""
    return -(-memories * SECONDS_EACH // 60)


def decider(*, caller: Caller) -> UUID:
    """Return whose verdicts the caller's are: a token's, or those of a person without one."""
    return caller.token_id or caller.user_id or NOBODY


def answerable(*, caller: Caller) -> UUID:
    """Return who answers for what the caller decides: the person, or nobody's token."""
    return principal(caller=caller) or NOBODY


def is_awake(*, caller: Caller, now: datetime) -> Q:
    """Return the condition that a memory waits for the caller by itself. In a unit.

    They have not snoozed it, and it is no proposal: that waits as the conflict that it opened.
    """
    snoozed = _snoozes(caller, now).filter(conflict__isnull=True)
    proposed = Conflict.objects.filter(verdict="", cause__in=PROPOSALS, newer__needs_review=True)
    against = proposed.filter(older__status=Status.ACTIVE.value).order_by()
    return ~Q(id__in=snoozed.values("memory_id")) & ~Q(id__in=against.values("newer_id"))


def is_conflict_awake(*, caller: Caller, now: datetime) -> Q:
    """Return the condition that a conflict is not snoozed by the caller. In a unit."""
    snoozed = _snoozes(caller, now).filter(conflict__isnull=False)
    return ~Q(id__in=snoozed.values("conflict_id"))


def of_project(*, rows: QuerySet[T], caller: Caller, project: str | None) -> QuerySet[T]:
    """Return the rows of a project, or of all places. In a unit. Raises NotFound."""
    if project is None:
        return rows
    return rows.filter(project_id=places.find_project(caller=caller, ref=project).id)


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


def is_proposal(*, row: Memory) -> bool:
    """Say whether a memory waits to take the place of one that only people change. In a unit."""
    return bool(proposals_among(rows=(row,)))


def proposals_among(*, rows: Iterable[Memory]) -> frozenset[UUID]:
    """Return the ids of those of some memories that wait so. In a unit."""
    waiting = [row.id for row in rows if row.needs_review]
    if not waiting:
        return frozenset()
    against = Conflict.objects.filter(newer__in=waiting, verdict="", cause__in=PROPOSALS)
    against = against.filter(older__status=Status.ACTIVE.value).order_by()
    return frozenset(against.values_list("newer_id", flat=True))


def may_approve(*, caller: Caller, row: Memory) -> bool:
    """Say whether the caller may approve a memory."""
    is_own = row.author_user == caller.user_id  # or an agent's of nobody, as the caller is
    if not decides_in_person(caller=caller):
        return not is_own and not row.taint_reason
    taught_others = row.source == Source.USER_TAUGHT and row.scope != Scope.PERSONAL
    return not (is_own and not row.author_agent and taught_others)


def _snoozes(caller: Caller, now: datetime) -> QuerySet[ReviewVerdict]:
    return ReviewVerdict.objects.filter(
        decided_by=decider(caller=caller),
        verdict=Verdict.SNOOZE.value,
        undone_at__isnull=True,
        until__gt=now,
    ).order_by()
