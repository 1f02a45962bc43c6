"""Names that are one thing: told together, found together, and apart again when taken back."""

from dataclasses import replace
from datetime import datetime

import pytest

from accounts.caller import Caller, Role, TokenScope
from accounts.errors import Conflict, InvalidInput, NotFound, RoleNotSufficient
from memory.entities.queries import Thing
from memory.review.actions.entity_merges import (
    MergePair,
    merge_names,
    scope_of,
    unmerge_names,
)
from memory.search.actions import search
from memory.search.entity_profile import Profile, about, list_things
from memory.search.request import Narrowing, SearchRequest
from teams.actions import create_project
from tests.support.memories import as_agent, as_role, stored

pytestmark = pytest.mark.usefixtures("in_organization", "told")

LOGIN = "LoginGate keeps its tokens in Redis and never in a cookie of the browser."
PORTAL = "The EntryPortal is restarted by hand after every change of Postgres."
BOTH = "LoginGate was called EntryPortal before the spring of the year."
SECRET = "FalconProject replaces the EntryPortal after the merger with Initech."
ALL = MergePair(name="LoginGate", same_as="EntryPortal", scope="organization")


def listed(caller: Caller, begins: str = "") -> tuple[Thing, ...]:
    return list_things(
        caller=caller, begins=begins, type=None, narrowing=Narrowing(), after=None, limit=100
    )[0]


def asked(caller: Caller, now: datetime, name: str) -> Profile:
    return about(caller=caller, name=name, type=None, narrowing=Narrowing(), now=now)


@pytest.fixture
def told(caller: Caller, store: str, now: datetime) -> None:
    """Three memories that name a thing in two ways, one of them in both."""
    for text in (LOGIN, PORTAL, BOTH):
        stored(caller, now, text, project=store)


def test_names_that_are_one_thing_are_told_as_one_until_that_is_taken_back(
    caller: Caller, store: str, now: datetime
) -> None:
    before = (listed(caller), asked(caller, now, "LoginGate").thing)
    made = merge_names(caller=caller, pair=ALL, now=now)

    for name in ("LoginGate", "entry portal", "ENTRY-PORTAL"):
        profile = asked(caller, now, name)
        assert profile.thing is not None
        assert set(profile.thing.spellings) == {"LoginGate", "EntryPortal"}
        assert profile.thing.memories == 3
        assert {one.content for one in profile.memories} == {LOGIN, PORTAL, BOTH}
        assert {one.name for one in profile.neighbors} == {"Redis", "Postgres"}
        assert len(profile.merges) == 1
        assert profile.quotes[0].text in {LOGIN, PORTAL, BOTH}
    assert len([one for one in listed(caller) if one.name in {"LoginGate", "EntryPortal"}]) == 1
    assert listed(caller, "entry") == listed(caller, "login")
    request = SearchRequest(query="LoginGate", project=store, threshold=0.0)
    hits = search(caller=caller, request=request, now=now).hits
    assert PORTAL in {hit.memory.content for hit in hits}
    with pytest.raises(Conflict):
        merge_names(caller=caller, pair=ALL, now=now)

    unmerge_names(caller=caller, merge_id=made.merge_id, now=now)

    assert (listed(caller), asked(caller, now, "LoginGate").thing) == before


def test_a_personal_merge_is_for_one_person(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    pair = MergePair(name="LoginGate", same_as="EntryPortal")
    made = merge_names(caller=member_caller, pair=pair, now=now)

    mine, theirs = (asked(one, now, "LoginGate").thing for one in (member_caller, caller))

    assert mine is not None
    assert theirs is not None
    assert (mine.memories, theirs.memories) == (3, 2)
    with pytest.raises(NotFound):
        unmerge_names(caller=caller, merge_id=made.merge_id, now=now)


def test_a_steward_in_person_says_for_a_project_and_takes_it_back(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    steward = as_role(member_caller, Role.STEWARD)
    pair = replace(ALL, scope="project", project=store)
    for _ in range(2):
        made = merge_names(caller=steward, pair=pair, now=now)
        (merge,) = asked(caller, now, "LoginGate").merges
        assert scope_of(merge=merge, caller=caller) == "project"

        unmerge_names(caller=steward, merge_id=made.merge_id, now=now)
        assert asked(caller, now, "LoginGate").merges == ()


def test_neither_an_agent_nor_a_member_speaks_for_others_nor_for_a_project_that_is_not_there(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    create_project(caller=caller, slug="vault", name="Vault", open_to_all=False, now=now)
    steward = as_role(member_caller, Role.STEWARD)
    writes = frozenset({TokenScope.READ, TokenScope.WRITE})
    agents = [as_agent(one, scopes=writes) for one in (caller, member_caller)]

    for scope, project in (("organization", None), ("project", store)):
        pair = replace(ALL, scope=scope, project=project)
        made = merge_names(caller=caller, pair=pair, now=now)
        for one in (*agents, member_caller):
            with pytest.raises(RoleNotSufficient):
                unmerge_names(caller=one, merge_id=made.merge_id, now=now)
            with pytest.raises(RoleNotSufficient):
                merge_names(caller=one, pair=pair, now=now)
        assert len(asked(caller, now, "LoginGate").merges) == 1
        unmerge_names(caller=caller, merge_id=made.merge_id, now=now)
    for project, refusal in (("vault", NotFound), (None, InvalidInput)):
        pair = replace(ALL, scope="project", project=project)
        with pytest.raises(refusal):
            merge_names(caller=steward, pair=pair, now=now)


def test_a_name_that_one_sees_no_memory_of_stays_unknown_and_is_not_merged(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    stored(caller, now, SECRET, project=store, scope="personal")
    with pytest.raises(NotFound):
        merge_names(
            caller=member_caller, pair=MergePair(name="FalconProject", same_as="LoginGate"), now=now
        )
    before = [(one.name, one.memories, one.spellings) for one in listed(member_caller)]

    pair = MergePair(name="FalconProject", same_as="EntryPortal", scope="organization")
    made = merge_names(caller=caller, pair=pair, now=now)

    told_of = asked(member_caller, now, "EntryPortal")
    after = [(one.name, one.memories, one.spellings) for one in listed(member_caller)]
    assert after == before
    assert told_of.thing is not None
    assert "FalconProject" not in told_of.thing.spellings
    assert told_of.merges == ()
    assert asked(member_caller, now, "FalconProject").thing is None
    steward = as_role(member_caller, Role.STEWARD)
    with pytest.raises(NotFound):
        unmerge_names(caller=steward, merge_id=made.merge_id, now=now)
