"""What a session is given back."""

from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from pydantic import AliasPath, Field, RootModel

from accounts.api.schemas import Choice, Identifier, Result
from accounts.errors import wrong_field
from memory.api.schemas.memories import Files, Modules
from memory.api.schemas.search import Context, ContextBasics
from memory.experiments.points import Point
from memory.injection.actions.deliver import Delivery
from memory.injection.actions.trigger_points import PointDelivery, PointRequest
from memory.injection.planner import STEPS_MOST
from memory.search.context import ContextRequest

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


class ContextQuestion(ContextBasics):
    """What a context is packed for, or given at a point of a session."""

    working_files: Files = Field(
        (), description="Files that are worked on: what is about them comes first."
    )
    point: Choice[Point] | None = Field(
        None,
        description=("A point of a session at which memory is given back, never the same twice."),
    )
    session: Identifier | None = Field(
        None, description="The session of yours that is at this point."
    )
    modules: Modules = Field((), description="Modules of the task, at first_message and planner.")
    step: int = Field(5, ge=1, le=LARGEST_STEP, description="The step that comes next, at step.")
    estimate: int | None = Field(
        None, ge=1, le=STEPS_MOST, description="Steps of the plan, at planner."
    )

    def request(self) -> ContextRequest:
        """Return the value of it where it names no point."""
        return replace(super().request(), working_files=self.working_files)

    def at_point(self, point: Point) -> PointRequest:
        """Return the value of it where it names a point. Raises InvalidInput."""
        if self.session is None:
            raise wrong_field(
                pointer="/session",
                detail="A point belongs to a session.",
                hint="POST /api/v1/sessions opens one; leave the point out to pack a context.",
                code="needs_session",
            )
        return PointRequest(
            point=point,
            session_id=self.session,
            task=self.wanted(),
            files=self.working_files,
            modules=self.modules,
            step=self.step,
            estimate=self.estimate,
        )


class ContextAnswer(RootModel[Context | GivenAtPoint]):
    """The text and what it is made of."""
