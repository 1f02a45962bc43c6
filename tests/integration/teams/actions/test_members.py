"""Taking people out of an organization ends every place they had."""

from datetime import datetime

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import LastOwner
from accounts.models import Membership
from teams.actions.people import leave, remove_member
from teams.actions.projects import create_project
from teams.models import AuditEntry, Project, ProjectMember

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def closed(caller: Caller, member_caller: Caller, in_organization: object, now: datetime) -> str:
    """A closed project that the member belongs to."""
    create_project(caller=caller, slug="closed", name="Closed", open_to_all=False, now=now)
    with tenancy.unit():
        project = Project.objects.get(slug="closed")
        ProjectMember.objects.create(project=project, user_id=member_caller.user_id)
    return "closed"


@pytest.mark.usefixtures("closed")
def test_a_removed_member_keeps_no_place_in_a_project(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    remove_member(caller=caller, user_id=member_caller.user_id, now=now)

    with tenancy.unit():
        places = ProjectMember.objects.filter(user_id=member_caller.user_id)
        assert not places.exists()
        assert AuditEntry.objects.filter(act="member.removed").count() == 1
    assert not Membership.objects.filter(user_id=member_caller.user_id).exists()


@pytest.mark.usefixtures("closed")
def test_who_leaves_keeps_no_place_either(member_caller: Caller, now: datetime) -> None:
    leave(caller=member_caller, now=now)

    with tenancy.unit():
        assert not ProjectMember.objects.filter(user_id=member_caller.user_id).exists()


def test_the_last_owner_stays_with_all_places(caller: Caller, now: datetime) -> None:
    create_project(caller=caller, slug="kept", name="Kept", now=now)

    with pytest.raises(LastOwner):
        leave(caller=caller, now=now)

    with tenancy.unit():
        assert ProjectMember.objects.filter(user_id=caller.user_id).count() == 1
