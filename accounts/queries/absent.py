"""Who stands behind work that goes on after the request that began it.

What a person or a token set going is done with the rights they have now: who has left, or a token
that was revoked or has expired, has none any more.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts import rights, tenancy
from accounts.caller import Caller, Role, TokenScope
from accounts.errors import Forbidden
from accounts.models import Membership, Token


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginner:
    """Who began: a person, a token, or a person's token; and with which software."""

    user_id: UUID | None
    token_id: UUID | None
    agent: str
    source_interface: str


def caller_of(*, beginner: Beginner, now: datetime) -> Caller:
    """Return who began as a caller of the entered organization. Raises Forbidden when gone.

    Never a person in person: what goes on without them is an agent's work. A person stays who they
    are when the token they used has ended; a token that is no person's does not.
    """
    tenant = tenancy.current()
    with tenancy.walled(organization_id=tenant.organization_id):
        token = _token(beginner.token_id, now)
        user_id = beginner.user_id or (token.user_id if token is not None else None)
        role = None if user_id is None else _role(tenant.organization_id, user_id)
    if role is None:
        raise Forbidden(
            detail="Who began this does not belong to the organization any more.",
            hint="Begin it again with a credential of somebody who does.",
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


def check_token(*, beginner: Beginner, now: datetime) -> None:
    """Check that the token with which something was begun, if one was, is still good.

    Raises Forbidden when it was revoked or has expired.
    """
    with tenancy.walled(organization_id=tenancy.current().organization_id):
        is_good = beginner.token_id is None or _token(beginner.token_id, now) is not None
    if not is_good:
        raise Forbidden(
            detail="The token with which this was begun is not good any more.",
            hint="Begin it again with a credential of somebody who does.",
        )


def _token(token_id: UUID | None, now: datetime) -> Token | None:
    if token_id is None:
        return None
    return Token.objects.filter(pk=token_id, revoked_at=None, expires_at__gt=now).first()


def _role(organization_id: UUID, user_id: UUID) -> str | None:
    rows = Membership.objects.filter(
        organization_id=organization_id, user_id=user_id, user__is_active=True
    )
    return rows.values_list("role", flat=True).first()
