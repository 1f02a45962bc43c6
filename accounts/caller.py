"""The caller of one request: who asks, for which organization, with which rights.

Made once at the edge by `accounts.authentication`, the same for REST, MCP, sockets and pages, and
passed down unchanged; nothing below an edge looks at a request again.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from uuid import UUID


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
    ADMIN = "admin"


DASHBOARD: Final = "dashboard"  # the interface of whoever is signed in
ALL_SCOPES: frozenset[TokenScope] = frozenset(TokenScope)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """An organization that work is done for: its id, and the schema that holds what it owns."""

    organization_id: UUID
    slug: str
    schema_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Someone authenticated, inside exactly one organization.

    `user_id` is None for a service token; `bound_projects` is None when the credential reaches
    every project its role reaches, and a tuple (possibly empty) when it is bound to those.
    `newly_seen` is True for the first request of a token in each ten minutes.
    """

    user_id: UUID | None
    organization_id: UUID
    organization_slug: str
    schema_name: str
    role: Role
    scopes: frozenset[TokenScope]
    bound_projects: tuple[UUID, ...] | None
    source_interface: str
    agent: str = ""
    token_id: UUID | None = None
    newly_seen: bool = False

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
