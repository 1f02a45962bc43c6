"""Invite people by e-mail, take them in, change what they may do, take them out.

Nothing tells who has an account. The link of an invitation carries a secret of which only a keyed
hash is stored. It works once, for seven days, for the person signed in with the address it was sent
to, while the inviter could still give its role.

The organization's row is locked first, so two owners cannot demote one another at the same time and
leave none. Taking somebody out ends their tokens there at once; their sessions end by themselves,
because each request asks for the membership, and their open pages are woken to ask.
"""

import logging
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from smtplib import SMTPException
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db.models import QuerySet

from accounts import audit, free_texts, identifiers, live, queries, tenancy
from accounts.caller import DASHBOARD, Caller, Role, check_manages, check_not_above, is_person
from accounts.errors import Conflict, Forbidden, LastOwner, NotFound, QuotaExceeded, wrong_field
from accounts.messages import message
from accounts.models import Invitation, Membership, Organization, Token, User
from accounts.queries import InvitationView, MemberView, invitation_view, member_view
from accounts.tenancy.rls import JoinedOrganization

log = logging.getLogger(__name__)

DAYS: Final = 7  # until an invitation ends
SECRET_BYTES: Final = 32


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
    check_manages(caller=caller)
    check_not_above(caller=caller, role=role)
    inviter = _person(caller)
    address = email.strip().lower()
    try:
        validate_email(address)
    except ValidationError as error:
        detail = "This is not an e-mail address."
        raise wrong_field(pointer="/email", detail=detail, code="email") from error
    free_texts.check(texts={"/email": address})
    with audit.unit_of(caller):
        organization = _locked_organization(caller.organization_id)
        check_room(organization=organization)
        _end_earlier(organization, address, now=now)
        row = Invitation(organization=organization, email=address, role=role, invited_by=inviter)
        secret = _store(row, now=now)
        _note_invitation("created", row, caller=caller)
    return _send(row, secret=secret)


def resend_invitation(*, caller: Caller, invitation_id: UUID, now: datetime) -> SentInvitation:
    """Send a pending invitation again with a new link for seven days; the old link ends.

    It is the caller's from now on. Raises NotFound, RoleNotSufficient.
    """
    inviter = _person(caller)
    with audit.unit_of(caller):
        row = _locked_invitation(caller, invitation_id)
        check_not_above(caller=caller, role=Role(row.role))
        row.invited_by = inviter
        secret = _store(row, now=now)
        _note_invitation("resent", row, caller=caller)
    return _send(row, secret=secret)


def revoke_invitation(*, caller: Caller, invitation_id: UUID, now: datetime) -> InvitationView:
    """Withdraw a pending invitation. Raises NotFound, RoleNotSufficient."""
    with audit.unit_of(caller):
        row = _locked_invitation(caller, invitation_id)
        row.revoked_at = now
        row.save(update_fields=["revoked_at"])
        _note_invitation("revoked", row, caller=caller)
    return invitation_view(row)


def accept_invitation(*, user_id: UUID, secret: str, now: datetime) -> JoinedOrganization:
    """Take the signed-in person in. Raises NotFound when it is not open or not theirs.

    Somebody who already belongs keeps the role they have.
    """
    user = User.objects.get(pk=user_id)
    with tenancy.walled(organization_id=queries.inviting(secret=secret)):
        found = queries.find_open(rows=queries.pending(), secret=secret, now=now)
    with audit.unit_of(found.organization):
        pending = queries.pending().select_for_update(of=("self",))
        row = queries.find_open(rows=pending, secret=secret, now=now)
        if not user.is_active or row.email.lower() != user.email.lower():
            raise queries.not_open()
        organization = _locked_organization(row.organization_id)
        if not Membership.objects.filter(organization=organization, user=user).exists():
            check_room(organization=organization)
            Membership.objects.create(
                organization=organization, user=user, role=row.role, created_at=now
            )
        row.accepted_at = now
        row.save(update_fields=["accepted_at"])
        guest = audit.Person(user_id=user_id, source_interface=DASHBOARD)
        _note_invitation("accepted", row, caller=guest)
    return queries.organization_of(user_id=user_id, slug=row.organization.slug)


def _note_invitation(verb: str, row: Invitation, *, caller: audit.Actor) -> None:
    details = {"role": row.role}
    audit.append(f"invitation.{verb}", "invitation", str(row.id), caller=caller, details=details)


def _end_earlier(organization: Organization, address: str, *, now: datetime) -> None:
    """End invitations of an address that have expired. Raises Conflict for one that has not."""
    members = Membership.objects.filter(organization=organization)
    if members.filter(user__email__iexact=address).exists():
        raise Conflict(
            detail=message("{address} is a member already.", address=address),
            hint="Change the role instead.",
        )
    earlier = Invitation.objects.filter(
        organization=organization, email__iexact=address, accepted_at=None, revoked_at=None
    )
    if earlier.filter(expires_at__gt=now).exists():
        raise Conflict(
            detail=message("{address} has been invited already.", address=address),
            hint="Send the invitation again, or revoke it first.",
        )
    earlier.update(revoked_at=now)


