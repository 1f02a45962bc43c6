"""What comes in to be remembered, checked and perhaps embedded, and what became of it."""

from dataclasses import dataclass, replace
from uuid import UUID

from accounts.errors import CairnError
from memory.index.actions import embedding
from memory.intake import integrate
from memory.intake.actions import candidate
from memory.records.queries import views
from memory.secrets import scanner


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A candidate with its vector where that could be made at once, and what a model judged."""

    checked: candidate.CheckedCandidate
    embedded: embedding.Embedded | None
    judged: tuple[integrate.Judged, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a candidate, and why. `done` names what was written, empty for nothing.

    `related_id`: the memory it replaced, contradicts, adds to or is similar to; `operation` which;
    `conflict_id` where a person is to decide; `cause` why, or why it was refused;
    `certainty` 0..1 of what it is to the other. What is `proposed` waits for that person, and until
    then it is given to nobody.
    """

    outcome: str
    memory: views.MemoryView | None = None
    gate: str = ""
    reason: str = ""
    hint: str = ""
    embedding: str = "none"
    job_id: UUID | None = None
    done: str = ""
    operation: str = ""
    related_id: UUID | None = None
    conflict_id: UUID | None = None
    cause: str = ""
    certainty: float | None = None


def refusal(*, result: integrate.GateResult) -> Outcome:
    """Return the outcome of a candidate that a gate refused."""
    return Outcome(
        outcome="refused",
        gate=result.gate.value if result.gate else "",
        reason=result.reason,
        hint=result.hint,
        cause=result.cause,
    )


def refused_item(*, error: CairnError, place: int) -> Outcome:
    """Return the outcome of an item of a list that is malformed, at this place from 0."""
    refused = refused_input(error=error)
    return replace(refused, reason=f"/memories/{place}: {refused.reason}")


def refused_input(*, error: CairnError) -> Outcome:
    """Return the outcome of a candidate that is malformed or forbidden."""
    return Outcome(
        outcome="refused",
        gate="input",
        reason=scanner.without_secrets(text=error.detail),  # it may repeat what was sent
        hint=error.hint,
        cause=error.code,
    )
