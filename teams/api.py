"""Projects and their settings, teams, people, the change feed and the audit log over REST."""

from functools import partial
from typing import Annotated, Any, ClassVar

from pydantic import Field

from accounts.api import jobs, schemas
from accounts.api.endpoints import Answer, Call, Edits, delete, get, patch, post
from accounts.caller import Caller, TokenScope
from teams import actions, audit, queries
from teams.audit import AREAS, Filters
from teams.audit_chain import Entry

SLUG = actions.SLUG.pattern.replace(r"\Z", "")  # refused by the action, in better words
LONGEST = 254  # characters of an e-mail address


def _number(name: str, description: str, **more: Any) -> Any:
    """Return the field of a setting that is a number."""
    least, most = (queries.BOUNDS | queries.PERCENTS)[name]
    return schemas.unsent(ge=least, le=most, description=description, **more)


class NewProject(schemas.Body):
    """A project to create."""

    slug: schemas.Name = Field(
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


class ProjectChanges(schemas.Changes):
    """What is to change about a project; null for a number means the usual."""

    name: schemas.Name = schemas.unsent(
        max_length=100, description="Its name.", examples=["Web shop"]
    )
    description: str = schemas.unsent(max_length=400, description="What it is.")
    relevance_threshold: float | None = _number(
        "relevance_threshold",
        "Least relevance of what its searches find; null: the fitted one.",
        examples=[0.4],
    )
    minimum_length: int | None = _number(
        "minimum_length", "Fewest characters of a memory, 1 to 1,000."
    )
    maximum_length: int | None = _number(
        "maximum_length", "Most characters of a memory, 1,000 to 20,000."
    )
    near_duplicate_cosine: float | None = _number(
        "near_duplicate_cosine", "Cosine above which a memory is known already, 0.8 to 1."
    )
    near_duplicate_window: int | None = _number(
        "near_duplicate_window", "Newest entries that are compared with it besides, 0 to 1,000."
    )
    conflict_cosine: float | None = _number(
        "conflict_cosine", "Cosine from which on it is looked for a conflict, 0.5 to 1."
    )
    novelty_cosine: float | None = _number(
        "novelty_cosine", "Cosine above which an observation is nothing new, 0.5 to 1."
    )
    extraction_mode: Annotated[str, schemas.OneOf(queries.MODES)] | None = schemas.unsent(
        description="How conversations are read; null: hybrid."
    )
    session_lessons: Annotated[str, schemas.OneOf(queries.LESSONS_FOR)] | None = schemas.unsent(
        description="For whom is what sessions teach: personal, or project, to which it is "
        "proposed; null: project where the organization has several members."
    )
    max_llm_calls_per_turn: int | None = _number(
        "max_llm_calls_per_turn", "Calls of a model that a turn may cost; 0: none; null: 1."
    )
    max_llm_calls_per_session: int | None = _number(
        "max_llm_calls_per_session", "Calls that a session may cost; null: 20."
    )
    max_llm_tokens_per_month: int | None = _number(
        "max_llm_tokens_per_month",
        "Tokens of its calls in a month; 0 or null: no bound of its own.",
    )
    max_llm_adds_per_day: int | None = _number(
        "max_llm_adds_per_day", "Explicit adds a day that a model compares; 0 or null: none."
    )
    keep_events_days: int | None = _number(
        "keep_events_days",
        "Days for which it is kept what agents did, at most the organization's; null: as many as "
        "the organization says.",
    )


@schemas.fields_of(queries.ProjectView)
class Project(schemas.Result):
    """The project."""

    resource: ClassVar = schemas.Resource("projects/{ref}", "/slug", "/version")


@post("projects", tag="projects", answer=Project, status=201)
def create_project(call: Call, body: NewProject) -> queries.ProjectView:
    """Create a project."""
    return actions.create_project(caller=call.caller, now=call.now, **dict(body))


@get("projects", tag="projects", answer=schemas.Items[Project])
def list_projects(call: Call) -> tuple[queries.ProjectView, ...]:
    """List projects."""
    return queries.projects(caller=call.caller)


@get("projects/{ref}", tag="projects", answer=Project)
def get_project(call: Call) -> queries.ProjectView:
    """Look at one project, by slug or id."""
    return queries.project(caller=call.caller, ref=call.ref)


@patch("projects/{ref}", tag="projects", answer=Project, edits=Edits.NAMED_VERSION, idempotent=True)
def edit_project(call: Call, body: ProjectChanges) -> queries.ProjectView:
    """Change a project.

    Send If-Match with the ETag you read; 412 says that someone was faster.
    """
    return actions.change_project(
        caller=call.caller, ref=call.ref, changes=body.changed(), if_version=call.if_version
    )


class Pause(schemas.Body):
    """What is paused or resumed."""

    paused: bool = Field(True, description="Or resumed.", examples=[True])
    token: schemas.Identifier | None = Field(
        None,
        description=(
            "A token of yours that is given nothing there; the whole project when left out."
        ),
    )
    mine: bool = Field(False, description="Every token of yours, later ones too, instead of one.")


class PausesShown(schemas.Result):
    """What is paused now, of the caller's own credential alone."""

    paused: bool
    this_token_paused: bool


class HookChanges(schemas.Changes):
    """Which hooks are switched."""

    brief: bool = schemas.unsent(description="The brief at the first prompt.")
    prefetch: bool = schemas.unsent(
        description="Files to have at hand and unfinished work, when a session begins."
    )
    warnings: bool = schemas.unsent(
        description="Warnings of a file that was just read or edited.", examples=[False]
    )
    step: bool = schemas.unsent(
        description="Anything between steps; off, the two below are off as well."
    )
    step_recorded: bool = schemas.unsent(
        description="Between steps, what is known of an entry that the agent just recorded."
    )
    step_searched: bool = schemas.unsent(
        description="Between steps, what answers the agent's last searches."
    )
    planner: bool = schemas.unsent(description="What a plan should know, and its checklist.")
    reflect: bool = schemas.unsent(
        description="The question to an agent that stops whether what it met is a lesson."
    )


class HooksShown(schemas.Result):
    """Which hooks are on."""

    brief: bool
    prefetch: bool
    warnings: bool
    step: bool
    step_recorded: bool
    step_searched: bool
    planner: bool
    reflect: bool


class ExperimentChanges(schemas.Changes):
    """What is to be compared."""

    enabled: bool = schemas.unsent(description="Whether sessions are compared.", examples=[True])
    control_percent: float = _number(
        "control_percent", "Of 100 sessions, how many are given nothing by themselves."
    )
    passive_percent: float = _number(
        "passive_percent", "Of 100 sessions, how many are given something at their beginning alone."
    )
    withheld_percent: float = _number(
        "withheld_percent",
        "Of 100 sessions that would be given a memory, how many are not.",
        examples=[10],
    )


@schemas.fields_of(queries.Experiments)
class ExperimentSettings(schemas.Result):
    """Whether sessions are compared, and in which shares."""


@post("projects/{ref}/pause", tag="projects", answer=PausesShown)
def pause_project(call: Call, body: Pause) -> dict[str, bool]:
    """Pause what agents are given.

    What agents tell is kept on; nothing is given back to them until somebody resumes. The whole
    project is paused by who manages projects, one token by whoever sees it, and with `mine` all of
    your own.
    """
    done = actions.pause(
        caller=call.caller, ref=call.ref, token_id=body.token, paused=body.paused, mine=body.mine
    )
    return _pauses(call.caller, done)


@get("projects/{ref}/pause", tag="projects", answer=PausesShown)
def get_pause(call: Call) -> dict[str, bool]:
    """Say whether agents are given anything."""
    return _pauses(call.caller, queries.pauses_of(caller=call.caller, ref=call.ref))


@get("projects/{ref}/hooks", tag="projects", answer=HooksShown)
def get_hooks(call: Call) -> queries.Hooks:
    """Say what gives memory back."""
    return queries.hooks_of(caller=call.caller, ref=call.ref)


@patch("projects/{ref}/hooks", tag="projects", answer=HooksShown, idempotent=True)
def switch_hooks(call: Call, body: HookChanges) -> queries.Hooks:
    """Switch what gives memory back.

    Each hook by itself; one that is off stays off, whatever the others say.
    """
    switched = {queries.Hook(name): is_on for name, is_on in body.sent.items()}
    return actions.switch_hooks(caller=call.caller, ref=call.ref, switched=switched)


@get("projects/{ref}/experiments", tag="projects", answer=ExperimentSettings)
def get_experiment_settings(call: Call) -> queries.Experiments:
    """Say whether sessions of a project are compared."""
    return queries.experiments_of(caller=call.caller, ref=call.ref)


@patch("projects/{ref}/experiments", tag="projects", answer=ExperimentSettings, idempotent=True)
def change_experiments(call: Call, body: ExperimentChanges) -> queries.Experiments:
    """Compare sessions of a project, or stop it.

    Off as long as nobody switches it on. A session keeps the group in which it was when something
    could have been given to it for the first time. What agents search for is never withheld.
    """
    return actions.change_experiments(caller=call.caller, ref=call.ref, changed=body.sent)


def _pauses(caller: Caller, found: queries.Pauses) -> dict[str, bool]:
    is_own = caller.token_id in found.tokens or caller.user_id in found.people
    return {"paused": found.paused, "this_token_paused": is_own}


class NewTeam(schemas.Body):
    """A team to make."""

    slug: schemas.Name = Field(
        max_length=64,
        description="Its short name, by which memories name it: small letters, digits, hyphens.",
        examples=["payments"],
        json_schema_extra={"pattern": f"^{SLUG}$"},
    )
    name: str = Field("", max_length=100, description="Its name.", examples=["Payments"])


class TeamChanges(schemas.Body):
    """What a team is to be called."""

    name: schemas.Name = Field(
        max_length=100, description="Its new name.", examples=["Payments and billing"]
    )


class NewPerson(schemas.Body):
    """A person to add."""

    person: schemas.Name = Field(
        max_length=LONGEST,
        description="A member of the organization, by id or e-mail address.",
        examples=["ada@example.org"],
    )


@schemas.fields_of(queries.TeamView)
class Team(schemas.Result):
    """The team."""

    resource: ClassVar = schemas.Resource("teams/{ref}", "/slug", "/version")


@schemas.fields_of(queries.PersonView, hidden={"email"})
class Person(schemas.Result):
    """The person, without the e-mail address, which no agent needs."""

    role: str


@post("teams", tag="teams", scope=TokenScope.ADMIN, answer=Team, status=201)
def create_team(call: Call, body: NewTeam) -> queries.TeamView:
    """Make a team.

    Owners and admins do; who makes it is in it.
    """
    return actions.create_team(caller=call.caller, slug=body.slug, name=body.name)


@get("teams", tag="teams", answer=schemas.Items[Team])
def list_teams(call: Call) -> tuple[queries.TeamView, ...]:
    """List teams.

    Those one is in; owners and admins see all.
    """
    return queries.teams(caller=call.caller)


@get("teams/{ref}", tag="teams", answer=Team)
def get_team(call: Call) -> queries.TeamView:
    """Look at one team, by slug or id."""
    return queries.team(caller=call.caller, ref=call.ref)


@patch(
    "teams/{ref}", tag="teams", scope=TokenScope.ADMIN, answer=Team, edits=Edits.NAMED_VERSION,
    idempotent=True,
)  # fmt: skip
def rename_team(call: Call, body: TeamChanges) -> queries.TeamView:
    """Call a team something else.

    Send If-Match with the ETag you read; 412 says that someone was faster.
    """
    return actions.rename_team(
        caller=call.caller, ref=call.ref, name=body.name, if_version=call.if_version
    )


_member = {"scope": TokenScope.ADMIN, "answer": Person, "idempotent": True}
_post_member = partial(post, **_member, status=201, also={200: "They were there already."})
_delete_member = partial(delete, **_member)


@get("projects/{ref}/members", tag="projects", answer=schemas.Items[Person])
def list_project_members(call: Call) -> tuple[queries.PersonView, ...]:
    """List the people of a project.

    Those who were added. They matter where it is closed: everyone reaches an open one, and owners
    and admins reach all.
    """
    return queries.people_in(caller=call.caller, kind=queries.Kind.PROJECT, ref=call.ref)


@_post_member("projects/{ref}/members", tag="projects")
def add_project_member(call: Call, body: NewPerson) -> Answer:
    """Add a member of the organization to a project.

    Owners and admins do. Who is there already stays.
    """
    return _added(call, queries.Kind.PROJECT, body)


@_delete_member("projects/{ref}/members/{id}", tag="projects")
def remove_project_member(call: Call) -> queries.PersonView:
    """Take a person out of a project.

    Owners and admins do. From the next call on, the person sees it no longer.
    """
    return actions.remove_person(
        caller=call.caller, kind=queries.Kind.PROJECT, ref=call.ref, user_id=call.id
    )


@get("teams/{ref}/members", tag="teams", answer=schemas.Items[Person])
def list_team_members(call: Call) -> tuple[queries.PersonView, ...]:
    """List the people of a team.

    Its memories are theirs alone.
    """
    return queries.people_in(caller=call.caller, kind=queries.Kind.TEAM, ref=call.ref)


@_post_member("teams/{ref}/members", tag="teams")
def add_team_member(call: Call, body: NewPerson) -> Answer:
    """Add a member of the organization to a team.

    Owners and admins do. Who is there already stays.
    """
    return _added(call, queries.Kind.TEAM, body)


@_delete_member("teams/{ref}/members/{id}", tag="teams")
def remove_team_member(call: Call) -> queries.PersonView:
    """Take a person out of a team.

    Owners and admins do. From the next call on, the person sees it no longer.
    """
    return actions.remove_person(
        caller=call.caller, kind=queries.Kind.TEAM, ref=call.ref, user_id=call.id
    )


def _added(call: Call, kind: queries.Kind, body: NewPerson) -> Answer:
    view, is_new = actions.add_person(
        caller=call.caller, kind=kind, ref=call.ref, person=body.person
    )
    return Answer(view, status=201 if is_new else 200)


class ChangesQuery(schemas.Query):
    """Which changes are asked for."""

    after: int = Field(
        0,
        ge=0,
        le=10**18 - 1,
        description="`next_after` of the answer before; 0 begins at the oldest.",
    )
    limit: int = Field(50, ge=1, le=200, description="At most.")
    wait: int = Field(
        0, ge=0, le=jobs.LONGEST_WAIT, description="Seconds to wait for something new, 0 to 30."
    )
    project: schemas.Name | None = Field(None, max_length=64, description="Only of this project.")


@schemas.fields_of(queries.ChangeView)
class Change(schemas.Result):
    """Something that happened."""


class ChangeFeed(schemas.Result):
    """Oldest first."""

    items: tuple[Change, ...]
    next_after: int


@get("changes", tag="changes", answer=ChangeFeed)
def list_changes(call: Call, query: ChangesQuery) -> dict[str, Any]:
    """Follow what happens.

    The ordered feed of changes the caller may see. Keep `next_after` and send it as `after`;
    nothing is missed and nothing comes twice.
    """
    found = jobs.until(
        look=lambda: queries.changes_since(
            caller=call.caller, after=query.after, limit=query.limit, project=query.project
        ),
        seconds=query.wait,
        check=lambda: jobs.check_holds(caller=call.caller),
    )
    changes = found or ()
    return {"items": changes, "next_after": changes[-1].id if changes else query.after}


class AuditQuery(schemas.PageQuery):
    """Which acts to list."""

    area: Annotated[str, schemas.OneOf(AREAS)] | None = Field(
        None, description="Only acts on this kind of thing."
    )
    actor: schemas.Identifier | None = Field(None, description="Only acts of this person.")
    object_id: schemas.Name | None = Field(
        None, max_length=64, description="Only acts on the thing with this id."
    )
    request_id: schemas.Name | None = Field(
        None, max_length=64, description="Only acts of the request with this id."
    )


@schemas.fields_of(Entry)
class AuditEntry(schemas.Result):
    """One act."""


@get("audit", tag="audit", scope=TokenScope.ADMIN, answer=schemas.Page[AuditEntry])
def list_audit(call: Call, query: AuditQuery) -> Answer:
    """Read the audit log.

    Who did what, when and from where, newest first: one entry for each call that changed something.
    For owners and admins. `hash` chains each entry to the one before.
    """
    filters = Filters(
        area=query.area, actor=query.actor, object_id=query.object_id, request_id=query.request_id
    )
    page = audit.page(
        caller=call.caller, filters=filters, cursor=call.after(str), limit=query.limit
    )
    return Answer(page.items, following=page.next_place)
