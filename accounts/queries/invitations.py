"""Invitations as values: the list managers see, and what the holder of a link is shown.

Whoever holds the link of an open invitation is told the organization and the address it is for;
everything else (unknown, used, revoked, expired, withdrawn right) is one and the same NotFound.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery

from accounts import peppers, rights, tenancy
from accounts.caller import Caller, Role
from accounts.errors import NotFound
from accounts.models import Invitation, Membership
from accounts.tenancy import security_definers


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationView:
    """An invitation that was neither accepted nor revoked; it may have expired."""

    id: UUID
    email: str
    role: Role
    invited_by: UUID
    invited_by_name: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationOffer:
    """What the page behind an invitation's link shows."""

    organization_name: str
    invited_by_name: str
    email: str
    role: Role
    expires_at: datetime


def invitations(*, caller: Caller) -> tuple[InvitationView, ...]:
    """Return the pending invitations, newest first. Raises RoleNotSufficient but for managers."""
    rights.check_manages(caller=caller)
    rows = pending().filter(organization_id=caller.organization_id).select_related("invited_by")
    with tenancy.walled(organization_id=caller.organization_id):
        return tuple(invitation_view(row) for row in rows.order_by("-created_at", "id"))


def invitation_offer(*, secret: str, now: datetime) -> InvitationOffer:
    """Return what an open invitation offers to the holder of its link. Raises NotFound."""
    with tenancy.walled(organization_id=inviting(secret=secret)):
        row = find_open(rows=pending(), secret=secret, now=now)
    return InvitationOffer(
        organization_name=row.organization.name,
        invited_by_name=row.invited_by.name or row.invited_by.email,
        email=row.email,
        role=Role(row.role),
        expires_at=row.expires_at,
    )


def inviting(*, secret: str) -> UUID:
    """Return the organization that an invitation leads to. Raises NotFound."""
    organization_id = security_definers.invited_to(
        digests=tuple(peppers.digests(text=_keyed(secret)))
    )
    if organization_id is None:
        raise not_open()
    return organization_id


def pending() -> QuerySet[Invitation]:
    """Return the invitations neither accepted nor revoked."""
    return Invitation.objects.filter(accepted_at=None, revoked_at=None, organization__ready=True)


def find_open(*, rows: QuerySet[Invitation], secret: str, now: datetime) -> Invitation:
    """Return the row of an invitation that can be accepted now, for actions. Raises NotFound.

    It lapses when the one who invited could no longer give its role.
    """
    inviter = Membership.objects.filter(
        organization_id=OuterRef("organization_id"), user_id=OuterRef("invited_by_id")
    )
    row = (
        rows.select_related("organization", "invited_by")
        .annotate(inviter_role=Subquery(inviter.values("role")[:1]))
        .filter(digest__in=peppers.digests(text=_keyed(secret)), expires_at__gt=now)
        .first()
    )
    if row is None or not _may_still_give(row):
        raise not_open()
    return row


def digest_of(*, secret: str) -> str:
    """Return the keyed hash under which an invitation's secret is stored."""
    return peppers.digest(text=_keyed(secret))


def not_open() -> NotFound:
    """Return the one answer to every invitation that cannot be accepted."""
    return NotFound(
        detail="This invitation is not open, or it is for another e-mail address.",
        hint="Sign in with the address it was sent to, or ask for a new invitation.",
    )


def invitation_view(row: Invitation) -> InvitationView:
    """Return a row as a value; `invited_by` should be loaded."""
    return InvitationView(
        id=row.id,
        email=row.email,
        role=Role(row.role),
        invited_by=row.invited_by_id,
        invited_by_name=row.invited_by.name or row.invited_by.email,
        created_at=row.created_at,
        expires_at=row.expires_at,
    )


def _keyed(secret: str) -> str:
    return f"invitation:{secret}"


def _may_still_give(row: Invitation) -> bool:
    role = row.inviter_role  # type: ignore[attr-defined]
    if role is None or Role(role) not in rights.MANAGERS:
        return False
    return not rights.outranks(role=Role(row.role), other=Role(role))
