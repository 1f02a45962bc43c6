"""Names that are one thing: told together, found together, and apart again when taken back."""

from dataclasses import replace
from uuid import UUID

import pytest

from accounts.caller import Caller, Role, TokenScope
from accounts.errors import Conflict, InvalidInput, NotFound, RoleNotSufficient
from memory.entities.queries import Thing
from memory.review.actions.entity_merges import MergePair, merge_names, scope_of, unmerge_names
from memory.search.entity_profile import Profile, about, list_things
from memory.search.request import Narrowing
from tests.support.memories import as_agent, as_role
from tests.support.reviewed import World

pytestmark = pytest.mark.usefixtures("told")

LOGIN = "LoginGate keeps its tokens in Redis and never in a cookie of the browser."
PORTAL = "The EntryPortal is restarted by hand after every change of Postgres."
BOTH = "LoginGate was called EntryPortal before the spring of the year."
SECRET = "FalconProject replaces the EntryPortal after the merger with Initech."
ALL = MergePair(name="LoginGate", same_as="EntryPortal", scope="organization")


def listed(world: World, begins: str = "", by: Caller | None = None) -> tuple[Thing, ...]:
    given = {"type": None, "narrowing": Narrowing(), "after": None, "limit": 100}
    return list_things(caller=by or world.owner, begins=begins, **given)[0]


def asked(world: World, name: str, by: Caller | None = None) -> Profile:
    given = {"type": None, "narrowing": Narrowing(), "now": world.now}
    return about(caller=by or world.owner, name=name, **given)


def merged(world: World, pair: MergePair, by: Caller | None = None) -> UUID:
    """Say that two names are one thing; return the id of that."""
    return merge_names(caller=by or world.owner, pair=pair, now=world.now).merge_id


def parted(world: World, merge_id: UUID, by: Caller | None = None) -> None:
    """Take that back."""
    unmerge_names(caller=by or world.owner, merge_id=merge_id, now=world.now)


@pytest.fixture
def told(world: World) -> None:
    """Three memories that name a thing in two ways, one of them in both."""
    for text in (LOGIN, PORTAL, BOTH):
        world.stored(text)


def test_names_that_are_one_thing_are_told_as_one_until_that_is_taken_back(world: World) -> None:
    before = (listed(world), asked(world, "LoginGate").thing)
    made = merged(world, ALL)

    for name in ("LoginGate", "entry portal", "ENTRY-PORTAL"):
        profile = asked(world, name)
        assert profile.thing is not None
        assert set(profile.thing.spellings) == {"LoginGate", "EntryPortal"}
        assert profile.thing.memories == 3
        assert {one.content for one in profile.memories} == {LOGIN, PORTAL, BOTH}
        assert {one.name for one in profile.neighbors} == {"Redis", "Postgres"}
        assert len(profile.merges) == 1
        assert profile.quotes[0].text in {LOGIN, PORTAL, BOTH}
    assert len([one for one in listed(world) if one.name in {"LoginGate", "EntryPortal"}]) == 1
    assert listed(world, "entry") == listed(world, "login")
    hits = world.search("LoginGate", project=world.store, threshold=0.0).hits
    assert PORTAL in {hit.memory.content for hit in hits}
    with pytest.raises(Conflict):
        merged(world, ALL)

    parted(world, made)

    assert (listed(world), asked(world, "LoginGate").thing) == before


def test_a_personal_merge_is_for_one_person(world: World) -> None:
    pair = MergePair(name="LoginGate", same_as="EntryPortal")
    made = merged(world, pair, world.member)

    mine, theirs = (asked(world, "LoginGate", by=one).thing for one in (world.member, world.owner))

    assert mine is not None
    assert theirs is not None
    assert (mine.memories, theirs.memories) == (3, 2)
    with pytest.raises(NotFound):
        parted(world, made)


def test_a_steward_in_person_says_for_a_project_and_takes_it_back(world: World) -> None:
    steward = as_role(world.member, Role.STEWARD)
    pair = replace(ALL, scope="project", project=world.store)
    for _ in range(2):
        made = merged(world, pair, steward)
        (merge,) = asked(world, "LoginGate").merges
        assert scope_of(merge=merge, caller=world.owner) == "project"

        parted(world, made, steward)
        assert asked(world, "LoginGate").merges == ()


def test_neither_an_agent_nor_a_member_speaks_for_others_nor_elsewhere(world: World) -> None:
    world.make_project("vault", open_to_all=False)
    steward = as_role(world.member, Role.STEWARD)
    writes = frozenset({TokenScope.READ, TokenScope.WRITE})
    agents = [as_agent(one, scopes=writes) for one in (world.owner, world.member)]

    for scope, project in (("organization", None), ("project", world.store)):
        pair = replace(ALL, scope=scope, project=project)
        made = merged(world, pair)
        for one in (*agents, world.member):
            with pytest.raises(RoleNotSufficient):
                parted(world, made, one)
            with pytest.raises(RoleNotSufficient):
                merged(world, pair, one)
        assert len(asked(world, "LoginGate").merges) == 1
        parted(world, made)
    for project, refusal in (("vault", NotFound), (None, InvalidInput)):
        pair = replace(ALL, scope="project", project=project)
        with pytest.raises(refusal):
            merged(world, pair, steward)


def test_a_name_that_one_sees_no_memory_of_stays_unknown_and_is_not_merged(world: World) -> None:
    world.stored(SECRET, scope="personal")
    with pytest.raises(NotFound):
        merged(world, MergePair(name="FalconProject", same_as="LoginGate"), world.member)
    before = [(one.name, one.memories, one.spellings) for one in listed(world, by=world.member)]

    pair = MergePair(name="FalconProject", same_as="EntryPortal", scope="organization")
    made = merged(world, pair)

    told_of = asked(world, "EntryPortal", by=world.member)
    after = [(one.name, one.memories, one.spellings) for one in listed(world, by=world.member)]
    assert after == before
    assert told_of.thing is not None
    assert "FalconProject" not in told_of.thing.spellings
    assert told_of.merges == ()
    assert asked(world, "FalconProject", by=world.member).thing is None
    steward = as_role(world.member, Role.STEWARD)
    with pytest.raises(NotFound):
        parted(world, made, steward)
