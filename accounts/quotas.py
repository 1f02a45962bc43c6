"""Limits of an organization's plan on people: reached, it says what to do."""

from accounts.errors import QuotaExceeded
from accounts.models import Membership, Organization
from accounts.sentences import sentence


def check_room(*, organization: Organization) -> None:
    """Raise QuotaExceeded when the plan has no room for one more member."""
    limit = None if organization.plan is None else organization.plan.members
    if limit is None or Membership.objects.filter(organization=organization).count() < limit:
        return
    raise QuotaExceeded(
        detail=sentence(
            "The plan of {name} has room for {most} members.", name=organization.name, most=limit
        ),
        hint="Remove a member or choose a larger plan.",
    )
