"""Who may what with which credential."""

from dataclasses import replace
from uuid import UUID

import pytest

from accounts import caller as callers
from accounts.caller import ALL_SCOPES, Caller, Role, TokenScope

PERSON = Caller(
    user_id=UUID(int=1),
    organization_id=UUID(int=2),
    organization_slug="acme",
    schema_name="t_00000000000000000000000000000002",
    role=Role.MEMBER,
    scopes=ALL_SCOPES,
    bound_projects=None,
    source_interface="dashboard",
)


def test_a_scope_must_be_held_and_none_implies_another() -> None:
    caller = replace(PERSON, scopes=frozenset({TokenScope.ADMIN}))

    held = [scope for scope in TokenScope if callers.may(caller=caller, scope=scope)]

    assert held == [TokenScope.ADMIN]


@pytest.mark.parametrize(
    "changed",
    [
        replace(PERSON, token_id=UUID(int=9)),
        replace(PERSON, agent="claude"),
        replace(PERSON, user_id=None),
    ],
)
def test_only_someone_signed_in_is_a_person(changed: Caller) -> None:
    assert callers.is_person(caller=PERSON)
    assert not callers.is_person(caller=changed)
