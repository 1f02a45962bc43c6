"""Teams over REST: who shares memories across projects."""

from dataclasses import asdict
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Edits, Endpoint, Reply
from accounts.api.shapes import Field, Record, Text
from accounts.caller import TokenScope
from teams.actions import people, projects
from teams.queries import TeamView, team
from teams.queries import teams as teams_of_teams

NEW_TEAM: Final = Record(
    name="NewTeam",
    fields=(
        Field(
            name="slug",
            shape=Text(largest=64, smallest=1, form=projects.SLUG.pattern.replace(r"\Z", "")),
            says="Its short name, by which memories name it: small letters, digits, hyphens.",
            required=True,
        ),
        Field(name="name", shape=Text(largest=100), says="Its name.", default=""),
    ),
)
NEW_NAME: Final = Record(
    name="TeamChanges",
    fields=(
        Field(
            name="name", shape=Text(largest=100, smallest=1), says="Its new name.", required=True
        ),
    ),
)
EXAMPLE: Final[dict[str, Any]] = {
    "id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a30",
    "slug": "payments",
    "name": "Payments",
    "created_at": "2026-11-20T12:00:00Z",
    "version": 1,
}
TEAM: Final = Reply(status=200, says="The team.", schema="Team", example=EXAMPLE)


def create(ask: Ask) -> Answer:
    """Make a team."""
    view = people.create_team(caller=ask.caller, **ask.body)
    return Answer(
        status=201, body=asdict(view), version=view.version, location=f"/api/v1/teams/{view.slug}"
    )


def index(ask: Ask) -> Answer:
    """Return the teams the caller can see, by slug."""
    return Answer(body={"items": [asdict(view) for view in teams_of_teams(caller=ask.caller)]})


def look(ask: Ask) -> Answer:
    """Return one team by slug or id."""
    return _shown(team(caller=ask.caller, ref=ask.path["ref"]))


def rename(ask: Ask) -> Answer:
    """Call a team something else."""
    return _shown(
        people.rename_team(
            caller=ask.caller, ref=ask.path["ref"], if_version=ask.if_version, **ask.body
        )
    )


def _shown(view: TeamView) -> Answer:
    return Answer(body=asdict(view), version=view.version)


ENDPOINTS: Final = (
    Endpoint(
        method="POST",
        path="teams",
        name="create_team",
        tag="teams",
        summary="Make a team",
        says="Owners and admins do; who makes it is in it.",
        scope=TokenScope.ADMIN,
        run=create,
        body=NEW_TEAM,
        example={"slug": "payments", "name": "Payments"},
        idempotent=True,
        replies=(Reply(status=201, says="The team.", schema="Team", example=EXAMPLE),),
    ),
    Endpoint(
        method="GET",
        path="teams",
        name="list_teams",
        tag="teams",
        summary="List teams",
        says="Those one is in; owners and admins see all.",
        scope=TokenScope.READ,
        run=index,
        replies=(Reply(status=200, says="By slug.", schema="Teams", example={"items": [EXAMPLE]}),),
    ),
    Endpoint(
        method="GET",
        path="teams/{ref}",
        name="get_team",
        tag="teams",
        summary="Look at one team, by slug or id",
        scope=TokenScope.READ,
        run=look,
        replies=(TEAM,),
    ),
    Endpoint(
        method="PATCH",
        path="teams/{ref}",
        name="rename_team",
        tag="teams",
        summary="Call a team something else",
        says="Send If-Match with the ETag you read; 412 says that someone was faster.",
        scope=TokenScope.ADMIN,
        run=rename,
        body=NEW_NAME,
        example={"name": "Payments and billing"},
        edits=Edits.NAMED_VERSION,
        idempotent=True,
        replies=(TEAM,),
    ),
)
