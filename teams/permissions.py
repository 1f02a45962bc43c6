"""Refuse what a caller's role or credential does not allow."""

from accounts.caller import Caller, Role, TokenScope
from teams.errors import RoleNotSufficient
from teams.roles import Act, allows

READ_ACTS = frozenset({Act.READ})


def require(*, caller: Caller, act: Act) -> None:
    """Return when the caller may do this. Raises RoleNotSufficient saying who may."""
    needed = TokenScope.READ if act in READ_ACTS else TokenScope.WRITE
    if needed not in caller.scopes:
        raise RoleNotSufficient(
            detail=f"This credential has no {needed} scope.",
            hint=f"Create a token with the {needed} scope.",
        )
    if not allows(role=caller.role, act=act):
        able = ", ".join(role.value for role in Role if allows(role=role, act=act))
        raise RoleNotSufficient(
            detail=f"Your role, {caller.role.value}, may not do this.",
            hint=f"It takes one of these roles: {able}.",
        )
