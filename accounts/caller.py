"""The caller of one request: who asks, for which organization, with which rights.

Made once at the edge by `accounts.authentication`, the same for REST, MCP, sockets and pages, and
passed down unchanged; nothing below an edge looks at a request again. What a role may do inside an
organization, and hand to others, follows from it without a database. A credential narrows its
owner's role and never widens it: `scopes_of` is applied when a caller is made, so a token made by
an admin who is now a viewer reads and no more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from uuid import UUID

from accounts.errors import Forbidden, InvalidInput, RoleNotSufficient, wrong_field
from accounts.messages import message


class Role(StrEnum):
    """A person's part in an organization, strongest first."""

    OWNER = "owner"
    ADMIN = "admin"
    STEWARD = "steward"
    MEMBER = "member"
    VIEWER = "viewer"


class TokenScope(StrEnum):
    """What a credential may be used for; it narrows a role and never widens it."""

    READ = "read"
    WRITE = "write"
    INDEX = "index"
    REVIEW = "review"  # decides as its person; for the command line, never for an agent's program
    ADMIN = "admin"


DASHBOARD: Final = "dashboard"  # the interface of whoever is signed in
ALL_SCOPES: frozenset[TokenScope] = frozenset(TokenScope)
CONTRIBUTES: Final = ALL_SCOPES - {TokenScope.ADMIN}
SCOPES: Final[Mapping[Role, frozenset[TokenScope]]] = {
    Role.OWNER: ALL_SCOPES,
    Role.ADMIN: ALL_SCOPES,
    Role.STEWARD: CONTRIBUTES,
    Role.MEMBER: CONTRIBUTES,
    Role.VIEWER: frozenset({TokenScope.READ}),
}
MANAGERS: Final = frozenset({Role.OWNER, Role.ADMIN})
_STRONGEST_FIRST: Final = tuple(Role)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """An organization that work is done for: its id, and the schema that holds what it owns."""

    organization_id: UUID
    slug: str
    schema_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Someone authenticated, inside exactly one organization."""

    user_id: UUID | None  # None for a service token
    organization_id: UUID
    organization_slug: str
    schema_name: str
    role: Role
    scopes: frozenset[TokenScope]
    bound_projects: tuple[UUID, ...] | None  # None: all its role reaches; else these, maybe none
    source_interface: str
    agent: str = ""
    token_id: UUID | None = None
    newly_seen: bool = False  # first request of a token in each ten minutes

    @property
    def tenant(self) -> Tenant:
        """The caller's organization, to be entered."""
        return Tenant(
            organization_id=self.organization_id,
            slug=self.organization_slug,
            schema_name=self.schema_name,
        )


def may(*, caller: Caller, scope: TokenScope) -> bool:
    """Say whether the caller's credential holds `scope`; no scope implies another."""
    return scope in caller.scopes


def principal(*, caller: Caller) -> UUID | None:
    """Return who stands behind what the caller does: the person, else the token."""
    return caller.user_id or caller.token_id


def is_person(*, caller: Caller) -> bool:
    """Say whether a person acts in person: signed in, neither through a token nor as an agent."""
    return caller.user_id is not None and caller.token_id is None and not caller.agent


def decides_in_person(*, caller: Caller) -> bool:
    """Say whether a person decides: signed in, or by a token that they took for that."""
    is_lent = caller.user_id is not None and TokenScope.REVIEW in caller.scopes
    return is_lent or is_person(caller=caller)


def scopes_of(*, role: Role) -> frozenset[TokenScope]:
    """Return the scopes a role can lend to a credential."""
    return SCOPES[role]


def outranks(*, role: Role, other: Role) -> bool:
    """Say whether `role` is stronger than `other`; no role outranks itself."""
    return _STRONGEST_FIRST.index(role) < _STRONGEST_FIRST.index(other)


def manages(*, caller: Caller) -> bool:
    """Say whether the caller may manage people and the tokens of others.

    A credential bound to projects reaches nothing organization-wide.
    """
    may_administer = may(caller=caller, scope=TokenScope.ADMIN)
    return caller.role in MANAGERS and may_administer and caller.bound_projects is None


def check_manages(*, caller: Caller) -> None:
    """Raise RoleNotSufficient unless the caller manages the organization."""
    if not manages(caller=caller):
        raise RoleNotSufficient(
            detail="Managing people needs the role owner or admin.",
            hint="Ask an owner or admin; a token needs the scope admin and no bound projects.",
        )


def check_not_above(*, caller: Caller, role: Role) -> None:
    """Raise RoleNotSufficient when `role` is stronger than the caller's own."""
    if outranks(role=role, other=caller.role):
        raise RoleNotSufficient(
            detail=message(
                "As {own} you cannot give, change or remove the role {role}.",
                own=caller.role,
                role=role,
            ),
            hint="Ask an owner.",
        )


def check_holds_tokens(*, caller: Caller) -> UUID:
    """Return whose tokens the caller handles.

    Raises Forbidden for credentials that are not a person's, or lack the scope admin.
    """
    if caller.user_id is None:
        raise Forbidden(
            detail="A service token cannot handle tokens.",
            hint="Sign in on the dashboard, or use a personal token with the scope admin.",
        )
    if not is_person(caller=caller) and not may(caller=caller, scope=TokenScope.ADMIN):
        raise Forbidden(
            detail="This token cannot handle tokens.",
            hint="Sign in on the dashboard, or use a token with the scope admin.",
        )
    return caller.user_id


def check_lends(
    *, caller: Caller, scopes: frozenset[TokenScope], projects: tuple[UUID, ...] | None
) -> None:
    """Check that a new credential would hold no more than the caller does.

    Raises InvalidInput pointing at the scopes or the projects.
    """
    lendable = scopes_of(role=caller.role) & caller.scopes
    if not scopes:
        raise _refused("/scopes", "A token needs at least one scope.", _words(lendable))
    if not scopes <= lendable:
        surplus = _words(scopes - lendable)
        detail = message("You cannot give the scope {names}.", names=surplus)
        raise _refused("/scopes", detail, _words(lendable))
    if caller.bound_projects is None:
        return
    if projects is None or not set(projects) <= set(caller.bound_projects):
        fewer = (message("fewer"),)
        raise _refused("/projects", "The token would reach more projects than this one.", fewer)


def _refused(pointer: str, detail: str, possible: tuple[str, ...]) -> InvalidInput:
    hint = message("Possible: {names}.", names=possible)
    return wrong_field(pointer=pointer, detail=detail, hint=hint, code="not_yours_to_give")


def _words(scopes: frozenset[TokenScope]) -> tuple[TokenScope, ...]:
    return tuple(sorted(scopes))
