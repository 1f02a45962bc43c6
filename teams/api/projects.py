"""Projects over REST."""

from dataclasses import asdict
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Edits, Endpoint, Reply
from accounts.api.nullable import Maybe
from accounts.api.shapes import Field, Fraction, Record, Text, Truth, Whole
from accounts.caller import TokenScope
from accounts.errors import InvalidInput
from teams import queries
from teams.actions import projects
from teams.actions import projects as places
from teams.queries import EVENTS_KEPT, GATES, KEEP_EVENTS, MODE, MODES, SPENDING, WHOLE, ProjectView

NEW_PROJECT: Final = Record(
    name="NewProject",
    fields=(
        Field(
            name="slug",
            shape=Text(largest=64, smallest=1, form=places.SLUG.pattern.replace(r"\Z", "")),
            says="Its short name in addresses: lower-case letters, digits, hyphens.",
            required=True,
        ),
        Field(name="name", shape=Text(largest=100), says="Its name.", default=""),
        Field(name="description", shape=Text(largest=400), says="What it is.", default=""),
        Field(
            name="open_to_all",
            shape=Truth(),
            says="Whether everyone of the organization belongs to it.",
            default=True,
        ),
    ),
)
GATES_SAY: Final = {
    "minimum_length": "Fewest characters of a memory, 1 to 1,000",
    "maximum_length": "Most characters of a memory, 1,000 to 20,000",
    "near_duplicate_cosine": "Cosine above which a memory is known already, 0.8 to 1",
    "near_duplicate_window": "Newest entries that are compared with it besides, 0 to 1,000",
    "conflict_cosine": "Cosine from which on it is looked for a conflict, 0.5 to 1",
    "novelty_cosine": "Cosine above which an observation is nothing new, 0.5 to 1",
}


def _gate(name: str) -> Whole | Fraction:
    least, most = GATES[name]
    return (
        Whole(smallest=int(least), largest=int(most))
        if name in WHOLE
        else Fraction(smallest=least, largest=most)
    )


SPENDING_SAYS: Final = {
    "max_llm_calls_per_turn": "Calls of a model that a turn may cost; 0: none; null: 1",
    "max_llm_calls_per_session": "Calls that a session may cost; null: 20",
    "max_llm_tokens_per_month": "Tokens of its calls in a month; 0 or null: no bound of its own",
    "max_llm_adds_per_day": "Explicit adds a day that a model compares; 0 or null: none",
}


def _bounded(name: str) -> Whole:
    least, most = SPENDING[name]
    return Whole(smallest=int(least), largest=int(most))


CHANGES: Final = Record(
    name="ProjectChanges",
    partial=True,
    fields=(
        Field(name="name", shape=Text(largest=100, smallest=1), says="Its name."),
        Field(name="description", shape=Text(largest=400), says="What it is."),
        Field(
            name="relevance_threshold",
            shape=Maybe(of=Fraction()),
            says="Least relevance of what its searches find; null: the fitted one.",
        ),
        *(
            Field(name=name, shape=Maybe(of=_gate(name)), says=f"{says}; null: the usual.")
            for name, says in GATES_SAY.items()
        ),
        Field(
            name=MODE,
            shape=Maybe(of=Text(largest=12, choices=MODES)),
            says="How conversations are read; null: hybrid.",
        ),
        *(
            Field(name=name, shape=Maybe(of=_bounded(name)), says=f"{says}.")
            for name, says in SPENDING_SAYS.items()
        ),
        Field(
            name=KEEP_EVENTS,
            shape=Maybe(of=Whole(smallest=int(EVENTS_KEPT[0]), largest=int(EVENTS_KEPT[1]))),
            says=(
                "Days for which it is kept what agents did, at most the organization's; null: as "
                "many as the organization says."
            ),
        ),
    ),
)
EXAMPLE: Final[dict[str, Any]] = {
    "id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a10",
    "slug": "shop",
    "name": "Web shop",
    "description": "",
    "open_to_all": True,
    "relevance_threshold": None,
    "minimum_length": None,
    "maximum_length": None,
    "near_duplicate_cosine": None,
    "near_duplicate_window": None,
    "conflict_cosine": None,
    "novelty_cosine": None,
    "extraction_mode": None,
    "max_llm_calls_per_turn": None,
    "max_llm_calls_per_session": None,
    "max_llm_tokens_per_month": None,
    "max_llm_adds_per_day": None,
    "keep_events_days": None,
    "created_at": "2026-11-20T12:00:00Z",
    "version": 1,
}


def create(ask: Ask) -> Answer:
    """Create a project."""
    view = projects.create_project(caller=ask.caller, now=ask.now, **ask.body)
    return Answer(
        status=201,
        body=asdict(view),
        version=view.version,
        location=f"/api/v1/projects/{view.slug}",
    )


def index(ask: Ask) -> Answer:
    """Return the projects the caller can see, by slug."""
    return Answer(body={"items": [asdict(view) for view in queries.projects(caller=ask.caller)]})


def look(ask: Ask) -> Answer:
    """Return one project by slug or id."""
    return _shown(queries.project(caller=ask.caller, ref=ask.path["ref"]))


def edit(ask: Ask) -> Answer:
    """Change a project's name, its description, or what its searches ask for."""
    if not ask.body:
        raise InvalidInput(
            detail="There is nothing to change.",
            hint=f"Send one of: {', '.join(part.name for part in CHANGES.fields)}.",
        )
    return _shown(
        projects.change_project(
            caller=ask.caller, ref=ask.path["ref"], changes=ask.body, if_version=ask.if_version
        )
    )


def _shown(view: ProjectView) -> Answer:
    return Answer(body=asdict(view), version=view.version)


ENDPOINTS: Final = (
    Endpoint(
        method="POST",
        path="projects",
        name="create_project",
        tag="projects",
        summary="Create a project",
        scope=TokenScope.WRITE,
        run=create,
        body=NEW_PROJECT,
        example={"slug": "shop", "name": "Web shop"},
        idempotent=True,
        replies=(Reply(status=201, says="The project.", schema="Project", example=EXAMPLE),),
    ),
    Endpoint(
        method="GET",
        path="projects",
        name="list_projects",
        tag="projects",
        summary="List projects",
        scope=TokenScope.READ,
        run=index,
        replies=(
            Reply(status=200, says="By slug.", schema="Projects", example={"items": [EXAMPLE]}),
        ),
    ),
    Endpoint(
        method="GET",
        path="projects/{ref}",
        name="get_project",
        tag="projects",
        summary="Look at one project, by slug or id",
        scope=TokenScope.READ,
        run=look,
        replies=(Reply(status=200, says="The project.", schema="Project", example=EXAMPLE),),
    ),
    Endpoint(
        method="PATCH",
        path="projects/{ref}",
        name="edit_project",
        tag="projects",
        summary="Change a project",
        says="Send If-Match with the ETag you read; 412 says that someone was faster.",
        scope=TokenScope.WRITE,
        run=edit,
        body=CHANGES,
        example={"name": "Web shop", "relevance_threshold": 0.4},
        edits=Edits.NAMED_VERSION,
        idempotent=True,
        replies=(
            Reply(status=200, says="The project as it is now.", schema="Project", example=EXAMPLE),
        ),
    ),
)
