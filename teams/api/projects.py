"""Projects over REST.

Settings of a project over REST: pauses, hooks, and what is compared.
"""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from accounts.api.endpoints import Call, Edits, get, patch, post
from accounts.api.schemas import (
    Body,
    Changes,
    Identifier,
    Items,
    Name,
    OneOf,
    Resource,
    Result,
    fields_of,
    unsent,
)
from accounts.caller import Caller
from teams import queries
from teams.actions import project_settings, projects
from teams.queries import (
    EVENTS_KEPT,
    GATES,
    MODES,
    PERCENTS,
    SPENDING,
    Experiments,
    Hook,
    Hooks,
    Pauses,
    ProjectView,
    experiments_of,
    hooks_of,
    pauses_of,
)

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


@fields_of(ProjectView)
class Project(Result):
    """The project."""

    resource: ClassVar = Resource("projects/{ref}", "/slug", "/version")


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


class Pause(Body):
    """What is paused or resumed."""

    paused: bool = Field(True, description="Or resumed.", examples=[True])
    token: Identifier | None = Field(
        None,
        description=(
            "A token of yours that is given nothing there; the whole project when left out."
        ),
    )
    mine: bool = Field(False, description="Every token of yours, later ones too, instead of one.")


class PausesShown(Result):
    """What is paused now, of the caller's own credential alone."""

    paused: bool
    this_token_paused: bool


class HookChanges(Changes):
    """Which hooks are switched."""

    brief: bool = unsent(description="The brief at the first prompt.")
    prefetch: bool = unsent(
        description="Files to have at hand and unfinished work, when a session begins."
    )
    warnings: bool = unsent(
        description="Warnings of a file that was just read or edited.", examples=[False]
    )
    step: bool = unsent(description="Anything between steps; off, the two below are off as well.")
    step_recorded: bool = unsent(
        description="Between steps, what is known of an entry that the agent just recorded."
    )
    step_searched: bool = unsent(
        description="Between steps, what answers the agent's last searches."
    )
    planner: bool = unsent(description="What a plan should know, and its checklist.")


class HooksShown(Result):
    """Which hooks are on."""

    brief: bool
    prefetch: bool
    warnings: bool
    step: bool
    step_recorded: bool
    step_searched: bool
    planner: bool


def _percent(name: str, description: str, **more: Any) -> Any:
    least, most = PERCENTS[name]
    return unsent(ge=least, le=most, description=description, **more)


class ExperimentChanges(Changes):
    """What is to be compared."""

    enabled: bool = unsent(description="Whether sessions are compared.", examples=[True])
    control_percent: float = _percent(
        "control_percent", "Of 100 sessions, how many are given nothing by themselves."
    )
    passive_percent: float = _percent(
        "passive_percent", "Of 100 sessions, how many are given something at their beginning alone."
    )
    withheld_percent: float = _percent(
        "withheld_percent",
        "Of 100 sessions that would be given a memory, how many are not.",
        examples=[10],
    )


@fields_of(Experiments)
class ExperimentSettings(Result):
    """Whether sessions are compared, and in which shares."""


@post("projects/{ref}/pause", tag="projects", answer=PausesShown)
def pause_project(call: Call, body: Pause) -> dict[str, bool]:
    """Pause what agents are given.

    What agents tell is kept on; nothing is given back to them until somebody resumes. The whole
    project is paused by who manages projects, one token by whoever sees it, and with `mine` all of
    your own.
    """
    done = project_settings.pause(
        caller=call.caller, ref=call.ref, token_id=body.token, paused=body.paused, mine=body.mine
    )
    return _pauses(call.caller, done)


@get("projects/{ref}/pause", tag="projects", answer=PausesShown)
def get_pause(call: Call) -> dict[str, bool]:
    """Say whether agents are given anything."""
    return _pauses(call.caller, pauses_of(caller=call.caller, ref=call.ref))


@get("projects/{ref}/hooks", tag="projects", answer=HooksShown)
def get_hooks(call: Call) -> Hooks:
    """Say what gives memory back."""
    return hooks_of(caller=call.caller, ref=call.ref)


@patch("projects/{ref}/hooks", tag="projects", answer=HooksShown, idempotent=True)
def switch_hooks(call: Call, body: HookChanges) -> Hooks:
    """Switch what gives memory back.

    Each hook by itself; one that is off stays off, whatever the others say.
    """
    switched = {Hook(name): is_on for name, is_on in body.sent.items()}
    return project_settings.switch_hooks(caller=call.caller, ref=call.ref, switched=switched)


@get("projects/{ref}/experiments", tag="projects", answer=ExperimentSettings)
def get_experiment_settings(call: Call) -> Experiments:
    """Say whether sessions of a project are compared."""
    return experiments_of(caller=call.caller, ref=call.ref)


@patch("projects/{ref}/experiments", tag="projects", answer=ExperimentSettings, idempotent=True)
def change_experiments(call: Call, body: ExperimentChanges) -> Experiments:
    """Compare sessions of a project, or stop it.

    Off as long as nobody switches it on. A session keeps the group in which it was when something
    could have been given to it for the first time. What agents search for is never withheld.
    """
    return project_settings.change_experiments(caller=call.caller, ref=call.ref, changed=body.sent)


def _pauses(caller: Caller, found: Pauses) -> dict[str, bool]:
    is_own = caller.token_id in found.tokens or caller.user_id in found.people
    return {"paused": found.paused, "this_token_paused": is_own}
