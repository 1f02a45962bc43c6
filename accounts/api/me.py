"""Who the server takes the caller for: the first call of every new connection."""

from typing import Any
from uuid import UUID

from accounts.api.endpoints import Call, get
from accounts.api.schemas import Result


class Organization(Result):
    """The organization of a credential."""

    id: UUID
    slug: str


class Me(Result):
    """The caller."""

    organization: Organization
    role: str
    scopes: tuple[str, ...]
    projects: tuple[UUID, ...] | None
    user_id: UUID | None
    token_id: UUID | None
    source_interface: str
    agent: str


@get("me", tag="me", scope=None, answer=Me)
def me(call: Call) -> dict[str, Any]:
    """Say who I am.

    The organization, role, scopes and bound projects of this credential.
    """
    caller = call.caller
    return {
        "organization": {"id": caller.organization_id, "slug": caller.organization_slug},
        "role": caller.role,
        "scopes": sorted(caller.scopes),
        "projects": caller.bound_projects,
        "user_id": caller.user_id,
        "token_id": caller.token_id,
        "source_interface": caller.source_interface,
        "agent": caller.agent,
    }
