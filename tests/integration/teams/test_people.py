"""People are added to closed projects and teams, and see from then on; taken out, no longer."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role, TokenScope
from accounts.errors import LastOwner, NotFound, RoleNotSufficient
from accounts.models import Membership, Organization, User
from memory.records.queries import memories
from teams.actions import (
    add_person,
    create_project,
    create_team,
    leave,
    note_agent,
    remove_member,
    remove_person,
)
from teams.errors import NotBoundToProject
from teams.models import AuditEntry, ProjectMember, TeamMember
from teams.queries import Kind, changes_since, people_in, project, projects, teams
from tests.support.memories import stored
from tests.support.people import outside

pytestmark = pytest.mark.usefixtures("in_organization", "vault")

SECRET = "The vault opens at seven in the morning with both of the keys."
WHERE = {Kind.PROJECT: {"project": "vault"}, Kind.TEAM: {"scope": "team", "team": "vault"}}


@pytest.fixture(params=list(Kind))
def kind(request: pytest.FixtureRequest) -> Kind:
    """A project, or a team."""
    return Kind(request.param)


@pytest.fixture
def vault(caller: Caller, in_organization: object, now: datetime) -> None:
    """A closed project and a team, both called `vault`."""
    create_project(caller=caller, slug="vault", name="Vault", open_to_all=False, now=now)
    create_team(caller=caller, slug="vault", name="Vault")


def sees(caller: Caller, memory_id: UUID, now: datetime) -> bool:
    """Say whether somebody can read a memory."""
    return memory_id in memories.by_ids(caller=caller, memory_ids=(memory_id,), now=now)


def user_id(caller: Caller) -> UUID:
    assert caller.user_id is not None
    return caller.user_id


def acts() -> list[str]:
    with tenancy.unit():
        return list(AuditEntry.objects.order_by("number").values_list("act", flat=True))


@pytest.mark.parametrize("unit", [nullcontext, tenancy.unit], ids=["at once", "in one unit"])
def test_a_person_who_is_added_sees_and_who_is_taken_out_does_not(
    caller: Caller,
    member_caller: Caller,
    now: datetime,
    kind: Kind,
    unit: Callable[[], AbstractContextManager[object]],
) -> None:
    memory_id = stored(caller, now, SECRET, **WHERE[kind]).id

    with unit():
        seen = [sees(member_caller, memory_id, now)]
        add_person(caller=caller, kind=kind, ref="vault", person="member@acme.test")
        seen.append(sees(member_caller, memory_id, now))
        remove_person(caller=caller, kind=kind, ref="vault", user_id=user_id(member_caller))
        seen.append(sees(member_caller, memory_id, now))

    assert seen == [False, True, False]


def test_who_is_added_finds_the_place_once_and_stands_in_log_and_feed(
    caller: Caller, member_caller: Caller, kind: Kind
) -> None:
    def listed() -> int:
        return len(projects(caller=member_caller)) + len(teams(caller=member_caller))

    before = listed()
    first = add_person(caller=caller, kind=kind, ref="vault", person="MEMBER@acme.test ")
    noted = acts()
    again = add_person(caller=caller, kind=kind, ref="vault", person=str(member_caller.user_id))

    assert (first[0], first[1], again[1]) == (again[0], True, False)
    assert acts() == noted
    assert (before, listed()) == (0, 1)
    found = people_in(caller=member_caller, kind=kind, ref="vault")
    assert [person.email for person in found] == ["owner@acme.test", "member@acme.test"]
    in_feed = changes_since(caller=member_caller, after=0, limit=50)
    assert in_feed[-1].kind == f"{kind}.member_added"
    remove_person(caller=caller, kind=kind, ref="vault", user_id=user_id(member_caller))
    assert acts()[-2:] == [f"{kind}.member_added", f"{kind}.member_removed"]
    assert changes_since(caller=member_caller, after=0, limit=50) == ()
    with tenancy.unit():
        last = AuditEntry.objects.latest("number")
    assert last.details == {"user": str(member_caller.user_id)}


@pytest.mark.parametrize(
    "narrowed",
    [
        *({"user_id": uuid4(), "role": role} for role in (Role.STEWARD, Role.MEMBER, Role.VIEWER)),
        {"token_id": uuid4(), "scopes": frozenset({TokenScope.READ, TokenScope.WRITE})},
        {"token_id": uuid4(), "bound_projects": ()},
    ],
    ids=["steward", "member", "viewer", "without the scope admin", "bound"],
)
def test_only_owners_and_admins_add_and_take_out(
    caller: Caller, kind: Kind, narrowed: dict[str, object]
) -> None:
    other = replace(caller, **narrowed)  # type: ignore[arg-type]

    with pytest.raises(RoleNotSufficient):
        add_person(caller=other, kind=kind, ref="vault", person="owner@acme.test")
    with pytest.raises(RoleNotSufficient):
        remove_person(caller=other, kind=kind, ref="vault", user_id=user_id(caller))


def test_a_token_bound_to_a_project_is_not_told_its_people(caller: Caller) -> None:
    bound = replace(
        caller, token_id=uuid4(), bound_projects=(project(caller=caller, ref="vault").id,)
    )

    with pytest.raises(NotBoundToProject):
        people_in(caller=bound, kind=Kind.PROJECT, ref="vault")


def test_a_person_takes_out_themselves_in_person(
    caller: Caller, member_caller: Caller, kind: Kind
) -> None:
    add_person(caller=caller, kind=kind, ref="vault", person="member@acme.test")
    mine = user_id(member_caller)
    with pytest.raises(RoleNotSufficient):
        remove_person(
            caller=replace(member_caller, token_id=uuid4()), kind=kind, ref="vault", user_id=mine
        )

    remove_person(caller=member_caller, kind=kind, ref="vault", user_id=mine)

    with pytest.raises(NotFound):
        people_in(caller=member_caller, kind=kind, ref="vault")


def test_nobody_is_added_who_is_not_of_the_organization(
    caller: Caller, kind: Kind, other_organization: Organization,
    stranger: User,
) -> None:  # fmt: skip
    for person in (stranger.email, str(stranger.id), "nobody@acme.test", "", "'; --"):
        with pytest.raises(NotFound):
            add_person(caller=caller, kind=kind, ref="vault", person=person)


def test_who_was_taken_out_of_the_organization_is_in_none_of_its_places(
    caller: Caller, member_caller: Caller, kind: Kind, now: datetime
) -> None:
    add_person(caller=caller, kind=kind, ref="vault", person="member@acme.test")

    remove_member(caller=caller, user_id=user_id(member_caller), now=now)

    assert acts()[-1] == "member.removed"
    assert [one.email for one in people_in(caller=caller, kind=kind, ref="vault")] == [
        "owner@acme.test"
    ]
    with pytest.raises(NotFound):
        add_person(caller=caller, kind=kind, ref="vault", person="member@acme.test")


def test_a_place_of_another_organization_is_as_if_it_did_not_exist(
    other_caller: Caller, kind: Kind, organization: Organization
) -> None:
    with outside(), tenancy.enter(other_caller.tenant):
        with pytest.raises(NotFound):
            add_person(
                caller=other_caller, kind=kind, ref="vault", person=str(other_caller.user_id)
            )
        with pytest.raises(NotFound):
            people_in(caller=other_caller, kind=kind, ref="vault")


def test_who_left_keeps_no_place_and_the_last_owner_stays_with_all(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    for kind in Kind:
        add_person(caller=caller, kind=kind, ref="vault", person="member@acme.test")

    leave(caller=member_caller, now=now)
    with pytest.raises(LastOwner):
        leave(caller=caller, now=now)

    with tenancy.unit():
        for members in (ProjectMember.objects, TeamMember.objects):
            assert [one.user_id for one in members.all()] == [caller.user_id]
    assert acts()[-1] == "member.left"
    assert not Membership.objects.filter(user_id=member_caller.user_id).exists()


def test_an_agent_newly_seen_is_in_the_feed_and_nobody_else(caller: Caller) -> None:
    agent = replace(caller, token_id=uuid4(), agent="codex", newly_seen=True)

    for one in (agent, replace(agent, newly_seen=False), replace(caller, newly_seen=True)):
        note_agent(caller=one)

    changes = changes_since(caller=caller, after=0, limit=10)
    (change,) = [one for one in changes if one.kind.startswith("agent.")]
    assert (change.kind, change.object_id) == ("agent.seen", agent.token_id)
    assert (change.actor_name, change.summary) == ("codex", {"agent": "codex"})
