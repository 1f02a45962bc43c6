"""The review inbox as decisions: why something waits, what to do about it, who may say so.

A memory waits in one group only, the most pressing one: what outside content had a part in, what
its source no longer says, what an import brought, what an agent proposed. Conflicts of
two memories are a group of their own, decided by verdicts of their own (`settling`). No
suggestion is carried out by itself; it says why: agreeing is one key, disagreeing another.

Who proposed a memory cannot be the one who approves it. An agent and the person who
lent it a token are two when the person looks in person, and one when the agent's token asks: so a
person keeps what the own agents proposed, and no token keeps what its person or their agents
proposed. What somebody taught others in person takes somebody else. A taint is lifted in person
only.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memory.taxonomy import Scope, Source, Verdict, Verification

SECONDS_EACH: Final = 20  # that a person looks at one memory; ours
SAME_COSINE: Final = 0.88  # exceeded: not novel
UNSURE_BELOW: Final = 0.5  # confidence, ours
LONGEST_SNOOZE_DAYS: Final = 365  # ours


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


class Proposer(StrEnum):
    """Who proposed a memory, seen from the caller."""

    SELF = "self"
    OWN_AGENT = "own_agent"
    SOMEBODY_ELSE = "somebody_else"


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
class Waiting:
    """What a suggestion rests on; `nearest` is the cosine of the likest memory, None without."""

    group: Group
    verification: Verification
    confidence: float
    confirmations: int
    nearest: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A verdict, and why."""

    verdict: Verdict
    why: Why


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A memory as its approval sees it: whose it is, for whom, from where."""

    proposer: Proposer
    scope: Scope
    source: Source
    is_tainted: bool


def suggest(*, waiting: Waiting) -> Suggestion:
    """Suggest what to do about a waiting memory."""
    why = _why(waiting)
    return Suggestion(verdict=VERDICTS[why], why=why)


def _why(waiting: Waiting) -> Why:
    """Return the first reason that holds."""
    reasons = {
        Why.CONTRADICTED: waiting.verification is Verification.CONTRADICTED,
        Why.STALE: waiting.group is Group.STALE,
        Why.ALIKE: (waiting.nearest or 0.0) > SAME_COSINE,
        Why.TAINTED: waiting.group is Group.TAINTED,
        Why.MET_AGAIN: waiting.confirmations > 0,
        Why.UNSURE: waiting.confidence < UNSURE_BELOW,
    }
    return next((why for why, holds in reasons.items() if holds), Why.NOVEL)


def may_approve(*, proposal: Proposal, in_person: bool) -> bool:
    """Say whether someone may approve a memory."""
    if not in_person:
        return proposal.proposer is Proposer.SOMEBODY_ELSE and not proposal.is_tainted
    taught_others = proposal.source is Source.USER_TAUGHT and proposal.scope is not Scope.PERSONAL
    return proposal.proposer is not Proposer.SELF or not taught_others


def minutes_left(*, memories: int) -> int:
    """Return how many minutes so many memories take, rounded up; 0 for none."""
    return -(-memories * SECONDS_EACH // 60)
