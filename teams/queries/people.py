"""Who belongs to a project, which teams there are, and who is in them.

A team is for those in it and for who manages the organization; to everybody else it is as if it did
not exist, and so it is to a token bound to projects: teams are the organization's.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from django.db.models import QuerySet

from accounts import rights, tenancy
from accounts.caller import Caller, Role
from accounts.errors import NotFound
from accounts.identifiers import as_uuid
from accounts.queries import MemberView, members_among
from teams.errors import NotBoundToProject
from teams.models import Project, Team, TeamMember
from teams.queries.places import find_project


class Kind(StrEnum):
    """What people can be added to."""

    PROJECT = "project"
    TEAM = "team"


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonView:
    """A person in a project or a team, with their part in the organization."""

    id: UUID
    name: str
    email: str
    role: Role
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamView:
    """A team as callers see it."""

    id: UUID
    slug: str
    name: str
    created_at: datetime
    version: int


def people_in(*, caller: Caller, kind: Kind, ref: str) -> tuple[PersonView, ...]:
    """Return who was added to a project or a team, the first first.

    Raises NotFound, NotBoundToProject.
    """
    with tenancy.unit():
        row = find_place(caller=caller, kind=kind, ref=ref)
        check_unbound(caller=caller)
        return _persons(caller, row)


def teams(*, caller: Caller) -> tuple[TeamView, ...]:
    """Return the teams the caller can see, by slug."""
    with tenancy.unit():
        return tuple(team_view(row) for row in _visible_teams(caller).order_by("slug", "id"))


def team(*, caller: Caller, ref: str) -> TeamView:
    """Return a team by slug or id. Raises NotFound, also for one the caller may not see."""
    with tenancy.unit():
        return team_view(find_team(caller=caller, ref=ref))


def find_place(*, caller: Caller, kind: Kind, ref: str) -> Project | Team:
    """Return the row of a project or a team by slug or id, for actions. Raises NotFound."""
    find = find_project if kind is Kind.PROJECT else find_team
    return find(caller=caller, ref=ref)


def find_team(*, caller: Caller, ref: str) -> Team:
    """Return the row of a team by slug or id, for actions. Raises NotFound."""
    by_id = as_uuid(text=ref)
    wanted = {"slug": ref} if by_id is None else {"id": by_id}
    row = _visible_teams(caller).filter(**wanted).first() if ref.isprintable() else None
    if row is None:
        raise NotFound(
            detail="There is no such team.",
            hint="GET /api/v1/teams lists the teams you can see; POST creates one.",
        )
    return row


def team_view(row: Team) -> TeamView:
    """Turn a row into what callers see."""
    return TeamView(
        id=row.id,
        slug=row.slug,
        name=row.name,
        created_at=row.created_at,
        version=row.version,
    )


def person_view(member: MemberView, *, since: datetime) -> PersonView:
    """Turn a member into a person of a place, in which they are since then."""
    return PersonView(
        id=member.user_id, name=member.name, email=member.email, role=member.role, since=since
    )


def check_unbound(*, caller: Caller) -> None:
    """Raise NotBoundToProject for a token bound to projects: people are the organization's."""
    if caller.bound_projects is None:
        return
    raise NotBoundToProject(
        detail="This token is bound to projects; people and settings are not in them.",
        hint="Use the dashboard, or a token that is bound to none.",
    )


def _visible_teams(caller: Caller) -> QuerySet[Team]:
    if caller.bound_projects is None and caller.role in rights.MANAGERS:
        return Team.objects.all()
    if caller.bound_projects is not None or caller.user_id is None:
        return Team.objects.none()
    mine = TeamMember.objects.filter(user_id=caller.user_id).values("team_id")
    return Team.objects.filter(id__in=mine)


def _persons(caller: Caller, place: Project | Team) -> tuple[PersonView, ...]:
    """Return the people of a place; whoever has left the organization is in no place of it."""
    rows = place.members.order_by("created_at", "id")
    since: dict[UUID, datetime] = dict(rows.values_list("user_id", "created_at"))
    found = members_among(caller=caller, ids=since)
    return tuple(
        person_view(found[user_id], since=moment)
        for user_id, moment in since.items()
        if user_id in found
    )
