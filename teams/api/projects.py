"""Projects over REST."""

from datetime import datetime
from typing import Annotated, Any, ClassVar
from uuid import UUID

from pydantic import Field

from accounts.api.endpoints import Call, Edits, get, patch, post
from accounts.api.schemas import Body, Changes, Items, Name, OneOf, Resource, Result, unsent
from teams import queries
from teams.actions import projects
from teams.queries import EVENTS_KEPT, GATES, MODES, SPENDING, ProjectView

SLUG = projects.SLUG.pattern.replace(r"\Z", "")  # refused by the action, in better words


def _bounded(bounds: tuple[float, float], description: str) -> Any:
    least, most = bounds
    return unsent(ge=least, le=most, description=description)


class NewProject(Body):
    """A project to create."""

    slug: Name = Field(
        max_length=64,
        description="Its short name in addresses: lower-case letters, digits, hyphens.",
        examples=["shop"],
        json_schema_extra={"pattern": f"^{SLUG}$"},
    )
    name: str = Field("", max_length=100, description="Its name.", examples=["Web shop"])
    description: str = Field("", max_length=400, description="What it is.")
    open_to_all: bool = Field(
        True, description="Whether everyone of the organization belongs to it."
    )


class ProjectChanges(Changes):
    """What is to change about a project; null for a number means the usual."""

    name: Name = unsent(max_length=100, description="Its name.", examples=["Web shop"])
    description: str = unsent(max_length=400, description="What it is.")
    relevance_threshold: float | None = unsent(
        ge=0,
        le=1,
        description="Least relevance of what its searches find; null: the fitted one.",
        examples=[0.4],
    )
    minimum_length: int | None = _bounded(
        GATES["minimum_length"], "Fewest characters of a memory, 1 to 1,000."
    )
    maximum_length: int | None = _bounded(
        GATES["maximum_length"], "Most characters of a memory, 1,000 to 20,000."
    )
    near_duplicate_cosine: float | None = _bounded(
        GATES["near_duplicate_cosine"], "Cosine above which a memory is known already, 0.8 to 1."
    )
    near_duplicate_window: int | None = _bounded(
        GATES["near_duplicate_window"],
        "Newest entries that are compared with it besides, 0 to 1,000.",
    )
    conflict_cosine: float | None = _bounded(
        GATES["conflict_cosine"], "Cosine from which on it is looked for a conflict, 0.5 to 1."
    )
    novelty_cosine: float | None = _bounded(
        GATES["novelty_cosine"], "Cosine above which an observation is nothing new, 0.5 to 1."
    )
    extraction_mode: Annotated[str, OneOf(MODES)] | None = unsent(
        description="How conversations are read; null: hybrid."
    )
    max_llm_calls_per_turn: int | None = _bounded(
        SPENDING["max_llm_calls_per_turn"],
        "Calls of a model that a turn may cost; 0: none; null: 1.",
    )
    max_llm_calls_per_session: int | None = _bounded(
        SPENDING["max_llm_calls_per_session"], "Calls that a session may cost; null: 20."
    )
    max_llm_tokens_per_month: int | None = _bounded(
        SPENDING["max_llm_tokens_per_month"],
        "Tokens of its calls in a month; 0 or null: no bound of its own.",
    )
    max_llm_adds_per_day: int | None = _bounded(
        SPENDING["max_llm_adds_per_day"],
        "Explicit adds a day that a model compares; 0 or null: none.",
    )
    keep_events_days: int | None = _bounded(
        EVENTS_KEPT,
        "Days for which it is kept what agents did, at most the organization's; null: as many as "
        "the organization says.",
    )


class Project(Result):
    """The project."""

    resource: ClassVar = Resource("projects/{ref}", "/slug", "/version")
    id: UUID
    slug: str
    name: str
    description: str
    open_to_all: bool
    relevance_threshold: float | None
    minimum_length: int | None
    maximum_length: int | None
    near_duplicate_cosine: float | None
    near_duplicate_window: int | None
    conflict_cosine: float | None
    novelty_cosine: float | None
    extraction_mode: str | None
    max_llm_calls_per_turn: int | None
    max_llm_calls_per_session: int | None
    max_llm_tokens_per_month: int | None
    max_llm_adds_per_day: int | None
    keep_events_days: int | None
    created_at: datetime
    version: int


@post("projects", tag="projects", answer=Project, status=201)
def create_project(call: Call, body: NewProject) -> ProjectView:
    """Create a project."""
    return projects.create_project(caller=call.caller, now=call.now, **dict(body))


@get("projects", tag="projects", answer=Items[Project])
def list_projects(call: Call) -> tuple[ProjectView, ...]:
    """List projects."""
    return queries.projects(caller=call.caller)


@get("projects/{ref}", tag="projects", answer=Project)
def get_project(call: Call) -> ProjectView:
    """Look at one project, by slug or id."""
    return queries.project(caller=call.caller, ref=call.ref)


@patch("projects/{ref}", tag="projects", answer=Project, edits=Edits.NAMED_VERSION, idempotent=True)
def edit_project(call: Call, body: ProjectChanges) -> ProjectView:
    """Change a project.

    Send If-Match with the ETag you read; 412 says that someone was faster.
    """
    return projects.change_project(
        caller=call.caller, ref=call.ref, changes=body.changed(), if_version=call.if_version
    )
