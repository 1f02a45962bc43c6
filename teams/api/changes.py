"""The change feed over REST, with a long poll: how agents follow an organization."""

from dataclasses import asdict
from typing import Any, Final

from accounts.api import waiting
from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.shapes import Field, Text, Whole
from accounts.caller import TokenScope
from teams import queries

FIELDS: Final = (
    Field(
        name="after",
        shape=Whole(smallest=0, largest=10**18 - 1),
        says="`next_after` of the answer before; 0 begins at the oldest.",
        default=0,
    ),
    Field(name="limit", shape=Whole(smallest=1, largest=200), says="At most.", default=50),
    Field(
        name="wait",
        shape=Whole(smallest=0, largest=waiting.LONGEST_WAIT),
        says="Seconds to wait for something new, 0 to 30.",
        default=0,
    ),
    Field(name="project", shape=Text(largest=64, smallest=1), says="Only of this project."),
)
EXAMPLE: Final[dict[str, Any]] = {
    "items": [
        {
            "id": 41,
            "kind": "memory.created",
            "object_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a77",
            "project_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a10",
            "actor_user": None,
            "actor_name": "Claude Code on the laptop",
            "source_interface": "claude-code",
            "summary": {"citation": "Redis must be warm before…", "type": "gotcha"},
            "created_at": "2026-11-20T12:00:00Z",
        }
    ],
    "next_after": 41,
}


def index(ask: Ask) -> Answer:
    """Return what happened after a change, oldest first; wait for something when asked to."""
    query = ask.query
    found = waiting.until(
        look=lambda: queries.changes_since(
            caller=ask.caller,
            after=query["after"],
            limit=query["limit"],
            project=query["project"],
        ),
        seconds=query["wait"],
        check=lambda: waiting.check_holds(caller=ask.caller),
    )
    changes = found or ()
    newest = changes[-1].id if changes else query["after"]
    return Answer(body={"items": [asdict(view) for view in changes], "next_after": newest})


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="changes",
        name="list_changes",
        tag="changes",
        summary="Follow what happens",
        says=(
            "The ordered feed of changes the caller may see. Keep `next_after` and send it as "
            "`after`; nothing is missed and nothing comes twice."
        ),
        scope=TokenScope.READ,
        run=index,
        query=FIELDS,
        replies=(Reply(status=200, says="Oldest first.", schema="Changes", example=EXAMPLE),),
    ),
)
