"""Refuse what a caller's role or credential does not allow."""

from accounts.caller import Caller, Role, TokenScope
from accounts.sentences import sentence
from teams.errors import RoleNotSufficient
from teams.roles import Act, allows

READ_ACTS = frozenset({Act.READ})


def require(*, caller: Caller, act: Act) -> None:
    """Return when the caller may do this. Raises RoleNotSufficient saying who may."""
    needed = TokenScope.READ if act in READ_ACTS else TokenScope.WRITE
    if needed not in caller.scopes:
        raise RoleNotSufficient(
            detail=sentence("This credential has no {scope} scope.", scope=needed),
            hint=sentence("Create a token with the {scope} scope.", scope=needed),
        )
    if not allows(role=caller.role, act=act):
        able = tuple(role for role in Role if allows(role=role, act=act))
        raise RoleNotSufficient(
            detail=sentence("Your role, {role}, may not do this.", role=caller.role),
            hint=sentence("It takes one of these roles: {roles}.", roles=able),
        )
