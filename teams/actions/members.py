"""Take people out of an organization, with every place they had in it.

Membership is in the public schema and places in the tenant's; both end in one transaction, so that
somebody who is invited again later starts with nothing.
"""

from datetime import datetime
from uuid import UUID

from accounts import tenancy
from accounts.actions import members
from accounts.caller import Caller
from accounts.queries.directory import MemberView
from teams import visibility
from teams.models import ProjectMember, TeamMember


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
