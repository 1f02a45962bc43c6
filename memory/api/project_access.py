"""Opening and closing projects over REST."""

from accounts.api.endpoints import Call, post
from accounts.api.schemas import Nothing
from accounts.caller import TokenScope
from memory.records import actions
from teams.api.projects import Project
from teams.queries import ProjectView


@post("projects/{ref}/open", tag="projects", scope=TokenScope.ADMIN, answer=Project)
def open_project(call: Call, body: Nothing) -> ProjectView:
    """Open a project to everyone of the organization.

    Owners and admins do. All that is in it is seen by everyone, also what was stored before.
    """
    return actions.open_project(caller=call.caller, ref=call.ref)


@post("projects/{ref}/close", tag="projects", scope=TokenScope.ADMIN, answer=Project)
def close_project(call: Call, body: Nothing) -> ProjectView:
    """Close a project to all but those added to it.

    Owners and admins do. What is shared more widely leaves the project first, else 409.
    """
    return actions.close_project(caller=call.caller, ref=call.ref)
