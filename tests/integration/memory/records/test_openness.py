"""A project is opened to everyone or closed, and a closed one is named to its people alone."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role, TokenScope
from accounts.errors import Conflict, NotFound, RoleNotSufficient
from memory.intake.actions.revise import revise
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
    closed = close_project(caller=caller, ref="mine")
    seen.append(sees(member_caller, song, now))
    with pytest.raises(NotFound):
        project(caller=member_caller, ref="mine")
    opened = open_project(caller=caller, ref="mine")
    seen.append(sees(member_caller, song, now))

    assert seen == [True, False, True]
    assert [(one.open_to_all, one.version) for one in (closed, opened)] == [(False, 2), (True, 3)]


def test_each_change_is_told_once(caller: Caller, song: UUID) -> None:
    for _ in range(2):
        close_project(caller=caller, ref="mine")

    with tenancy.unit():
        acts = AuditEntry.objects.filter(act__startswith="project.").order_by("number")
        assert [entry.act for entry in acts] == ["project.created", "project.closed"]


@pytest.mark.parametrize(("scope", "is_archived"), [("team", False), ("organization", True)])
def test_what_is_shared_more_widely_leaves_it_first(
    caller: Caller, song: UUID, now: datetime, scope: str, is_archived: bool
) -> None:
    create_team(caller=caller, slug="core")
    given = {"scope": scope, **({"team": "core"} if scope == "team" else {})}
    wide = stored(caller, now, "Lamps are filled on Fridays by the night shift.", project="mine",
                  **given)  # fmt: skip
    if is_archived:
        archive(caller=caller, memory_id=wide.id, reason="", if_version=None, now=now)

    with pytest.raises(Conflict):
        close_project(caller=caller, ref="mine")

    assert project(caller=caller, ref="mine").open_to_all


def test_it_closes_once_they_left(caller: Caller, song: UUID, now: datetime) -> None:
    wide = stored(caller, now, "Lamps are filled on Fridays.", project="mine", scope="organization")
    gone = stored(caller, now, "Ropes are checked on Mondays.", project="mine",
                  scope="organization")  # fmt: skip
    stored(caller, now, "My helmet hangs on the third hook.", project="mine", scope="personal")
    revise(caller=caller, memory_id=wide.id, changes={"scope": "project"}, if_version=None, now=now)
    with tenancy.unit():
        Memory.objects.filter(pk=gone.id).update(status="deleted")

    assert not close_project(caller=caller, ref="mine").open_to_all


@pytest.mark.parametrize("act", [open_project, close_project])
def test_only_owners_and_admins_close(caller: Caller, song: UUID, act: object) -> None:
    writing = frozenset({TokenScope.READ, TokenScope.WRITE})
    others = (
        replace(caller, role=Role.STEWARD),
        replace(caller, token_id=uuid4(), scopes=writing),
        replace(caller, token_id=uuid4(), bound_projects=()),
    )
    for other in others:
        with pytest.raises(RoleNotSufficient):
            act(caller=other, ref="mine")  # type: ignore[operator]
