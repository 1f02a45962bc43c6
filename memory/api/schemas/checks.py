"""What is known of a plan or a diff."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from accounts.api.schemas import Result
from memory.api.schemas.memories import Memory, with_sides
from memory.checks.actions import Check as CheckValue
from memory.checks.check_findings import FindingReason, Level, Verdict

OrNull = BeforeValidator(lambda value: value or None)  # what a place does not have is null


class Place(Result):
    """Where in a plan or a diff a finding is."""

    step: Annotated[int | None, OrNull]
    file: Annotated[str | None, OrNull]
    first_line: Annotated[int | None, OrNull]
    last_line: Annotated[int | None, OrNull]


class FindingParts(Result):
    """A finding without its memory."""

    level: Level
    why: FindingReason
    places: tuple[Place, ...]
    matched: tuple[str, ...]
    missing: tuple[str, ...]
    score: float
    relevance: float | None


class Finding(FindingParts):
    """A finding, and the memory that it rests on."""

    memory: Memory


class Tie(Result):
    """A file that usually changes with one that is changed."""

    file: str
    other: str
    sessions: int
    share: float


class Check(Result):
    """The verdict and its evidence."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    usually_together: tuple[Tie, ...] = Field(validation_alias="ties")
    parts: int
    files: int
    left_out: int
    degraded: tuple[str, ...]
    took_ms: float

    @classmethod
    def of(cls, check: CheckValue) -> "Check":
        """Show a check, each memory with what contradicts it."""
        shown = cls.model_validate(check)
        findings = tuple(
            finding.model_copy(update={"memory": with_sides(one.memory, one.sides)})
            for finding, one in zip(shown.findings, check.findings, strict=True)
        )
        return shown.model_copy(update={"findings": findings})
