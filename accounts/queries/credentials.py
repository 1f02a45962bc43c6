"""API tokens as values: the list people see, and the check of a presented token.

`verify` is on the path of every request: one query through a door of the second wall, and one keyed
hash. Nothing is cached, so what is revoked, expired or removed is refused at the next request.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Q

from accounts import peppers, rights, tenancy, token_format
from accounts.caller import Caller, Role, TokenScope
from accounts.errors import InvalidToken
from accounts.models import Membership, Token
from accounts.tenancy import security_definers
from accounts.tenancy.security_definers import Presented

SILENT_AFTER: Final = timedelta(hours=24)
CREATE_HINT: Final = "Create a new one in the settings of the organization, under Tokens."


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenView:
    """A token without its secret. `projects` is None when it is not bound to any.

    `last_used_hook` is the version of the hook script that called last, None where none has.
    """

    id: UUID
    name: str
    kind: token_format.TokenKind
    last_four: str
    scopes: tuple[TokenScope, ...]
    projects: tuple[UUID, ...] | None
    source_interface: str
    user_id: UUID
    user_name: str
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    last_used_ip: str | None
    last_used_agent: str
    last_used_hook: int | None
    replaced_by: UUID | None
    revoked_at: datetime | None


def list_tokens(*, caller: Caller) -> tuple[TokenView, ...]:
    """Return the tokens the caller may see, newest first: all for managers, else one's own."""
    rows = Token.objects.filter(visible(caller=caller)).select_related("user")
    with tenancy.walled(organization_id=caller.organization_id):
        return tuple(token_view(row) for row in rows.order_by("-created_at", "id"))


def any_silent(*, caller: Caller, now: datetime) -> bool:
    """Say whether an agent of the caller's own has called before, and not for a day."""
    mine = Token.objects.filter(
        own_tokens(caller=caller), revoked_at=None, replaced_by=None, expires_at__gt=now
    )
    with tenancy.walled(organization_id=caller.organization_id):
        return mine.filter(last_used_at__lt=now - SILENT_AFTER).exists()


def is_silent(*, token: TokenView, now: datetime) -> bool:
    """Say whether a token has called before, and not for a day."""
    last = token.last_used_at
    return token.replaced_by is None and last is not None and last < now - SILENT_AFTER


def visible(*, caller: Caller) -> Q:
    """Return the predicate for the tokens a caller may see; a credential sees at least itself."""
    inside = Q(organization_id=caller.organization_id)
    if rights.manages(caller=caller):
        return inside
    if caller.token_id is not None and TokenScope.ADMIN not in caller.scopes:
        return inside & Q(id=caller.token_id)
    return inside & own_tokens(caller=caller)


def own_tokens(*, caller: Caller) -> Q:
    """Return the predicate for the caller's own tokens, within what its credential reaches."""
    mine = Q(organization_id=caller.organization_id, user_id=caller.user_id)
    if caller.bound_projects is not None:
        mine &= Q(projects__contained_by=list(caller.bound_projects))
    return mine


def own_token_ids(*, caller: Caller) -> frozenset[UUID]:
    """Return the tokens that the caller's person has had, within what the credential reaches."""
    with tenancy.walled(organization_id=caller.organization_id):
        return frozenset(
            Token.objects.filter(own_tokens(caller=caller)).values_list("id", flat=True)
        )


def token_ids_of(*, caller: Caller, user_id: UUID) -> frozenset[UUID]:
    """Return every token that a person has had in the organization, whatever the caller reaches.

    It is for what holds for a person as a whole; never show what comes back.
    """
    with tenancy.walled(organization_id=caller.organization_id):
        rows = Token.objects.filter(organization_id=caller.organization_id, user_id=user_id)
        return frozenset(rows.values_list("id", flat=True))


def holders(*, token_ids: frozenset[UUID]) -> dict[UUID, UUID]:
    """Return whose tokens these are, of those that are tokens of the entered organization."""
    organization_id = tenancy.current().organization_id
    rows = Token.objects.filter(pk__in=token_ids, organization_id=organization_id)
    with tenancy.walled(organization_id=organization_id):
        return dict(rows.order_by().values_list("id", "user_id"))


def verify(*, text: str, agent: str = "", now: datetime) -> tuple[Caller, Presented]:
    """Check a presented token against what is stored; return who calls, and what is stored.

    `agent` names the software; the token's name stands in where it is empty. Raises UnknownToken,
    and InvalidToken for one that has ended: only who holds the whole secret learns why.
    """
    parsed = token_format.parse(text=text)
    row = security_definers.present_token(lookup=parsed.lookup_id)
    if row is None or not peppers.is_of(stored=row.digest, text=parsed.text):
        raise token_format.UnknownToken(detail="This token does not exist.", hint=CREATE_HINT)
    return _caller(row, role=_role_alive(row, now=now), agent=agent), row


def still_holds(*, caller: Caller, now: datetime) -> bool:
    """Say whether a caller's token and role are still there, for calls that wait."""
    belongs = Membership.objects.filter(
        organization_id=caller.organization_id, role=caller.role, user__is_active=True
    )
    with tenancy.walled(organization_id=caller.organization_id):
        if caller.token_id is None:
            return caller.user_id is not None and belongs.filter(user_id=caller.user_id).exists()
        holder = Token.objects.filter(pk=caller.token_id, revoked_at=None, expires_at__gt=now)
        return belongs.filter(user_id__in=holder.values("user_id")).exists()


def state_of(*, token: TokenView, now: datetime) -> str:
    """Say where a token stands: "active", "rotated" (still valid), "expired" or "revoked"."""
    if token.revoked_at is not None:
        return "revoked"
    if token.expires_at <= now:
        return "expired"
    return "active" if token.replaced_by is None else "rotated"


def token_view(row: Token) -> TokenView:
    """Return a row as a value; `user` should be loaded."""
    return TokenView(
        id=row.id,
        name=row.name,
        kind=token_format.TokenKind(row.kind),
        last_four=row.last_four,
        scopes=tuple(scope for scope in TokenScope if scope in row.scopes),
        projects=None if row.projects is None else tuple(row.projects),
        source_interface=row.source_interface,
        user_id=row.user_id,
        user_name=row.user.name or row.user.email,
        created_at=row.created_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        last_used_ip=row.last_used_ip,
        last_used_agent=row.last_used_agent,
        last_used_hook=row.last_used_hook,
        replaced_by=row.replaced_by_id,
        revoked_at=row.revoked_at,
    )


def _role_alive(row: Presented, *, now: datetime) -> Role:
    if row.revoked_at is not None:
        raise InvalidToken(detail="This token was revoked.", hint=CREATE_HINT)
    if row.expires_at <= now:
        raise InvalidToken(detail="This token has expired.", hint=CREATE_HINT)
    if row.role is None or not row.is_active or not row.is_ready:
        raise InvalidToken(
            detail="The owner of this token no longer belongs to the organization.",
            hint="Use a token of someone who does.",
        )
    return Role(row.role)


def _caller(row: Presented, *, role: Role, agent: str) -> Caller:
    scopes = frozenset(TokenScope(scope) for scope in row.scopes)
    return Caller(
        user_id=row.user_id if row.kind == token_format.TokenKind.PERSON else None,
        organization_id=row.organization_id,
        organization_slug=row.organization_slug,
        schema_name=row.schema_name,
        role=role,
        scopes=scopes & rights.scopes_of(role=role),
        bound_projects=None if row.projects is None else tuple(row.projects),
        source_interface=row.source_interface,
        agent=agent or row.name,
        token_id=row.id,
    )
