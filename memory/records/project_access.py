"""Open a project to everyone of the organization, or keep it to the people added to it."""

from typing import Final

from accounts import rights, tenancy
from accounts.caller import Caller
from accounts.errors import Conflict
from accounts.messages import message
from memory.records.models import Memory
from memory.taxonomy import Scope, Status
from teams.actions.projects import admit, hold_project
from teams.queries import ProjectView

WIDER_SCOPES: Final = (Scope.TEAM.value, Scope.ORGANIZATION.value)  # seen beyond a project's people


def open_project(*, caller: Caller, ref: str) -> ProjectView:
    """Let everyone of the organization into a project. Raises RoleNotSufficient, NotFound."""
    rights.check_manages(caller=caller)
    with tenancy.unit():
        return admit(caller=caller, row=hold_project(caller=caller, ref=ref), everyone=True)


def close_project(*, caller: Caller, ref: str) -> ProjectView:
    """Keep a project to the people added to it, and owners and admins.

    The name of a closed project stands on no memory that others see, so what is shared with a team
    or the organization must leave the project first. Raises Conflict while memories of it are
    shared more widely, RoleNotSufficient, NotFound.
    """
    rights.check_manages(caller=caller)
    with tenancy.unit():
        row = hold_project(caller=caller, ref=ref)
        shared = Memory.objects.filter(project=row, scope__in=WIDER_SCOPES)
        count = shared.exclude(status=Status.DELETED.value).count()
        if count:
            raise Conflict(
                detail=message(
                    "Memories of this project that are shared with a team or the organization: "
                    "{count}.",
                    count=count,
                ),
                hint="Give them the scope project first: a closed project is named to its people "
                "alone.",
            )
        return admit(caller=caller, row=row, everyone=False)
