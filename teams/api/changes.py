"""The change feed over REST, with a long poll: how agents follow an organization."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from accounts.api import jobs
from accounts.api.endpoints import Call, get
from accounts.api.schemas import Name, Query, Result
from teams import queries


class ChangesQuery(Query):
    """Which changes are asked for."""

    after: int = Field(
        0,
        ge=0,
        le=10**18 - 1,
        description="`next_after` of the answer before; 0 begins at the oldest.",
    )
    limit: int = Field(50, ge=1, le=200, description="At most.")
    wait: int = Field(
        0, ge=0, le=jobs.LONGEST_WAIT, description="Seconds to wait for something new, 0 to 30."
    )
    project: Name | None = Field(None, max_length=64, description="Only of this project.")


class Change(Result):
    """Something that happened."""

    id: int
    kind: str
    object_id: UUID
    project_id: UUID | None
    actor_user: UUID | None
    actor_name: str
    source_interface: str
    summary: dict[str, Any]
    created_at: datetime


class ChangeFeed(Result):
    """Oldest first."""

    items: tuple[Change, ...]
    next_after: int


@get("changes", tag="changes", answer=ChangeFeed)
def list_changes(call: Call, query: ChangesQuery) -> dict[str, Any]:
    """Follow what happens.

    The ordered feed of changes the caller may see. Keep `next_after` and send it as `after`;
    nothing is missed and nothing comes twice.
    """
    found = jobs.until(
        look=lambda: queries.changes_since(
            caller=call.caller, after=query.after, limit=query.limit, project=query.project
        ),
        seconds=query.wait,
        check=lambda: jobs.check_holds(caller=call.caller),
    )
    changes = found or ()
    return {"items": changes, "next_after": changes[-1].id if changes else query.after}
