"""Teams are made and renamed by who manages the organization."""

from dataclasses import replace
from datetime import datetime
from uuid import uuid4

import pytest

from accounts.caller import Caller, Role
from accounts.errors import InvalidInput, NotFound, PreconditionFailed, RoleNotSufficient
from teams.actions import create_team, rename_team
from teams.errors import SlugTaken
from teams.queries import Kind, people_in, team, teams
from tests.support.memories import stored

pytestmark = pytest.mark.usefixtures("in_organization")


def test_who_makes_a_team_is_in_it_and_shares_with_it(caller: Caller, now: datetime) -> None:
    made = create_team(caller=caller, slug="core")

    assert (made.slug, made.name, made.version) == ("core", "core", 1)
    (person,) = people_in(caller=caller, kind=Kind.TEAM, ref="core")
    assert person.id == caller.user_id
    assert stored(caller, now, "Keys are kept in the blue safe.", scope="team", team="core").id
    with pytest.raises(SlugTaken):
        create_team(caller=caller, slug="core")


@pytest.mark.parametrize(("slug", "name"), [("Core!", ""), ("core", "x" * 101), ("core", "a\nb")])
def test_what_does_not_fit_is_refused(caller: Caller, slug: str, name: str) -> None:
    with pytest.raises(InvalidInput):
        create_team(caller=caller, slug=slug, name=name)

    assert teams(caller=caller) == ()


def test_an_edit_names_the_version_it_edits(caller: Caller) -> None:
    create_team(caller=caller, slug="core")

    renamed = rename_team(caller=caller, ref="core", name="Core team", if_version=1)

    assert (renamed.name, renamed.version) == ("Core team", 2)
    with pytest.raises(PreconditionFailed):
        rename_team(caller=caller, ref="core", name="Mine", if_version=1)
    assert rename_team(caller=caller, ref="core", name="Core team", if_version=2).version == 2


@pytest.mark.parametrize("role", [Role.STEWARD, Role.MEMBER, Role.VIEWER])
def test_others_make_and_rename_none(caller: Caller, role: Role) -> None:
    create_team(caller=caller, slug="core")
    other = replace(caller, role=role)

    with pytest.raises(RoleNotSufficient):
        create_team(caller=other, slug="ops")
    with pytest.raises(RoleNotSufficient):
        rename_team(caller=other, ref="core", name="Mine", if_version=None)


def test_a_team_is_there_for_those_in_it_and_for_managers(
    caller: Caller, member_caller: Caller
) -> None:
    create_team(caller=caller, slug="core")
    admin = replace(member_caller, role=Role.ADMIN)
    bound = replace(caller, token_id=uuid4(), bound_projects=())

    assert [len(teams(caller=one)) for one in (caller, admin, member_caller, bound)] == [1, 1, 0, 0]
    for hidden in (member_caller, bound):
        with pytest.raises(NotFound):
            team(caller=hidden, ref="core")
