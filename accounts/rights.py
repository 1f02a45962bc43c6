"""What a role may do inside an organization, and hand to others, without a database.

A credential narrows its owner's role and never widens it: `scopes_of` is applied when a caller is
made, so a token made by an admin who is now a viewer reads and no more.
"""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from accounts.caller import ALL_SCOPES, Caller, Role, TokenScope, is_person, may
from accounts.errors import Forbidden, InvalidInput, RoleNotSufficient, wrong_field
from accounts.messages import message

CONTRIBUTES: Final = frozenset({TokenScope.READ, TokenScope.WRITE, TokenScope.INDEX})
SCOPES: Final[Mapping[Role, frozenset[TokenScope]]] = {
    Role.OWNER: ALL_SCOPES,
    Role.ADMIN: ALL_SCOPES,
    Role.STEWARD: CONTRIBUTES,
    Role.MEMBER: CONTRIBUTES,
    Role.VIEWER: frozenset({TokenScope.READ}),
}
MANAGERS: Final = frozenset({Role.OWNER, Role.ADMIN})
_STRONGEST_FIRST: Final = tuple(Role)


def scopes_of(*, role: Role) -> frozenset[TokenScope]:
    """Return the scopes a role can lend to a credential."""
    return SCOPES[role]


def outranks(*, role: Role, other: Role) -> bool:
    """Say whether `role` is stronger than `other`; no role outranks itself."""
    return _STRONGEST_FIRST.index(role) < _STRONGEST_FIRST.index(other)


def manages(*, caller: Caller) -> bool:
    """Say whether the caller may manage people and the tokens of others.

    A credential bound to projects reaches nothing organization-wide.
    """
    may_administer = may(caller=caller, scope=TokenScope.ADMIN)
    return caller.role in MANAGERS and may_administer and caller.bound_projects is None


def check_manages(*, caller: Caller) -> None:
    """Raise RoleNotSufficient unless the caller manages the organization."""
    if not manages(caller=caller):
        raise RoleNotSufficient(
            detail="Managing people needs the role owner or admin.",
            hint="Ask an owner or admin; a token needs the scope admin and no bound projects.",
        )


def check_not_above(*, caller: Caller, role: Role) -> None:
    """Raise RoleNotSufficient when `role` is stronger than the caller's own."""
    if outranks(role=role, other=caller.role):
        raise RoleNotSufficient(
            detail=message(
                "As {own} you cannot give, change or remove the role {role}.",
                own=caller.role,
                role=role,
            ),
            hint="Ask an owner.",
        )


def check_holds_tokens(*, caller: Caller) -> UUID:
    """Return whose tokens the caller handles.

    Raises Forbidden for credentials that are not a person's, or lack the scope admin.
    """
    if caller.user_id is None:
        raise Forbidden(
            detail="A service token cannot handle tokens.",
            hint="Sign in on the dashboard, or use a personal token with the scope admin.",
        )
    if not is_person(caller=caller) and not may(caller=caller, scope=TokenScope.ADMIN):
        raise Forbidden(
            detail="This token cannot handle tokens.",
            hint="Sign in on the dashboard, or use a token with the scope admin.",
        )
    return caller.user_id


def check_lends(
    *, caller: Caller, scopes: frozenset[TokenScope], projects: tuple[UUID, ...] | None
) -> None:
    """Check that a new credential would hold no more than the caller does.

    Raises InvalidInput pointing at the scopes or the projects.
    """
    lendable = scopes_of(role=caller.role) & caller.scopes
    if not scopes:
        raise _refused("/scopes", "A token needs at least one scope.", _words(lendable))
    if not scopes <= lendable:
        surplus = _words(scopes - lendable)
        detail = message("You cannot give the scope {names}.", names=surplus)
        raise _refused("/scopes", detail, _words(lendable))
    if caller.bound_projects is None:
        return
    if projects is None or not set(projects) <= set(caller.bound_projects):
        fewer = (message("fewer"),)
        raise _refused("/projects", "The token would reach more projects than this one.", fewer)


def _refused(pointer: str, detail: str, possible: tuple[str, ...]) -> InvalidInput:
    hint = message("Possible: {names}.", names=possible)
    return wrong_field(pointer=pointer, detail=detail, hint=hint, code="not_yours_to_give")


def _words(scopes: frozenset[TokenScope]) -> tuple[TokenScope, ...]:
    return tuple(sorted(scopes))
