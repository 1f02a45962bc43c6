"""Organizations, the people in them, invitations and API tokens as values.

Who stands behind work that outlives its request is found here too (`caller_of`).

Whoever holds the link of an open invitation is told the organization and the address it is for;
everything else (unknown, used, revoked, expired, withdrawn right) is one and the same NotFound.

`verify` is on the path of every request: one query through a door of the second wall, and one keyed
hash. Nothing is cached, so what is revoked, expired or removed is refused at the next request.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import OuterRef, Q, QuerySet, Subquery

from accounts import peppers, tenancy, token_format
from accounts.caller import (
    DASHBOARD,
    MANAGERS,
    Caller,
    Role,
    TokenScope,
    check_manages,
    manages,
    outranks,
    scopes_of,
)
from accounts.errors import Forbidden, InvalidToken, NotFound
from accounts.models import Invitation, Membership, Organization, Token
from accounts.tenancy import rls
from accounts.tenancy.rls import JoinedOrganization, Presented

SILENT_AFTER: Final = timedelta(hours=24)
CREATE_HINT: Final = "Create a new one in the settings of the organization, under Tokens."


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberView:
    """A person in an organization."""

    user_id: UUID
    email: str
    name: str
    role: Role
    joined_at: datetime


def organizations_of(*, user_id: UUID) -> tuple[JoinedOrganization, ...]:
    """Return the organizations a person belongs to, the first joined first."""
    return tuple(row for row in rls.places_of(user_id=user_id) if row.ready)


def organization_of(*, user_id: UUID, slug: str) -> JoinedOrganization:
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
        scopes=scopes_of(role=organization.role),
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


def people(*, caller: Caller, ids: Iterable[UUID | None]) -> Mapping[UUID | None, str]:
    """Return display names for those of `ids` who belong to the caller's organization."""
    wanted = {one for one in ids if one is not None}
    if not wanted:
        return {}
    rows = _memberships(caller).filter(user_id__in=wanted).order_by("id")
    with tenancy.walled(organization_id=caller.organization_id):
        return {row.user_id: row.user.name or row.user.email for row in rows}


def _memberships(caller: Caller) -> QuerySet[Membership]:
    return Membership.objects.filter(organization_id=caller.organization_id).select_related("user")


def has_several_members(*, organization_id: UUID) -> bool:
    """Say whether an organization has more than one member."""
    rows = Membership.objects.filter(organization_id=organization_id).order_by()
    with tenancy.walled(organization_id=organization_id):
        return len(rows.values_list("pk", flat=True)[:2]) > 1


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
    scopes = scopes_of(role=Role(role))
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
    check_manages(caller=caller)
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
    organization_id = rls.invited_to(digests=tuple(peppers.digests(text=_keyed(secret))))
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
    if role is None or Role(role) not in MANAGERS:
        return False
    return not outranks(role=Role(row.role), other=Role(role))


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenView:
    """A token without its secret."""

    id: UUID
    name: str
    kind: token_format.TokenKind
    last_four: str
    scopes: tuple[TokenScope, ...]
    projects: tuple[UUID, ...] | None  # None: not bound to any
    source_interface: str
    user_id: UUID
    user_name: str
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    last_used_ip: str | None
    last_used_agent: str
    last_used_hook: int | None  # version of the hook script that called last, None: none has
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
    if manages(caller=caller):
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
    row = rls.present_token(lookup=parsed.lookup_id)
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
    made: dict[str, Any] = {
        "kind": token_format.TokenKind(row.kind),
        "scopes": tuple(scope for scope in TokenScope if scope in row.scopes),
        "projects": None if row.projects is None else tuple(row.projects),
        "user_name": row.user.name or row.user.email,
        "replaced_by": row.replaced_by_id,
    }
    names = TokenView.__dataclass_fields__.keys() - made
    return TokenView(**made, **{name: getattr(row, name) for name in names})


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
        scopes=scopes & scopes_of(role=role),
        bound_projects=None if row.projects is None else tuple(row.projects),
        source_interface=row.source_interface,
        agent=agent or row.name,
        token_id=row.id,
    )
