"""Invite people by e-mail, and take them in. Nothing tells who has an account.

The link carries a secret of which only a keyed hash is stored. It works once, for seven days, for
the person signed in with the address it was sent to, while the inviter could still give its role.
"""

import logging
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from smtplib import SMTPException
from typing import Final
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.core.validators import validate_email
from django.template.loader import render_to_string

from accounts import audit, quotas, rights, tenancy
from accounts.backend import free_texts
from accounts.caller import DASHBOARD, Caller, Role
from accounts.errors import Conflict, Forbidden, NotFound, wrong_field
from accounts.models import Invitation, Membership, Organization, User
from accounts.queries import directory, invites
from accounts.queries.directory import OrganizationView
from accounts.queries.invites import InvitationView, invitation_view
from accounts.sentences import sentence

log = logging.getLogger(__name__)

DAYS: Final = 7  # spec: reliability, invitations
SECRET_BYTES: Final = 32
LANGUAGES: Final = ("en", "fr")


@dataclass(frozen=True, slots=True, kw_only=True)
class SentInvitation:
    """An invitation just sent; `link` is shown now and never again.

    `mailed` is False when no mail server took it: pass the link on yourself.
    """

    invitation: InvitationView
    link: str
    mailed: bool


def invite(*, caller: Caller, email: str, role: Role, now: datetime) -> SentInvitation:
    """Invite an address.

    Raises RoleNotSufficient above one's own role, InvalidInput, Conflict for a member or an
    address invited already, QuotaExceeded.
    """
    rights.check_manages(caller=caller)
    rights.check_not_above(caller=caller, role=role)
    inviter = _person(caller)
    address = _checked_address(email)
    free_texts.check(texts={"/email": address})
    with audit.caller_unit(caller=caller):
        organization = _locked_organization(caller.organization_id)
        quotas.check_room(organization=organization)
        _clear_the_way(organization, address, now=now)
        row = Invitation(organization=organization, email=address, role=role, invited_by=inviter)
        secret = _store(row, now=now)
        _note(caller, "created", row)
    return _send(row, secret=secret)


def resend_invitation(*, caller: Caller, invitation_id: UUID, now: datetime) -> SentInvitation:
    """Send a pending invitation again with a new link for seven days; the old link ends.

    It is the caller's from now on. Raises NotFound, RoleNotSufficient.
    """
    inviter = _person(caller)
    with audit.caller_unit(caller=caller):
        row = _locked(caller, invitation_id)
        rights.check_not_above(caller=caller, role=Role(row.role))
        row.invited_by = inviter
        secret = _store(row, now=now)
        _note(caller, "resent", row)
    return _send(row, secret=secret)


def revoke_invitation(*, caller: Caller, invitation_id: UUID, now: datetime) -> InvitationView:
    """Withdraw a pending invitation. Raises NotFound, RoleNotSufficient."""
    with audit.caller_unit(caller=caller):
        row = _locked(caller, invitation_id)
        row.revoked_at = now
        row.save(update_fields=["revoked_at"])
        _note(caller, "revoked", row)
    return invitation_view(row)


def accept_invitation(*, user_id: UUID, secret: str, now: datetime) -> OrganizationView:
    """Take the signed-in person in. Raises NotFound when it is not open or not theirs.

    Somebody who already belongs keeps the role they have.
    """
    user = User.objects.get(pk=user_id)
    with tenancy.walled(organization_id=invites.inviting(secret=secret)):
        found = invites.find_open(rows=invites.pending(), secret=secret, now=now)
    with audit.organization_unit(organization=found.organization):
        pending = invites.pending().select_for_update(of=("self",))
        row = invites.find_open(rows=pending, secret=secret, now=now)
        if not user.is_active or row.email.lower() != user.email.lower():
            raise invites.not_open()
        _take_in(row, user=user, now=now)
        row.accepted_at = now
        row.save(update_fields=["accepted_at"])
        guest = audit.Person(user_id=user_id, source_interface=DASHBOARD)
        _note(guest, "accepted", row)
    return directory.organization_of(user_id=user_id, slug=row.organization.slug)


def _note(caller: audit.Actor, verb: str, row: Invitation) -> None:
    audit.append(
        act=f"invitation.{verb}",
        object_type="invitation",
        object_id=str(row.id),
        caller=caller,
        details={"role": row.role},
    )


def _take_in(row: Invitation, *, user: User, now: datetime) -> None:
    organization = _locked_organization(row.organization_id)
    if Membership.objects.filter(organization=organization, user=user).exists():
        return
    quotas.check_room(organization=organization)
    Membership.objects.create(organization=organization, user=user, role=row.role, created_at=now)


def _clear_the_way(organization: Organization, address: str, *, now: datetime) -> None:
    members = Membership.objects.filter(organization=organization)
    if members.filter(user__email__iexact=address).exists():
        raise Conflict(
            detail=sentence("{address} is a member already.", address=address),
            hint="Change the role instead.",
        )
    earlier = Invitation.objects.filter(
        organization=organization, email__iexact=address, accepted_at=None, revoked_at=None
    )
    if earlier.filter(expires_at__gt=now).exists():
        raise Conflict(
            detail=sentence("{address} has been invited already.", address=address),
            hint="Send the invitation again, or revoke it first.",
        )
    earlier.update(revoked_at=now)


def _store(row: Invitation, *, now: datetime) -> str:
    secret = secrets.token_urlsafe(SECRET_BYTES)
    row.digest = invites.digest_of(secret=secret)
    row.created_at = now
    row.expires_at = now + timedelta(days=DAYS)
    row.save()
    return secret


def _send(row: Invitation, *, secret: str) -> SentInvitation:
    view = invitation_view(row)
    link = f"{settings.BASE_URL}/invite/{secret}"
    organization = row.organization
    language = organization.language if organization.language in LANGUAGES else LANGUAGES[0]
    text = render_to_string(
        f"accounts/invitation.{language}.txt",
        {"organization": organization.name, "invitation": view, "link": link, "days": DAYS},
    )
    subject, _, body = text.partition("\n")
    return SentInvitation(
        invitation=view, link=link, mailed=_mail(" ".join(subject.split()), body, view.email)
    )


def _mail(subject: str, body: str, address: str) -> bool:
    try:
        return send_mail(subject, body.lstrip(), None, [address]) == 1
    except (SMTPException, OSError) as error:
        log.warning("An invitation was not mailed: %s", type(error).__name__)
        return False


def _locked(caller: Caller, invitation_id: UUID) -> Invitation:
    rights.check_manages(caller=caller)
    row = (
        invites.pending()
        .select_for_update(of=("self",))
        .select_related("invited_by", "organization")
        .filter(organization_id=caller.organization_id, pk=invitation_id)
        .first()
    )
    if row is None:
        raise NotFound(
            detail="There is no such pending invitation.", hint="The list shows those pending."
        )
    return row


def _locked_organization(organization_id: UUID) -> Organization:
    rows = Organization.objects.select_for_update(of=("self",)).select_related("plan")
    organization: Organization = rows.get(pk=organization_id)
    return organization


def _person(caller: Caller) -> User:
    if caller.user_id is None:
        raise Forbidden(
            detail="An invitation is sent in a person's name.", hint="Use a personal token."
        )
    return User.objects.get(pk=caller.user_id)


def _checked_address(email: str) -> str:
    address = email.strip().lower()
    try:
        validate_email(address)
    except ValidationError as error:
        detail = "This is not an e-mail address."
        raise wrong_field(pointer="/email", detail=detail, code="email") from error
    return address
