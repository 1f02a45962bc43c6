"""Roles never rise above the giver's, and the last owner stays."""

from dataclasses import replace
from datetime import datetime
from uuid import uuid4

import pytest

from accounts import authentication
from accounts.actions.members import change_role, leave, remove_member
from accounts.actions.tokens import NewToken, create_token
from accounts.caller import Caller, Role, TokenScope
from accounts.errors import Forbidden, InvalidToken, LastOwner, NotFound, RoleNotSufficient
from accounts.models import Membership, Organization, User
from accounts.queries import members
from tests.support import people


@pytest.fixture
def admin_caller(organization: Organization) -> Caller:
    user = people.make_person(organization=organization, email="a@acme.test", role=Role.ADMIN)
    return people.as_caller(organization=organization, user=user, role=Role.ADMIN)


def role_of(user: User) -> str:
    return Membership.objects.get(user=user).role


def test_an_owner_changes_a_role_and_leaves_when_there_is_another(
    caller: Caller, owner: User, member: User, now: datetime
) -> None:
    with pytest.raises(LastOwner):
        change_role(caller=caller, user_id=owner.id, role=Role.ADMIN)
    with pytest.raises(LastOwner):
        leave(caller=caller, now=now)
    assert role_of(owner) == "owner"

    changed = change_role(caller=caller, user_id=member.id, role=Role.OWNER)
    leave(caller=caller, now=now)

    assert (changed.role, role_of(member)) == (Role.OWNER, "owner")
    assert [person.user_id for person in members(caller=caller)] == [member.id]


def test_an_admin_neither_makes_owners_nor_touches_one(
    admin_caller: Caller, owner: User, member: User, now: datetime
) -> None:
    for user, role in ((member, Role.OWNER), (owner, Role.MEMBER)):
        with pytest.raises(RoleNotSufficient):
            change_role(caller=admin_caller, user_id=user.id, role=role)
    with pytest.raises(RoleNotSufficient):
        remove_member(caller=admin_caller, user_id=owner.id, now=now)

    assert (role_of(member), role_of(owner)) == ("member", "owner")


@pytest.mark.parametrize(
    "narrowed",
    [
        {"role": Role.MEMBER},
        {"scopes": frozenset({TokenScope.WRITE})},
        {"bound_projects": (uuid4(),)},
    ],
    ids=["a member", "no admin scope", "bound to a project"],
)
def test_others_change_no_role(caller: Caller, member: User, narrowed: dict[str, object]) -> None:
    with pytest.raises(RoleNotSufficient):
        change_role(caller=replace(caller, **narrowed), user_id=member.id, role=Role.VIEWER)


def test_an_agent_does_not_leave(member_caller: Caller, now: datetime) -> None:
    with pytest.raises(Forbidden):
        leave(caller=replace(member_caller, token_id=uuid4()), now=now)


def test_who_is_removed_has_no_token_and_no_session_here_and_keeps_those_elsewhere(
    caller: Caller,
    member_caller: Caller,
    member: User,
    other_organization: Organization,
    now: datetime,
) -> None:
    Membership.objects.create(organization=other_organization, user=member, role=Role.MEMBER)
    elsewhere = authentication.caller_from_session(user_id=member.id, organization_slug="globex")
    here, there = (
        create_token(caller=one, new=NewToken(name="laptop"), now=now)
        for one in (member_caller, elsewhere)
    )

    remove_member(caller=caller, user_id=member.id, now=now)

    with pytest.raises(InvalidToken, match="revoked"):
        authentication.caller_from_token(text=here.text, agent="", ip="", now=now)
    with pytest.raises(NotFound):
        authentication.caller_from_session(user_id=member.id, organization_slug="acme")
    presented = authentication.caller_from_token(text=there.text, agent="", ip="", now=now)
    assert presented.organization_slug == "globex"


def test_a_stranger_is_no_member(caller: Caller, stranger: User, now: datetime) -> None:
    with pytest.raises(NotFound):
        remove_member(caller=caller, user_id=stranger.id, now=now)
    with pytest.raises(NotFound):
        change_role(caller=caller, user_id=stranger.id, role=Role.VIEWER)

    assert role_of(stranger) == "owner"
