"""Teams, the people of teams and projects, and taking people out of an organization.

Who may see what is read anew by every call and by every look of an open page, so a person sees from
the next of them on, and no longer: nothing is kept that would have to be thrown away. Open pages
are woken to look, those of the one who is taken out in person besides. Owners and admins reach a
closed project whether they are in it or not, and find every team, so a place without anybody left
is not lost; whom they add, also themselves, stands in the audit log.

Membership is in the public schema and places are in the tenant's; both end in one transaction, so
that somebody who is invited again later starts with nothing.
"""

from datetime import datetime
from uuid import UUID

from accounts import free_texts, identifiers, live, rights, tenancy
from accounts.actions import members
from accounts.actions.members import hold_member
from accounts.caller import Caller, is_person
from accounts.errors import NotFound
from accounts.queries.directory import MemberView
from teams import audit, changes, visibility
from teams.actions import projects
from teams.models import Project, ProjectMember, Team, TeamMember
from teams.queries import Kind, PersonView, TeamView, find_place, find_team, person_view, team_view


def add_person(*, caller: Caller, kind: Kind, ref: str, person: str) -> tuple[PersonView, bool]:
    """Add a member, by id or e-mail address; say whether they were not there yet.

    Raises RoleNotSufficient, NotFound.
    """
    rights.check_manages(caller=caller)
    with tenancy.unit():
        place = find_place(caller=caller, kind=kind, ref=ref)
        who = hold_member(caller=caller, ref=person)
        row, is_new = place.members.get_or_create(user_id=who.user_id)
        if is_new:
            _tell(caller, kind, place, "member_added", who.user_id)
        return person_view(who, since=row.created_at), is_new


def remove_person(*, caller: Caller, kind: Kind, ref: str, user_id: UUID) -> PersonView:
    """Take a person out, or oneself. Raises RoleNotSufficient, NotFound."""
    _check_takes_out(caller, user_id)
    with tenancy.unit():
        place = find_place(caller=caller, kind=kind, ref=ref)
        who = hold_member(caller=caller, ref=str(user_id))
        row = place.members.filter(user_id=user_id).first()
        if row is None:
            raise NotFound(
                detail="This person is not a member.", hint="The list of people shows the members."
            )
        row.delete()
        _tell(caller, kind, place, "member_removed", user_id)
        live.wake_pages_of(user_id=user_id)
        return person_view(who, since=row.created_at)


def _check_takes_out(caller: Caller, user_id: UUID) -> None:
    """Let a person, in person, take out themselves; everybody else must manage people."""
    if caller.user_id != user_id or not is_person(caller=caller):
        rights.check_manages(caller=caller)


def _tell(caller: Caller, kind: Kind, place: Project | Team, verb: str, user_id: UUID) -> None:
    """Write to the log and to the feed of those in it, and look at places anew from now on."""
    visibility.forget()
    act, details = f"{kind}.{verb}", {"user": str(user_id)}
    audit.append(act, kind.value, str(place.id), caller=caller, details=details)
    changes.append(
        kind=act,
        object_id=place.id,
        project_id=place.id if kind is Kind.PROJECT else None,
        audience=place.id,
        caller=caller,
        summary={"slug": place.slug, "name": place.name},
    )


def remove_member(*, caller: Caller, user_id: UUID, now: datetime) -> MemberView:
    """Take a member out: membership, tokens, projects and teams.

    Raises RoleNotSufficient, LastOwner, NotFound.
    """
    with tenancy.unit():
        gone = members.remove_member(caller=caller, user_id=user_id, now=now)
        _leave_places(user_id)
        return gone


def leave(*, caller: Caller, now: datetime) -> MemberView:
    """Take oneself out, in person. Raises Forbidden for credentials, LastOwner."""
    with tenancy.unit():
        gone = members.leave(caller=caller, now=now)
        _leave_places(gone.user_id)
        return gone


def _leave_places(user_id: UUID) -> None:
    ProjectMember.objects.filter(user_id=user_id).delete()
    TeamMember.objects.filter(user_id=user_id).delete()
    visibility.forget()


def create_team(*, caller: Caller, slug: str, name: str = "") -> TeamView:
    """Make a team; a person who makes it is in it.

    Without a name it is called by its slug. Raises InvalidInput naming the field, SlugTaken,
    RoleNotSufficient.
    """
    rights.check_manages(caller=caller)
    projects.check_slug(slug=slug)
    free_texts.check(texts={"/slug": slug, "/name": name})
    with tenancy.unit():
        row = Team(slug=slug, name=identifiers.checked_name(name.strip() or slug))
        projects.insert(row=row)
        if caller.user_id is not None:
            row.members.create(user_id=caller.user_id)
        visibility.forget()
        audit.append("team.created", "team", str(row.id), caller=caller)
        return team_view(row)


def rename_team(*, caller: Caller, ref: str, name: str, if_version: int | None) -> TeamView:
    """Call a team something else.

    Raises InvalidInput, PreconditionFailed, RoleNotSufficient, NotFound.
    """
    rights.check_manages(caller=caller)
    wanted = identifiers.checked_name(name)
    free_texts.check(texts={"/name": wanted})
    with tenancy.unit():
        found = find_team(caller=caller, ref=ref)
        row = Team.objects.select_for_update().get(pk=found.pk)
        projects.check_version(row=row, if_version=if_version)
        if row.name != wanted:
            row.name, row.version = wanted, row.version + 1
            row.save(update_fields=["name", "version"])
            audit.append("team.changed", "team", str(row.id), caller=caller)
        return team_view(row)


def note_agent(*, caller: Caller) -> None:
    """Append `agent.seen` for a token seen the first time in ten minutes; else do nothing.

    It belongs to the project of a token bound to one, else to the organization.
    """
    if caller.token_id is None or not caller.newly_seen:
        return
    bound = caller.bound_projects
    project_id = bound[0] if bound is not None and len(bound) == 1 else None
    with tenancy.unit():
        changes.append(
            kind="agent.seen",
            object_id=caller.token_id,
            project_id=project_id,
            audience=project_id or caller.organization_id,
            caller=caller,
            summary={"agent": caller.agent},
        )
