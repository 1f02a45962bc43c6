"""What the tools share: how a memory is shown to an agent, and the arguments of several tools.

Filters are those of REST. Answers are smaller: an agent pays for each word that it reads.
"""

from datetime import datetime
from typing import Annotated, Any, Final, Self
from uuid import UUID

from pydantic import ConfigDict, Field

from accounts.api.schemas import Body, Identifier, Result
from memory.api.schemas.memories import Absent, Slug
from memory.mcp.declaration import BANNER
from memory.records.queries.views import Contradiction, MemoryView

MOST: Final = 50  # memories an answer; more would crowd out the agent's own work
Limit = Annotated[int, Field(ge=1, le=MOST, description="How many at most.")]


class ProjectArgument(Body):
    """The project that a tool works in."""

    project: Slug | None = Field(None, description="Slug or id of the project you work on.")


class ProjectList(ProjectArgument):
    """How much of a list is asked for."""

    limit: Limit = 20


class MemoryId(Body):
    """Which memory is meant."""

    id: Identifier = Field(description="The memory's id.")


class OtherSide(Result):
    """The other side of a contradiction."""

    id: UUID = Field(validation_alias="memory_id")
    type: str
    content: str
    conflict_id: UUID | None


class ShownMemory(Result):
    """A memory as tools show it, with what contradicts it: no side is shown alone."""

    project: Annotated[str | None, Absent] = Field(validation_alias="project_slug")
    id: UUID
    type: str
    content: str
    tags: tuple[str, ...]
    related_files: tuple[str, ...]
    confidence: float
    verification: str
    needs_review: bool
    status: str
    author_agent: str
    created_at: datetime
    updated_at: datetime
    own_type: str = Field("", exclude_if=lambda name: not name)
    contradictions: tuple[OtherSide, ...] = Field((), exclude_if=lambda sides: not sides)

    @classmethod
    def of(cls, view: MemoryView, sides: tuple[Contradiction, ...] = (), **found: Any) -> Self:
        """Show a memory; `found` is what a tool adds to it."""
        own = {
            name: getattr(view, name)
            for name in ShownMemory.model_fields
            if name not in {"project", "contradictions"}
        }
        return cls.model_validate(
            {**own, "project_slug": view.project_slug, "contradictions": sides, **found},
            from_attributes=True,
        )


class Noticed(Result):
    """An answer that holds what somebody wrote, and says so."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)
    notice: str = BANNER


class ShownMemories(Noticed):
    """Memories."""

    results: tuple[ShownMemory, ...]
