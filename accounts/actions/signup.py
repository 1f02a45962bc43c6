"""Give a person a place: at sign-up, and whenever they sign in and belong nowhere."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from accounts.actions.organizations import create_organization
from accounts.models import User
from accounts.queries import directory
from accounts.queries.directory import OrganizationView


def ensure_home(*, user_id: UUID, now: datetime) -> OrganizationView:
    """Return the organization a person joined first, making a personal one when there is none.

    May be called again at any time; two calls at once make one organization.
    """
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=user_id)
        joined = directory.organizations_of(user_id=user_id)
        if joined:
            return joined[0]
        name = user.email.partition("@")[0]
        return create_organization(user_id=user_id, name=name, personal=True, now=now)
