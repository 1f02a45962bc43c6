"""Organizations, people and callers for tests."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from uuid import uuid4

from accounts import tenancy
from accounts.caller import ALL_SCOPES, Caller, Role
from accounts.models import Membership, Organization, User
from accounts.tenancy import provisioning
from tests.support import prepared

PASSWORD = "correct horse battery staple"


def make_organization(*, slug: str) -> Organization:
    """Make an organization whose schema is up to date."""
    prepared_one = prepared.take(slug=slug)
    if prepared_one is not None:
        return prepared_one
    organization = Organization.objects.create(
        slug=slug, name=slug.title(), schema_name=f"t_{uuid4().hex}"
    )
    provisioning.replay(organization=organization)
    organization.ready = True
    organization.save(update_fields=["ready"])
    return organization


def make_person(*, organization: Organization, email: str, role: Role) -> User:
    """Make a person with a role in the organization."""
    user = User.objects.create_user(email, PASSWORD, name=email.partition("@")[0].title())
    Membership.objects.create(organization=organization, user=user, role=role)
    return user


def as_caller(*, organization: Organization, user: User, role: Role) -> Caller:
    """Return the caller this person is on the dashboard."""
    return Caller(
        user_id=user.id,
        organization_id=organization.id,
        organization_slug=organization.slug,
        schema_name=organization.schema_name,
        role=role,
        scopes=ALL_SCOPES,
        bound_projects=None,
        source_interface="dashboard",
    )


def entered(*, organization: Organization) -> AbstractContextManager[tenancy.Tenant]:
    """Enter the organization."""
    return tenancy.enter(organization.tenant)


@contextmanager
def outside() -> Iterator[None]:
    """Leave the entered organization for a while, as another request would."""
    token = tenancy._current.set(None)
    try:
        yield
    finally:
        tenancy._current.reset(token)
