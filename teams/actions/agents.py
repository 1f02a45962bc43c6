"""Say in the change feed that an agent is at work, so that people see it connect."""

from accounts import tenancy
from accounts.caller import Caller
from teams import changes


def note_agent(*, caller: Caller) -> None:
    """Append `agent.seen` for a token seen the first time in ten minutes; else do nothing.

    It belongs to the project of a token bound to one, else to the organization.
    """
    if caller.token_id is None or not caller.newly_seen:
        return
    bound = caller.bound_projects
    project_id = bound[0] if bound is not None and len(bound) == 1 else None
    with tenancy.unit():
        changes.append(
            kind="agent.seen",
            object_id=caller.token_id,
            project_id=project_id,
            audience=project_id or caller.organization_id,
            caller=caller,
            summary={"agent": caller.agent},
        )
