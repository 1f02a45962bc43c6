"""A project is opened to everyone or closed, and a closed one is named to its people alone."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role, TokenScope
from accounts.errors import Conflict, NotFound, RoleNotSufficient
from memory.records.actions import archive, close_project, open_project
from memory.records.models import Memory
from memory.records.queries import memories
from teams.actions import create_project, create_team
from teams.models import AuditEntry
from teams.queries import project
from tests.support.memories import stored

pytestmark = pytest.mark.usefixtures("in_organization")

SONG = "The canary sings in the mine every morning at six."


@pytest.fixture
def song(caller: Caller, in_organization: object, now: datetime) -> UUID:
    """A memory of an open project."""
    create_project(caller=caller, slug="mine", name="Mine", now=now)
    return stored(caller, now, SONG, project="mine").id


def sees(caller: Caller, memory_id: UUID, now: datetime) -> bool:
    return memory_id in memories.by_ids(caller=caller, memory_ids=(memory_id,), now=now)


def test_who_is_not_in_it_sees_it_until_it_is_closed_and_once_it_is_open_again(
    caller: Caller, member_caller: Caller, song: UUID, now: datetime
) -> None:
    seen = [sees(member_caller, song, now)]
    closed, _again = (close_project(caller=caller, ref="mine") for _ in range(2))
    with tenancy.unit():  # the change is told once
        acts = AuditEntry.objects.filter(act__startswith="project.").order_by("number")
        assert [entry.act for entry in acts] == ["project.created", "project.closed"]
    seen.append(sees(member_caller, song, now))
    with pytest.raises(NotFound):
        project(caller=member_caller, ref="mine")
    opened = open_project(caller=caller, ref="mine")
    seen.append(sees(member_caller, song, now))

    assert seen == [True, False, True]
    assert [(one.open_to_all, one.version) for one in (closed, opened)] == [(False, 2), (True, 3)]


def test_what_is_shared_more_widely_leaves_it_first(
    caller: Caller, song: UUID, now: datetime
) -> None:
    create_team(caller=caller, slug="core")
    stored(caller, now, "My helmet hangs on the third hook.", project="mine", scope="personal")
    for number, given in enumerate(({"scope": "team", "team": "core"}, {"scope": "organization"})):
        text = f"Lamps of shaft {number} are filled on Fridays by the night shift."
        wide = stored(caller, now, text, project="mine", **given)
        if number:
            archive(caller=caller, memory_id=wide.id, reason="", if_version=None, now=now)

        with pytest.raises(Conflict):
            close_project(caller=caller, ref="mine")

        assert project(caller=caller, ref="mine").open_to_all
        with tenancy.unit():
            Memory.objects.filter(pk=wide.id).update(status="deleted")

    assert not close_project(caller=caller, ref="mine").open_to_all


def test_only_owners_and_admins_close(caller: Caller, song: UUID) -> None:
    writing = frozenset({TokenScope.READ, TokenScope.WRITE})
    others = (
        replace(caller, role=Role.STEWARD),
        replace(caller, token_id=uuid4(), scopes=writing),
        replace(caller, token_id=uuid4(), bound_projects=()),
    )
    for other in others:
        for act in (open_project, close_project):
            with pytest.raises(RoleNotSufficient):
                act(caller=other, ref="mine")
