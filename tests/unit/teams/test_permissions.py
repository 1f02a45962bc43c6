"""The role x act table."""

import pytest

from accounts.caller import Role
from teams import permissions
from teams.permissions import ACTS, Act

LOWEST = {
    Role.VIEWER: {Act.READ},
    Role.MEMBER: {Act.WRITE, Act.CONFIRM},
    Role.STEWARD: {Act.SETTLE, Act.RESTORE, Act.MERGE},
    Role.ADMIN: {Act.MANAGE_PROJECTS, Act.MANAGE_SETTINGS},
}


@pytest.mark.parametrize("lowest", LOWEST)
def test_each_act_has_its_lowest_role(lowest: Role) -> None:
    for act in LOWEST[lowest]:
        allowed = [role for role in Role if permissions.allows(role=role, act=act)]
        assert allowed == list(Role)[: list(Role).index(lowest) + 1], act


def test_every_act_is_in_the_table() -> None:
    assert ACTS[Role.OWNER] == frozenset(Act) == frozenset().union(*LOWEST.values())
