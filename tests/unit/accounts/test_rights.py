"""A role lends what it has, and nobody gives more than they hold."""

from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.caller import (
    ALL_SCOPES,
    Caller,
    Role,
    TokenScope,
    check_lends,
    check_not_above,
    is_person,
    manages,
    may,
    outranks,
    scopes_of,
)
from accounts.errors import InvalidInput, RoleNotSufficient

ROLES = st.sampled_from(Role)
SCOPES = st.frozensets(st.sampled_from(TokenScope))


def caller_of(
    role: Role,
    scopes: frozenset[TokenScope] = ALL_SCOPES,
    bound_projects: tuple[UUID, ...] | None = None,
) -> Caller:
    return Caller(
        user_id=uuid4(),
        organization_id=uuid4(),
        organization_slug="acme",
        schema_name="t_0",
        role=role,
        scopes=scopes,
        bound_projects=bound_projects,
        source_interface="api",
    )


@given(role=ROLES, other=ROLES)
def test_of_two_roles_one_outranks_and_nobody_gives_one_above_their_own(
    role: Role, other: Role
) -> None:
    one = outranks(role=role, other=other)
    two = outranks(role=other, other=role)

    assert (one != two) == (role is not other)
    if two:
        with pytest.raises(RoleNotSufficient):
            check_not_above(caller=caller_of(role), role=other)
    else:
        check_not_above(caller=caller_of(role), role=other)


@given(role=ROLES, held=SCOPES, wanted=SCOPES)
def test_a_token_never_holds_more_than_its_maker(
    role: Role, held: frozenset[TokenScope], wanted: frozenset[TokenScope]
) -> None:
    allowed = wanted and wanted <= held & scopes_of(role=role)

    if allowed:
        check_lends(caller=caller_of(role, held), scopes=wanted, projects=None)
    else:
        with pytest.raises(InvalidInput):
            check_lends(caller=caller_of(role, held), scopes=wanted, projects=None)


@pytest.mark.parametrize(
    ("role", "expected"), [(role, role in ("owner", "admin")) for role in Role]
)
def test_owners_and_admins_manage(role: Role, expected: bool) -> None:
    assert manages(caller=caller_of(role)) is expected
    assert not manages(caller=caller_of(role, bound_projects=(uuid4(),)))


def test_a_scope_must_be_held_and_none_implies_another() -> None:
    caller = caller_of(Role.MEMBER, frozenset({TokenScope.ADMIN}))

    assert [one for one in TokenScope if may(caller=caller, scope=one)] == [TokenScope.ADMIN]


def test_only_someone_signed_in_is_a_person() -> None:
    person = caller_of(Role.MEMBER)

    assert is_person(caller=person)
    for changed in ({"token_id": UUID(int=9)}, {"agent": "claude"}, {"user_id": None}):
        assert not is_person(caller=replace(person, **changed))  # type: ignore[arg-type]
