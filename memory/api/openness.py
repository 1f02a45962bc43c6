"""Opening and closing projects over REST."""

from dataclasses import asdict
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.caller import TokenScope
from memory.api import inputs
from memory.records.actions import project_access
from teams.api.projects import EXAMPLE
from teams.queries import ProjectView


def open_(ask: Ask) -> Answer:
    """Let everyone of the organization into a project."""
    return _shown(project_access.open_project(caller=ask.caller, ref=ask.path["ref"]))


def close(ask: Ask) -> Answer:
    """Keep a project to those added to it."""
    return _shown(project_access.close_project(caller=ask.caller, ref=ask.path["ref"]))


def _shown(view: ProjectView) -> Answer:
    return Answer(body=asdict(view), version=view.version)


def _endpoint(verb: str, summary: str, says: str, run: Any) -> Endpoint:
    return Endpoint(
        method="POST",
        path=f"projects/{{ref}}/{verb}",
        name=f"{verb}_project",
        tag="projects",
        summary=summary,
        says=says,
        scope=TokenScope.ADMIN,
        run=run,
        body=inputs.NOTHING,
        idempotent=True,
        replies=(
            Reply(status=200, says="The project as it is now.", schema="Project", example=EXAMPLE),
        ),
    )


ENDPOINTS: Final = (
    _endpoint(
        "open",
        "Open a project to everyone of the organization",
        "Owners and admins do. All that is in it is seen by everyone, also what was stored before.",
        open_,
    ),
    _endpoint(
        "close",
        "Close a project to all but those added to it",
        "Owners and admins do. What is shared more widely leaves the project first, else 409.",
        close,
    ),
)
