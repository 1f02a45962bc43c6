"""The role x act table."""

import pytest

from accounts.caller import Role
from teams import permissions
from teams.permissions import ACTS, Act


@pytest.mark.parametrize(
    ("act", "lowest"),
    [
        (Act.READ, Role.VIEWER),
        (Act.WRITE, Role.MEMBER),
        (Act.TEACH, Role.MEMBER),
        (Act.CONFIRM, Role.MEMBER),
        (Act.DISPUTE, Role.MEMBER),
        (Act.SETTLE, Role.STEWARD),
        (Act.VERIFY, Role.STEWARD),
        (Act.RESTORE, Role.STEWARD),
        (Act.MERGE, Role.STEWARD),
        (Act.SET_GOVERNANCE, Role.STEWARD),
        (Act.MANAGE_MEMBERS, Role.ADMIN),
        (Act.MANAGE_PROJECTS, Role.ADMIN),
        (Act.MANAGE_SETTINGS, Role.ADMIN),
        (Act.MANAGE_TOKENS_OF_OTHERS, Role.ADMIN),
        (Act.DELETE_ORGANIZATION, Role.OWNER),
        (Act.BILLING, Role.OWNER),
    ],
)
def test_each_act_has_its_lowest_role(act: Act, lowest: Role) -> None:
    allowed = [role for role in Role if permissions.allows(role=role, act=act)]

    assert allowed == list(Role)[: list(Role).index(lowest) + 1]


def test_every_act_is_in_the_table() -> None:
    assert ACTS[Role.OWNER] == frozenset(Act)
