"""The intake gates, in order; the first that refuses or confirms ends the run.

Pure: the caller has already looked for secrets, duplicates and similar memories and passes what it
found. Episodes are verbatim, so length and duplicates do not apply to them. A near duplicate that
says the opposite, or another number, is no duplicate: it goes on, and integration decides.
"""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from accounts.messages import message
from memory.intake.integrate import CONFLICT_COSINE, NOVELTY_COSINE, StoredStatement
from memory.records import statements
from memory.records.statements import Difference
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
class Neighborhood:
    """What the place of a candidate holds: the same hash, similar memories, surprise 0..1."""

    exact_duplicate_id: UUID | None = None
    neighbors: tuple[StoredStatement, ...] = ()
    surprise: float = NEUTRAL


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """The outcome, the gate that decided it (None: all passed), and why, and what to do.

    `cause` is a word for the reason, for counts.
    """

    outcome: GateOutcome
    gate: Gate | None
    reason: str
    hint: str = ""
    confirmed_id: UUID | None = None
    cause: str = ""


def run_gates(
    *, candidate: GateCandidate, neighborhood: Neighborhood, thresholds: Thresholds
) -> GateResult:
    """Send a candidate through the gates."""
    is_verbatim = candidate.type is MemoryType.EPISODE
    result = None if is_verbatim else _check_length(candidate.content, thresholds)
    if result is None and candidate.secrets:
        result = GateResult(
            outcome=GateOutcome.REFUSED,
            gate=Gate.SECRETS,
            reason=findings.message_of(text=candidate.content, findings=candidate.secrets),
            hint="Say where the secret is kept instead of what it is, and send the memory again.",
            cause=candidate.secrets[0].kind.value,
        )
    if result is None and not is_verbatim:
        result = _find_duplicate(candidate.content, neighborhood, thresholds)
    return result or GateResult(
        outcome=GateOutcome.ACCEPTED, gate=None, reason=message("All gates passed.")
    )


def _check_length(content: str, thresholds: Thresholds) -> GateResult | None:
    length = len(text.normalize(text=content))
    if length < thresholds.minimum_length:
        reason = message(
            "The content has {length} characters; {least} are the least.",
            length=length,
            least=thresholds.minimum_length,
        )
        hint = "Write a full sentence that will still make sense in another session."
        cause = "too_short"
    elif len(content) > thresholds.maximum_length:
        reason = message(
            "The content has {length} characters; at most {most} fit.",
            length=len(content),
            most=thresholds.maximum_length,
        )
        hint = "Add the document as a source note; its facts are extracted from there."
        cause = "too_long"
    else:
        return None
    return GateResult(
        outcome=GateOutcome.REFUSED, gate=Gate.LENGTH, reason=reason, hint=hint, cause=cause
    )


def _find_duplicate(
    content: str, neighborhood: Neighborhood, thresholds: Thresholds
) -> GateResult | None:
    """Confirm the memory with the same text, else the nearest that says the same."""
    if neighborhood.exact_duplicate_id is not None:
        return GateResult(
            outcome=GateOutcome.CONFIRMED,
            gate=Gate.EXACT_DUPLICATE,
            reason=message("The same text is already known; that memory was confirmed."),
            confirmed_id=neighborhood.exact_duplicate_id,
        )
    near = [one for one in neighborhood.neighbors if one.cosine > thresholds.near_duplicate_cosine]
    if not near:
        return None
    new = statements.assertion(text=content)
    same = [
        one
        for one in near
        if statements.difference_of_restatement(old=one.content, new=new) is Difference.NONE
    ]
    if not same:
        return None
    best = min(same, key=lambda one: (-one.cosine, one.id))
    return GateResult(
        outcome=GateOutcome.CONFIRMED,
        gate=Gate.NEAR_DUPLICATE,
        reason=message(
            "Nearly the same is known (cosine {cosine:.2f}); that memory was confirmed.",
            cosine=round(min(1.0, best.cosine), 2),
        ),
        confirmed_id=best.id,
    )
