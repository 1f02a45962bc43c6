"""The six intake gates, in order; the first that refuses or confirms ends the run.

Pure: the caller has already looked for secrets, duplicates and neighbors and passes what it found.
Length, secret and duplicates can end a run; surprise and topic only add what they measure.
Episodes are verbatim, so length and duplicates do not apply to them. A near duplicate that says the
opposite, or another number, is no duplicate: it goes on, and integration decides (2.4).
"""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from accounts.messages import message
from memory.intake.integrate import CONFLICT_COSINE, NOVELTY_COSINE
from memory.records import statements
from memory.records.statements import Assertion, Difference
from memory.secrets import findings
from memory.secrets.findings import Finding
from memory.taxonomy import MemoryType
from memory.text import text

NEUTRAL = 0.5  # surprise where no topic is known
MINIMUM_LENGTH = 20  # characters
MAXIMUM_LENGTH = 20_000  # characters
NEAR_DUPLICATE_COSINE = 0.95  # exceeded
NEAR_DUPLICATE_WINDOW = 100  # newest intake entries that are compared


class Gate(StrEnum):
    """The gates in their order."""

    LENGTH = "length"
    SECRETS = "secrets"
    EXACT_DUPLICATE = "exact_duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    SURPRISE = "surprise"
    TOPIC = "topic"


class GateOutcome(StrEnum):
    """How a run ended."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    CONFIRMED = "confirmed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The project's settings of the gates: characters, cosines, and entries compared."""

    minimum_length: int = MINIMUM_LENGTH
    maximum_length: int = MAXIMUM_LENGTH
    near_duplicate_cosine: float = NEAR_DUPLICATE_COSINE
    near_duplicate_window: int = NEAR_DUPLICATE_WINDOW
    conflict_cosine: float = CONFLICT_COSINE
    novelty_cosine: float = NOVELTY_COSINE


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCandidate:
    """What wants to come in, with the secrets found in it."""

    content: str
    type: MemoryType | None
    secrets: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbor:
    """A stored memory close to the candidate: its cosine within -1..1 and its content."""

    id: UUID
    cosine: float
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighborhood:
    """What is already there: same hash, close ones, surprise 0..1, the nearest topic."""

    exact_duplicate_id: UUID | None
    neighbors: tuple[Neighbor, ...]
    surprise: float = NEUTRAL
    topic_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """The outcome, the gate that decided it (None: all passed), and why, and what to do.

    `cause` is a word for the reason, for counts.
    """

    outcome: GateOutcome
    gate: Gate | None
    reason: str
    hint: str
    confirmed_id: UUID | None
    surprise: float
    topic_id: UUID | None
    cause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    outcome: GateOutcome
    gate: Gate
    reason: str
    hint: str = ""
    confirmed_id: UUID | None = None
    cause: str = ""


def run_gates(
    *, candidate: GateCandidate, neighborhood: Neighborhood, thresholds: Thresholds
) -> GateResult:
    """Send a candidate through the gates."""
    is_verbatim = candidate.type is MemoryType.EPISODE
    verdict = (
        (None if is_verbatim else _length(candidate.content, thresholds))
        or _secrets(candidate)
        or (None if is_verbatim else _exact_duplicate(neighborhood))
        or (None if is_verbatim else _near_duplicate(candidate, neighborhood, thresholds))
    )
    if verdict is None:
        return GateResult(
            outcome=GateOutcome.ACCEPTED,
            gate=None,
            reason=message("All gates passed."),
            hint="",
            confirmed_id=None,
            surprise=neighborhood.surprise,
            topic_id=neighborhood.topic_id,
        )
    return GateResult(
        outcome=verdict.outcome,
        gate=verdict.gate,
        reason=verdict.reason,
        hint=verdict.hint,
        confirmed_id=verdict.confirmed_id,
        surprise=neighborhood.surprise,
        topic_id=neighborhood.topic_id,
        cause=verdict.cause,
    )


def _length(content: str, thresholds: Thresholds) -> _Verdict | None:
    length = len(text.normalize(text=content))
    if length < thresholds.minimum_length:
        return _refusal(
            Gate.LENGTH,
            message(
                "The content has {length} characters; {least} are the least.",
                length=length,
                least=thresholds.minimum_length,
            ),
            "Write a full sentence that will still make sense in another session.",
            "too_short",
        )
    if len(content) > thresholds.maximum_length:
        return _refusal(
            Gate.LENGTH,
            message(
                "The content has {length} characters; at most {most} fit.",
                length=len(content),
                most=thresholds.maximum_length,
            ),
            "Add the document as a source note; its facts are extracted from there.",
            "too_long",
        )
    return None


def _secrets(candidate: GateCandidate) -> _Verdict | None:
    if not candidate.secrets:
        return None
    return _refusal(
        Gate.SECRETS,
        findings.message_of(text=candidate.content, findings=candidate.secrets),
        "Say where the secret is kept instead of what it is, and send the memory again.",
        candidate.secrets[0].kind.value,
    )


def _exact_duplicate(neighborhood: Neighborhood) -> _Verdict | None:
    if neighborhood.exact_duplicate_id is None:
        return None
    return _Verdict(
        outcome=GateOutcome.CONFIRMED,
        gate=Gate.EXACT_DUPLICATE,
        reason=message("The same text is already known; that memory was confirmed."),
        confirmed_id=neighborhood.exact_duplicate_id,
    )


def _near_duplicate(
    candidate: GateCandidate, neighborhood: Neighborhood, thresholds: Thresholds
) -> _Verdict | None:
    near = [one for one in neighborhood.neighbors if one.cosine > thresholds.near_duplicate_cosine]
    said = statements.assertion(text=candidate.content) if near else None
    close = [one for one in near if said is not None and _says_the_same(one.content, said)]
    if not close:
        return None
    best = min(close, key=lambda neighbor: (-neighbor.cosine, neighbor.id))
    return _Verdict(
        outcome=GateOutcome.CONFIRMED,
        gate=Gate.NEAR_DUPLICATE,
        reason=message(
            "Nearly the same is known (cosine {cosine:.2f}); that memory was confirmed.",
            cosine=round(best.cosine, 2),
        ),
        confirmed_id=best.id,
    )


def _says_the_same(old: str, new: Assertion) -> bool:
    return statements.difference_of_restatement(old=old, new=new) is Difference.NONE


def _refusal(gate: Gate, reason: str, hint: str, cause: str) -> _Verdict:
    return _Verdict(outcome=GateOutcome.REFUSED, gate=gate, reason=reason, hint=hint, cause=cause)