def _store(row: Invitation, *, now: datetime) -> str:
    secret = secrets.token_urlsafe(SECRET_BYTES)
    row.digest = queries.digest_of(secret=secret)
    row.created_at = now
    row.expires_at = now + timedelta(days=DAYS)
    row.save()
    return secret


def _send(row: Invitation, *, secret: str) -> SentInvitation:
    view = invitation_view(row)
    link = f"{settings.BASE_URL}/invite/{secret}"
    name, language = row.organization.name, row.organization.language
    context = {"organization": name, "invitation": view, "link": link, "days": DAYS}
    try:
        mailed = live.send_template("invitation", language=language, to=view.email, context=context)
    except (SMTPException, OSError) as error:
        log.warning("An invitation was not mailed: %s", type(error).__name__)
        mailed = False
    return SentInvitation(invitation=view, link=link, mailed=mailed)


def _locked_invitation(caller: Caller, invitation_id: UUID) -> Invitation:
    check_manages(caller=caller)
    row = (
        queries.pending()
        .select_for_update(of=("self",))
        .select_related("invited_by", "organization")
        .filter(organization_id=caller.organization_id, pk=invitation_id)
        .first()
    )
    if row is None:
        raise NotFound(
            detail="There is no such pending invitation.", hint="Check the open invitations."
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


def hold_member(*, caller: Caller, ref: str) -> MemberView:
    """Return a member by id or e-mail address, who cannot be taken out before the open unit ends.

    Raises NotFound.
    """
    by_id = identifiers.as_uuid(text=ref)
    wanted = {"user__email": ref.strip().lower()} if by_id is None else {"user_id": by_id}
    rows = Membership.objects.select_for_update(of=("self",))
    return member_view(_member(rows, caller, **wanted))


def _member(rows: QuerySet[Membership], caller: Caller, **wanted: Any) -> Membership:
    found = rows.filter(organization_id=caller.organization_id, **wanted).select_related("user")
    row = found.first()
    if row is None:
        raise NotFound(
            detail="There is no such member.", hint="The list of members shows who belongs."
        )
    return row


def change_role(*, caller: Caller, user_id: UUID, role: Role) -> MemberView:
    """Give a member another role.

    Raises RoleNotSufficient above one's own role, LastOwner, NotFound.
    """
    check_manages(caller=caller)
    check_not_above(caller=caller, role=role)
    with audit.unit_of(caller):
        row = _locked_member(caller, user_id)
        before = Role(row.role)
        check_not_above(caller=caller, role=before)
        if role is not Role.OWNER:
            _check_not_last_owner(row)
        row.role = role
        row.save(update_fields=["role"])
        details = {"from": before.value, "to": role.value}
        audit.append("member.role_changed", "user", str(user_id), caller=caller, details=details)
        live.wake_pages_of(user_id=user_id)
    return member_view(row)


def remove_member(*, caller: Caller, user_id: UUID, now: datetime) -> MemberView:
    """Take a member out and revoke their tokens here.

    Raises RoleNotSufficient, LastOwner, NotFound.
    """
    check_manages(caller=caller)
    with audit.unit_of(caller):
        row = _locked_member(caller, user_id)
        check_not_above(caller=caller, role=Role(row.role))
        return _take_out(row, "member.removed", caller=caller, now=now)


def leave(*, caller: Caller, now: datetime) -> MemberView:
    """Take oneself out, in person. Raises Forbidden for credentials, LastOwner."""
    if caller.user_id is None or not is_person(caller=caller):
        raise Forbidden(
            detail="Only a person can leave an organization.", hint="Sign in on the dashboard."
        )
    with audit.unit_of(caller):
        row = _locked_member(caller, caller.user_id)
        return _take_out(row, "member.left", caller=caller, now=now)


def _locked_member(caller: Caller, user_id: UUID) -> Membership:
    Organization.objects.select_for_update().get(pk=caller.organization_id)
    return _member(Membership.objects.all(), caller, user_id=user_id)


def _take_out(row: Membership, act: str, *, caller: Caller, now: datetime) -> MemberView:
    _check_not_last_owner(row)
    view = member_view(row)
    audit.append(act, "user", str(view.user_id), caller=caller, details={"role": row.role})
    Token.objects.filter(
        organization_id=row.organization_id, user_id=row.user_id, revoked_at=None
    ).update(revoked_at=now)
    row.delete()
    live.wake_pages_of(user_id=view.user_id)
    return view


def _check_not_last_owner(row: Membership) -> None:
    owners = Membership.objects.filter(organization_id=row.organization_id, role=Role.OWNER)
    if row.role == Role.OWNER and not owners.exclude(pk=row.pk).exists():
        raise LastOwner(
            detail="An organization keeps at least one owner.",
            hint="Make somebody else owner first.",
        )


def check_room(*, organization: Organization) -> None:
    """Raise QuotaExceeded when the plan has no room for one more member."""
    limit = None if organization.plan is None else organization.plan.members
    if limit is None or Membership.objects.filter(organization=organization).count() < limit:
        return
    raise QuotaExceeded(
        detail=message(
            "The plan of {name} has room for {most} members.", name=organization.name, most=limit
        ),
        hint="Remove a member or choose a larger plan.",
    )
