"""Add people to projects and teams, and take them out again.

Who may see what is read anew by every call and by every look of an open page, so a person sees from
the next of them on, and no longer: nothing is kept that would have to be thrown away. Open pages
are called to look, the one who is taken out in person besides. Owners and admins reach a closed
project whether they are in it or not, and find every team, so a place without anybody left is not
lost; whom they add, also themselves, stands in the audit log.
"""

from uuid import UUID

from accounts import rights, tenancy
from accounts.actions.members import hold_member
from accounts.backend import bell
from accounts.caller import Caller, is_person
from accounts.errors import NotFound
from teams import audit, changes, visibility
from teams.models import Project, Team
from teams.queries.people import Kind, PersonView, find_place, person_view


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
                detail="This person is not in it.", hint="Its list of people shows who is."
            )
        row.delete()
        _tell(caller, kind, place, "member_removed", user_id)
        bell.ring_person(user_id=user_id)
        return person_view(who, since=row.created_at)


def _check_takes_out(caller: Caller, user_id: UUID) -> None:
    """Let a person, in person, take out themselves; everybody else must manage people."""
    if caller.user_id != user_id or not is_person(caller=caller):
        rights.check_manages(caller=caller)


def _tell(caller: Caller, kind: Kind, place: Project | Team, verb: str, user_id: UUID) -> None:
    """Write to the log and to the feed of those in it, and look at places anew from now on."""
    visibility.forget()
    audit.append(
        act=f"{kind}.{verb}",
        object_type=kind.value,
        object_id=str(place.id),
        caller=caller,
        details={"user": str(user_id)},
    )
    changes.append(
        kind=f"{kind}.{verb}",
        object_id=place.id,
        project_id=place.id if kind is Kind.PROJECT else None,
        audience=place.id,
        caller=caller,
        summary={"slug": place.slug, "name": place.name},
    )
