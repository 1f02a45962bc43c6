"""Who belongs to a project and who is in a team, over REST."""

from dataclasses import replace
from functools import partial
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply, path_id
from accounts.api.shapes import Field, Record, Text
from accounts.caller import TokenScope
from teams.actions import people
from teams.queries import Kind, PersonView, people_in

LONGEST: Final = 254  # characters of an e-mail address
EXAMPLE: Final[dict[str, Any]] = {
    "id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a20",
    "name": "Ada",
    "role": "member",
    "since": "2026-11-20T12:00:00Z",
}
NEW_PERSON: Final = Record(
    name="NewPerson",
    fields=(
        Field(
            name="person",
            shape=Text(largest=LONGEST, smallest=1),
            says="A member of the organization, by id or e-mail address.",
            required=True,
        ),
    ),
)


PERSON: Final = Reply(status=201, says="The person.", schema="Person", example=EXAMPLE)


def index(kind: Kind, ask: Ask) -> Answer:
    """Return the people of a place."""
    found = people_in(caller=ask.caller, kind=kind, ref=ask.path["ref"])
    return Answer(body={"items": [_shown(view) for view in found]})


def add(kind: Kind, ask: Ask) -> Answer:
    """Add a member of the organization."""
    view, is_new = people.add_person(
        caller=ask.caller, kind=kind, ref=ask.path["ref"], person=ask.body["person"]
    )
    return Answer(status=201 if is_new else 200, body=_shown(view))


def remove(kind: Kind, ask: Ask) -> Answer:
    """Take a person out."""
    view = people.remove_person(
        caller=ask.caller, kind=kind, ref=ask.path["ref"], user_id=path_id(ask=ask)
    )
    return Answer(body=_shown(view))


def _shown(view: PersonView) -> dict[str, Any]:
    """Return a person without the e-mail address, which no agent needs."""
    return {"id": view.id, "name": view.name, "role": view.role, "since": view.since}


def _listing(kind: Kind, says: str) -> Endpoint:
    example = {"items": [EXAMPLE]}
    return Endpoint(
        method="GET",
        path=f"{kind}s/{{ref}}/members",
        name=f"list_{kind}_members",
        tag=f"{kind}s",
        summary=f"List the people of a {kind}",
        says=says,
        scope=TokenScope.READ,
        run=partial(index, kind),
        replies=(Reply(status=200, says="The first first.", schema="People", example=example),),
    )


def _adding(kind: Kind) -> Endpoint:
    return Endpoint(
        method="POST",
        path=f"{kind}s/{{ref}}/members",
        name=f"add_{kind}_member",
        tag=f"{kind}s",
        summary=f"Add a member of the organization to a {kind}",
        says="Owners and admins do. Who is there already stays.",
        scope=TokenScope.ADMIN,
        run=partial(add, kind),
        body=NEW_PERSON,
        example={"person": "ada@example.org"},
        idempotent=True,
        replies=(PERSON, replace(PERSON, status=200, says="They were there already.")),
    )


def _removing(kind: Kind) -> Endpoint:
    return Endpoint(
        method="DELETE",
        path=f"{kind}s/{{ref}}/members/{{id}}",
        name=f"remove_{kind}_member",
        tag=f"{kind}s",
        summary=f"Take a person out of a {kind}",
        says="Owners and admins do. From the next call on, the person sees it no longer.",
        scope=TokenScope.ADMIN,
        run=partial(remove, kind),
        idempotent=True,
        replies=(replace(PERSON, status=200, says="Who was taken out."),),
    )


ENDPOINTS: Final = (
    _listing(
        Kind.PROJECT,
        "Those who were added. They matter where it is closed: everyone reaches an open one, and "
        "owners and admins reach all.",
    ),
    _adding(Kind.PROJECT),
    _removing(Kind.PROJECT),
    _listing(Kind.TEAM, "Its memories are theirs alone."),
    _adding(Kind.TEAM),
    _removing(Kind.TEAM),
)
