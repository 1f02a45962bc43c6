"""Who may do what in an organization: the table of roles and acts, and the refusal.

A role is a person's part; a token only narrows it (`accounts.caller`). Personal memories stay their
author's whatever the role: that is visibility, not an act.
"""

from enum import StrEnum

from accounts.caller import Caller, Role, TokenScope
from accounts.errors import RoleNotSufficient
from accounts.messages import message


class Act(StrEnum):
    """Everything that needs a permission."""

    READ = "read"
    WRITE = "write"
    CONFIRM = "confirm"
    SETTLE = "settle"
    RESTORE = "restore"
    MERGE = "merge"
    MANAGE_PROJECTS = "manage_projects"
    MANAGE_SETTINGS = "manage_settings"


_VIEWER = frozenset({Act.READ})
_MEMBER = _VIEWER | {Act.WRITE, Act.CONFIRM}
_STEWARD = _MEMBER | {Act.SETTLE, Act.RESTORE, Act.MERGE}
_ADMIN = _STEWARD | {Act.MANAGE_PROJECTS, Act.MANAGE_SETTINGS}

ACTS: dict[Role, frozenset[Act]] = {  # each role may also what the next one may
    Role.OWNER: _ADMIN,
    Role.ADMIN: _ADMIN,
    Role.STEWARD: _STEWARD,
    Role.MEMBER: _MEMBER,
    Role.VIEWER: _VIEWER,
}


def allows(*, role: Role, act: Act) -> bool:
    """Say whether a role may do something."""
    return act in ACTS[role]


def require(*, caller: Caller, act: Act) -> None:
    """Return when the caller may do this. Raises RoleNotSufficient saying who may."""
    needed = TokenScope.READ if act is Act.READ else TokenScope.WRITE
    if needed not in caller.scopes:
        raise RoleNotSufficient(
            detail=message("This credential has no {scope} scope.", scope=needed),
            hint=message("Create a token with the {scope} scope.", scope=needed),
        )
    if not allows(role=caller.role, act=act):
        able = tuple(role for role in Role if allows(role=role, act=act))
        raise RoleNotSufficient(
            detail=message("Your role, {role}, may not do this.", role=caller.role),
            hint=message("It takes one of these roles: {roles}.", roles=able),
        )
