"""Change what people may do in an organization, and take them out of it.

The organization's row is locked first, so two owners cannot demote one another at the same moment
and leave none. Taking somebody out ends their tokens there at once; their sessions end by
themselves, because each request asks for the membership, and their open pages are called to ask.
"""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from accounts import audit, identifiers, rights
from accounts.backend import bell
from accounts.caller import Caller, Role, is_person
from accounts.errors import Forbidden, LastOwner, NotFound
from accounts.models import Membership, Organization, Token
from accounts.queries.directory import MemberView, member_view


def hold_member(*, caller: Caller, ref: str) -> MemberView:
    """Return a member by id or e-mail address, who cannot be taken out before the open unit ends.

    Raises NotFound.
    """
    by_id = identifiers.as_uuid(text=ref)
    wanted = {"user__email": ref.strip().lower()} if by_id is None else {"user_id": by_id}
    row = (
        Membership.objects.select_for_update(of=("self",))
        .filter(organization_id=caller.organization_id, **wanted)
        .select_related("user")
        .first()
    )
    if row is None:
        raise _no_member()
    return member_view(row)


def change_role(*, caller: Caller, user_id: UUID, role: Role) -> MemberView:
    """Give a member another role.

    Raises RoleNotSufficient above one's own role, LastOwner, NotFound.
    """
    rights.check_manages(caller=caller)
    rights.check_not_above(caller=caller, role=role)
    with audit.caller_unit(caller=caller):
        row = _locked(caller, user_id)
        before = Role(row.role)
        rights.check_not_above(caller=caller, role=before)
        if role is not Role.OWNER:
            _check_not_last_owner(row)
        row.role = role
        row.save(update_fields=["role"])
        _note(caller, "role_changed", user_id, {"from": before.value, "to": role.value})
        bell.ring_person(user_id=user_id)
    return member_view(row)


def remove_member(*, caller: Caller, user_id: UUID, now: datetime) -> MemberView:
    """Take a member out and revoke their tokens here.

    Raises RoleNotSufficient, LastOwner, NotFound.
    """
    rights.check_manages(caller=caller)
    with audit.caller_unit(caller=caller):
        row = _locked(caller, user_id)
        rights.check_not_above(caller=caller, role=Role(row.role))
        _note(caller, "removed", user_id, {"role": row.role})
        return _take_out(row, now=now)


def leave(*, caller: Caller, now: datetime) -> MemberView:
    """Take oneself out, in person. Raises Forbidden for credentials, LastOwner."""
    if caller.user_id is None or not is_person(caller=caller):
        raise Forbidden(
            detail="Only a person can leave an organization.", hint="Sign in on the dashboard."
        )
    with audit.caller_unit(caller=caller):
        row = _locked(caller, caller.user_id)
        _note(caller, "left", caller.user_id, {"role": row.role})
        return _take_out(row, now=now)


def _note(caller: Caller, verb: str, user_id: UUID, details: Mapping[str, str]) -> None:
    audit.append(
        act=f"member.{verb}",
        object_type="user",
        object_id=str(user_id),
        caller=caller,
        details=details,
    )


def _locked(caller: Caller, user_id: UUID) -> Membership:
    Organization.objects.select_for_update().get(pk=caller.organization_id)
    row = (
        Membership.objects.filter(organization_id=caller.organization_id, user_id=user_id)
        .select_related("user")
        .first()
    )
    if row is None:
        raise _no_member()
    return row


def _no_member() -> NotFound:
    return NotFound(
        detail="There is no such member.", hint="The list of members shows who belongs."
    )


def _take_out(row: Membership, *, now: datetime) -> MemberView:
    _check_not_last_owner(row)
    view = member_view(row)
    Token.objects.filter(
        organization_id=row.organization_id, user_id=row.user_id, revoked_at=None
    ).update(revoked_at=now)
    row.delete()
    bell.ring_person(user_id=view.user_id)
    return view


def _check_not_last_owner(row: Membership) -> None:
    owners = Membership.objects.filter(organization_id=row.organization_id, role=Role.OWNER)
    if row.role == Role.OWNER and not owners.exclude(pk=row.pk).exists():
        raise LastOwner(
            detail="An organization keeps at least one owner.",
            hint="Make somebody else owner first.",
        )
