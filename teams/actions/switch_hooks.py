"""Switch what gives memory back in a project, each hook by itself; off stays off."""

from collections.abc import Mapping

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput
from accounts.sentences import sentence
from teams.actions.projects import hold_project, tell
from teams.models import Project
from teams.permissions import require
from teams.queries import hooks
from teams.queries.hooks import SWITCHED, Hook, Hooks
from teams.queries.people import check_unbound
from teams.roles import Act


def switch_hooks(*, caller: Caller, ref: str, switched: Mapping[Hook, bool]) -> Hooks:
    """Switch some hooks of a project on or off; the others stay as they are.

    Raises InvalidInput where nothing is named, NotFound, RoleNotSufficient, NotBoundToProject.
    """
    require(caller=caller, act=Act.MANAGE_PROJECTS)
    if not switched:
        raise InvalidInput(
            detail="There is nothing to change.",
            hint=sentence("Send one of: {names}.", names=tuple(Hook)),
        )
    with tenancy.unit():
        row = hold_project(caller=caller, ref=ref)
        check_unbound(caller=caller)
        _put(row, switched)
        row.save(update_fields=["settings"])
        tell(caller=caller, row=row, kind="project.changed", fields=(SWITCHED,))
        return hooks.of_project(project=row)


def _put(row: Project, switched: Mapping[Hook, bool]) -> None:
    """Keep what is other than usual, and nothing else."""
    usual = hooks.of_project(project=None)
    now = {**hooks.of_project(project=row), **switched}
    other = {hook.value: is_on for hook, is_on in now.items() if is_on != usual[hook]}
    kept = {name: value for name, value in row.settings.items() if name != SWITCHED}
    row.settings = {**kept, SWITCHED: other} if other else kept
