"""Who the server takes the caller for: the first call of every new connection."""

from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply

EXAMPLE: Final[dict[str, Any]] = {
    "organization": {"id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a00", "slug": "home"},
    "role": "owner",
    "scopes": ["index", "read", "write"],
    "projects": None,
    "user_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a01",
    "token_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a78",
    "source_interface": "claude-code",
    "agent": "Claude Code on the laptop",
}


def me(ask: Ask) -> Answer:
    """Return the caller."""
    caller = ask.caller
    return Answer(
        body={
            "organization": {"id": caller.organization_id, "slug": caller.organization_slug},
            "role": caller.role,
            "scopes": sorted(caller.scopes),
            "projects": caller.bound_projects,
            "user_id": caller.user_id,
            "token_id": caller.token_id,
            "source_interface": caller.source_interface,
            "agent": caller.agent,
        }
    )


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="me",
        name="me",
        tag="me",
        summary="Say who I am",
        says="The organization, role, scopes and bound projects of this credential.",
        scope=None,
        run=me,
        replies=(Reply(status=200, says="The caller.", schema="Me", example=EXAMPLE),),
    ),
)
