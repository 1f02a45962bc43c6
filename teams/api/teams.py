"""Teams over REST, and who belongs to a team or a project."""

from typing import ClassVar

from pydantic import Field

from accounts.api.endpoints import Answer, Call, Edits, delete, get, patch, post
from accounts.api.schemas import Body, Items, Name, Resource, Result, fields_of
from accounts.caller import TokenScope
from teams import queries
from teams.actions import people
from teams.api.projects import SLUG
from teams.queries import Kind, PersonView, TeamView

LONGEST = 254  # characters of an e-mail address
ADDED = "They were there already."


class NewTeam(Body):
    """A team to make."""

    slug: Name = Field(
        max_length=64,
        description="Its short name, by which memories name it: small letters, digits, hyphens.",
        examples=["payments"],
        json_schema_extra={"pattern": f"^{SLUG}$"},
    )
    name: str = Field("", max_length=100, description="Its name.", examples=["Payments"])


class TeamChanges(Body):
    """What a team is to be called."""

    name: Name = Field(
        max_length=100, description="Its new name.", examples=["Payments and billing"]
    )


class NewPerson(Body):
    """A person to add."""

    person: Name = Field(
        max_length=LONGEST,
        description="A member of the organization, by id or e-mail address.",
        examples=["ada@example.org"],
    )


@fields_of(TeamView)
class Team(Result):
    """The team."""

    resource: ClassVar = Resource("teams/{ref}", "/slug", "/version")


@fields_of(PersonView, hidden={"email"})
class Person(Result):
    """The person, without the e-mail address, which no agent needs."""

    role: str


@post("teams", tag="teams", scope=TokenScope.ADMIN, answer=Team, status=201)
def create_team(call: Call, body: NewTeam) -> TeamView:
    """Make a team.

    Owners and admins do; who makes it is in it.
    """
    return people.create_team(caller=call.caller, slug=body.slug, name=body.name)


@get("teams", tag="teams", answer=Items[Team])
def list_teams(call: Call) -> tuple[TeamView, ...]:
    """List teams.

    Those one is in; owners and admins see all.
    """
    return queries.teams(caller=call.caller)


@get("teams/{ref}", tag="teams", answer=Team)
def get_team(call: Call) -> TeamView:
    """Look at one team, by slug or id."""
    return queries.team(caller=call.caller, ref=call.ref)


@patch(
    "teams/{ref}",
    tag="teams",
    scope=TokenScope.ADMIN,
    answer=Team,
    edits=Edits.NAMED_VERSION,
    idempotent=True,
)
def rename_team(call: Call, body: TeamChanges) -> TeamView:
    """Call a team something else.

    Send If-Match with the ETag you read; 412 says that someone was faster.
    """
    return people.rename_team(
        caller=call.caller, ref=call.ref, name=body.name, if_version=call.if_version
    )


@get("projects/{ref}/members", tag="projects", answer=Items[Person])
def list_project_members(call: Call) -> tuple[PersonView, ...]:
    """List the people of a project.

    Those who were added. They matter where it is closed: everyone reaches an open one, and owners
    and admins reach all.
    """
    return queries.people_in(caller=call.caller, kind=Kind.PROJECT, ref=call.ref)


@post(
    "projects/{ref}/members",
    tag="projects",
    scope=TokenScope.ADMIN,
    answer=Person,
    status=201,
    also={200: ADDED},
)
def add_project_member(call: Call, body: NewPerson) -> Answer:
    """Add a member of the organization to a project.

    Owners and admins do. Who is there already stays.
    """
    return _added(call, Kind.PROJECT, body)


@delete(
    "projects/{ref}/members/{id}",
    tag="projects",
    scope=TokenScope.ADMIN,
    answer=Person,
    idempotent=True,
)
def remove_project_member(call: Call) -> PersonView:
    """Take a person out of a project.

    Owners and admins do. From the next call on, the person sees it no longer.
    """
    return people.remove_person(
        caller=call.caller, kind=Kind.PROJECT, ref=call.ref, user_id=call.id
    )


@get("teams/{ref}/members", tag="teams", answer=Items[Person])
def list_team_members(call: Call) -> tuple[PersonView, ...]:
    """List the people of a team.

    Its memories are theirs alone.
    """
    return queries.people_in(caller=call.caller, kind=Kind.TEAM, ref=call.ref)


@post(
    "teams/{ref}/members",
    tag="teams",
    scope=TokenScope.ADMIN,
    answer=Person,
    status=201,
    also={200: ADDED},
)
def add_team_member(call: Call, body: NewPerson) -> Answer:
    """Add a member of the organization to a team.

    Owners and admins do. Who is there already stays.
    """
    return _added(call, Kind.TEAM, body)


@delete(
    "teams/{ref}/members/{id}", tag="teams", scope=TokenScope.ADMIN, answer=Person, idempotent=True
)
def remove_team_member(call: Call) -> PersonView:
    """Take a person out of a team.

    Owners and admins do. From the next call on, the person sees it no longer.
    """
    return people.remove_person(caller=call.caller, kind=Kind.TEAM, ref=call.ref, user_id=call.id)


def _added(call: Call, kind: Kind, body: NewPerson) -> Answer:
    view, is_new = people.add_person(
        caller=call.caller, kind=kind, ref=call.ref, person=body.person
    )
    return Answer(view, status=201 if is_new else 200)
