"""Which role may do what in an organization (spec 7.2). Pure."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from accounts.caller import Role


class Act(StrEnum):
    """Something a person or an agent does."""

    READ = "read"
    WRITE = "write"
    TEACH = "teach"
    CONFIRM = "confirm"
    DISPUTE = "dispute"
    SETTLE = "settle"
    VERIFY = "verify"
    RESTORE = "restore"
    MERGE = "merge"
    SET_GOVERNANCE = "set_governance"
    MANAGE_MEMBERS = "manage_members"
    MANAGE_PROJECTS = "manage_projects"
    MANAGE_SETTINGS = "manage_settings"
    MANAGE_TOKENS_OF_OTHERS = "manage_tokens_of_others"
    DELETE_ORGANIZATION = "delete_organization"
    BILLING = "billing"


_VIEWER = frozenset({Act.READ})
_MEMBER = _VIEWER | {Act.WRITE, Act.TEACH, Act.CONFIRM, Act.DISPUTE}
_STEWARD = _MEMBER | {Act.SETTLE, Act.VERIFY, Act.RESTORE, Act.MERGE, Act.SET_GOVERNANCE}
_ADMIN = _STEWARD | {
    Act.MANAGE_MEMBERS,
    Act.MANAGE_PROJECTS,
    Act.MANAGE_SETTINGS,
    Act.MANAGE_TOKENS_OF_OTHERS,
}

ALLOWED: Final[Mapping[Role, frozenset[Act]]] = {  # spec 7.2
    Role.VIEWER: _VIEWER,
    Role.MEMBER: _MEMBER,
    Role.STEWARD: _STEWARD,
    Role.ADMIN: _ADMIN,
    Role.OWNER: frozenset(Act),
}


def allows(*, role: Role, act: Act) -> bool:
    """Say whether a role may do something."""
    return act in ALLOWED[role]
