"""What a session is given back."""

from datetime import datetime
from typing import Final
from uuid import UUID

from pydantic import AliasPath, Field

from accounts.api.schemas import Result
from memory.experiments.points import Point
from memory.injection.actions.deliver import Delivery
from memory.injection.actions.trigger_points import PointDelivery

LARGEST_STEP: Final = 1_000_000_000  # as of events


class MemoryGiven(Result):
    """A memory that was given, with the tokens that it took."""

    id: UUID = Field(validation_alias=AliasPath("memory", "id"))
    tokens: int


class GivenBack(Result):
    """What to tell the agent."""

    text: str
    memories: tuple[MemoryGiven, ...]
    tokens: int
    point: str

    @classmethod
    def of(cls, delivery: Delivery, *, point: Point) -> "GivenBack":
        """Show what is given at a point."""
        return cls(
            text=delivery.text, memories=_memories(delivery), tokens=delivery.tokens, point=point
        )


class SuggestedFile(Result):
    """A file to have at hand."""

    path: str
    tokens: int
    always: bool


class SuggestedFiles(Result):
    """Files to have at hand."""

    files: tuple[SuggestedFile, ...]
    tokens: int
    left_out: tuple[str, ...]


class WorkState(Result):
    """Work that was left unfinished."""

    task: str
    files: tuple[str, ...]
    last_error: str
    step: int
    branch: str
    at: datetime


class PlannerAdvice(Result):
    """What a plan should know."""

    calibration: float | None
    planned_steps: int | None
    step_limit: int | None
    also_in_scope: tuple[str, ...]
    rests_on: tuple[UUID, ...]
    checklist: tuple[UUID, ...]


class GivenAtPoint(Result):
    """What a point gives; null is what that point does not have."""

    text: str
    memories: tuple[MemoryGiven, ...]
    tokens: int
    point: Point
    prefetch: SuggestedFiles | None
    work_state: WorkState | None
    advice: PlannerAdvice | None

    @classmethod
    def of(cls, given: PointDelivery, *, point: Point) -> "GivenAtPoint":
        """Show what a point gives."""
        return cls.model_validate(
            {
                "text": given.delivery.text,
                "memories": _memories(given.delivery),
                "tokens": given.delivery.tokens,
                "point": point,
                "prefetch": given.prefetch,
                "work_state": given.unfinished,
                "advice": given.advice,
            }
        )


def _memories(delivery: Delivery) -> tuple[MemoryGiven, ...]:
    return tuple(MemoryGiven.model_validate(one) for one in delivery.memories)
