"""Organizations, the people in them, and who stands behind work that outlives its request."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet

from accounts import rights, tenancy
from accounts.caller import DASHBOARD, Caller, Role, TokenScope
from accounts.errors import Forbidden, NotFound
from accounts.models import Membership, Organization, Token
from accounts.tenancy import security_definers
from accounts.tenancy.security_definers import JoinedOrganization


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationView:
    """An organization and one's part in it."""

    id: UUID
    slug: str
    name: str
    personal: bool
    language: str
    schema_name: str
    role: Role
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberView:
    """A person in an organization."""

    user_id: UUID
    email: str
    name: str
    role: Role
    joined_at: datetime


def organizations_of(*, user_id: UUID) -> tuple[OrganizationView, ...]:
    """Return the organizations a person belongs to, the first joined first."""
    rows = security_definers.places_of(user_id=user_id)
    return tuple(organization_view(row, role=Role(row.role)) for row in rows if row.ready)


def organization_of(*, user_id: UUID, slug: str) -> OrganizationView:
    """Return one organization by slug. Raises NotFound also for one the person is not in."""
    for found in organizations_of(user_id=user_id):
        if found.slug == slug:
            return found
    raise NotFound(detail="There is no such organization.", hint="Check the address.")


def person(*, user_id: UUID, slug: str) -> Caller:
    """Return who calls from the pages of an organization, as of now. Raises NotFound."""
    organization = organization_of(user_id=user_id, slug=slug)
    return Caller(
        user_id=user_id,
        organization_id=organization.id,
        organization_slug=organization.slug,
        schema_name=organization.schema_name,
        role=organization.role,
        scopes=rights.scopes_of(role=organization.role),
        bound_projects=None,
        source_interface=DASHBOARD,
    )


def longest_token_days(*, caller: Caller) -> int:
    """Return how many days a token of the caller's organization may live."""
    with tenancy.walled(organization_id=caller.organization_id):
        rows = Organization.objects.filter(pk=caller.organization_id)
        return int(rows.values_list("longest_token_days", flat=True).get())


def keep_events_days(*, organization_id: UUID) -> int:
    """Return for how many days an organization keeps what agents did; unset: what was said."""
    with tenancy.walled(organization_id=organization_id):
        rows = Organization.objects.filter(pk=organization_id)
        days = rows.values_list("keep_events_days", flat=True).get()
    return settings.KEEP_TURNS_DAYS if days is None else int(days)


def members(*, caller: Caller) -> tuple[MemberView, ...]:
    """Return the people of the caller's organization, the first joined first."""
    with tenancy.walled(organization_id=caller.organization_id):
        return tuple(member_view(row) for row in _memberships(caller).order_by("created_at", "id"))


def members_among(*, caller: Caller, ids: Iterable[UUID]) -> Mapping[UUID, MemberView]:
    """Return those of `ids` who belong to the caller's organization."""
    rows = _memberships(caller).filter(user_id__in=set(ids)).order_by("id")
    with tenancy.walled(organization_id=caller.organization_id):
        return {row.user_id: member_view(row) for row in rows}


def people(*, caller: Caller, ids: Iterable[UUID]) -> Mapping[UUID, str]:
    """Return display names for those of `ids` who belong to the caller's organization."""
    rows = _memberships(caller).filter(user_id__in=set(ids)).order_by("id")
    with tenancy.walled(organization_id=caller.organization_id):
        return {row.user_id: row.user.name or row.user.email for row in rows}


def _memberships(caller: Caller) -> QuerySet[Membership]:
    return Membership.objects.filter(organization_id=caller.organization_id).select_related("user")


def organization_view(
    organization: Organization | JoinedOrganization, *, role: Role
) -> OrganizationView:
    """Return a row as a value, for someone with this role in it."""
    return OrganizationView(
        id=organization.id,
        slug=organization.slug,
        name=organization.name,
        personal=organization.personal,
        language=organization.language,
        schema_name=organization.schema_name,
        role=role,
        created_at=organization.created_at,
    )


def member_view(row: Membership) -> MemberView:
    """Return a membership as the person it admits; `user` should be loaded."""
    return MemberView(
        user_id=row.user_id,
        email=row.user.email,
        name=row.user.name or row.user.email.partition("@")[0],
        role=Role(row.role),
        joined_at=row.created_at,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Initiator:
    """Who began: a person, a token, or a person's token; and with which software."""

    user_id: UUID | None
    token_id: UUID | None
    agent: str
    source_interface: str


def caller_of(*, beginner: Initiator, now: datetime) -> Caller:
    """Return who began as a caller of the entered organization. Raises Forbidden when gone.

    Never a person in person: what goes on without them is an agent's work. A person stays who they
    are when the token they used has ended; a token that is no person's does not.
    """
    tenant = tenancy.current()
    with tenancy.walled(organization_id=tenant.organization_id):
        token = _token(beginner.token_id, now)
        user_id = beginner.user_id or (token.user_id if token is not None else None)
        role = None
        if user_id is not None:
            mine = Membership.objects.filter(organization_id=tenant.organization_id)
            belongs = mine.filter(user_id=user_id, user__is_active=True)
            role = belongs.values_list("role", flat=True).first()
    if role is None:
        raise Forbidden(
            detail="The person who started this no longer belongs to the organization.",
            hint="Start it again with the credentials of a current member.",
        )
    bound = token.projects if token is not None else None
    scopes = rights.scopes_of(role=Role(role))
    return Caller(
        user_id=beginner.user_id,
        organization_id=tenant.organization_id,
        organization_slug=tenant.slug,
        schema_name=tenant.schema_name,
        role=Role(role),
        scopes=scopes & {TokenScope.READ, TokenScope.WRITE},
        bound_projects=None if bound is None else tuple(bound),
        source_interface=beginner.source_interface,
        agent=beginner.agent or "cairn",
        token_id=beginner.token_id,
    )


def check_token(*, beginner: Initiator, now: datetime) -> None:
    """Check that the token with which something was begun, if one was, is still good.

    Raises Forbidden when it was revoked or has expired.
    """
    with tenancy.walled(organization_id=tenancy.current().organization_id):
        is_good = beginner.token_id is None or _token(beginner.token_id, now) is not None
    if not is_good:
        raise Forbidden(
            detail="The token that started this is no longer valid.",
            hint="Start it again with the credentials of a current member.",
        )


def _token(token_id: UUID | None, now: datetime) -> Token | None:
    if token_id is None:
        return None
    return Token.objects.filter(pk=token_id, revoked_at=None, expires_at__gt=now).first()
