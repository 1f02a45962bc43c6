"""Every read path, asked by everybody, gives nothing of a scope or organization that is not theirs.

A world holds one memory in each place, its text naming that place. `reads` has the table of all
read paths; a test fails when a public query is missing from it.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from inspect import getmembers, isfunction, signature
from itertools import product
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.errors import CairnError, NotFound
from accounts.models import Organization
from memory.injection import queries as injection_queries
from memory.intake.actions.similar_memories import preview
from memory.records.queries import memories
from memory.review.queries import overview
from teams import audit
from teams import queries as places
from teams.actions import create_project
from teams.models import Team, TeamMember
from tests.support import people
from tests.support.memories import as_agent, correct, new, stored
from tests.tenancy.reads import (
    ABOUT_A_MEMORY,
    ABOUT_A_PROJECT,
    ABOUT_ALL,
    ABOUT_SOME_IDS,
    COMPLETE,
    INTERNAL,
    READS,
    SEEN,
    Asking,
    Read,
    World,
    beside,
)

PLACES = ("public", "closed", "personal", "team", "everyone")


def make_projects(caller: Caller, now: datetime) -> tuple[UUID, UUID]:
    """Make an open and a closed project."""
    made = (
        create_project(caller=caller, slug=slug, name=slug, open_to_all=slug == "public", now=now)
        for slug in ("public", "closed")
    )
    first, second = made
    return first.id, second.id


def store_memories(caller: Caller, now: datetime) -> dict[str, UUID]:
    """Store a memory in every place, in a team of the caller's too; return their ids by place."""
    with tenancy.unit():
        team = Team.objects.create(slug="core", name="Core")
        TeamMember.objects.create(team=team, user_id=caller.user_id)
    given: dict[str, dict[str, Any]] = {
        "public": {"project": "public"},
        "closed": {"project": "closed"},
        "personal": {"project": "public", "scope": "personal"},
        "team": {"project": "public", "scope": "team", "team": "core"},
        "everyone": {"scope": "organization"},
    }
    return {place: _corrected(caller, now, place, given[place]) for place in PLACES}


def _corrected(caller: Caller, now: datetime, place: str, given: dict[str, Any]) -> UUID:
    """Store a memory that has a history and a link; return the newer one."""
    marks = {"related_files": ("canary/bird.py",), "related_modules": (f"{place}-canary",)}
    given = {**given, **marks}
    old = stored(caller, now, f"{place}-canary was here before, in short.", **given)
    fixed = f"`{place}-canary` sings here now, and `canary` is it."
    outcome = correct(
        caller=caller, memory_id=old.id, content=fixed, kind="wrong", reason="", now=now
    )
    assert outcome.memory is not None
    return outcome.memory.id


@pytest.fixture
def world(
    caller: Caller,
    member_caller: Caller,
    other_caller: Caller,
    organization: Organization,
    other_organization: Organization,
    now: datetime,
) -> World:
    """Memories of the owner in every place; the member is in no closed project and no team."""
    with people.entered(organization=organization):
        open_id, closed_id = make_projects(caller, now)
        ids = store_memories(caller, now)
    with people.entered(organization=other_organization):
        make_projects(other_caller, now)
    admin = people.make_person(organization=organization, email="a@acme.test", role=Role.ADMIN)
    callers = {
        "owner": caller,
        "member": member_caller,
        "agent of the member": as_agent(member_caller),
        "bound to the open project": as_agent(caller, bound_projects=(open_id,)),
        "bound to nothing": as_agent(caller, bound_projects=()),
        "service token": as_agent(member_caller, user_id=None),
        "admin": people.as_caller(organization=organization, user=admin, role=Role.ADMIN),
        "stranger": other_caller,
    }
    projects = {"public": open_id, "closed": closed_id}
    return World(callers=callers, memory_ids=ids, project_ids=projects)


@pytest.fixture
def ask(world: World, now: datetime) -> Callable[..., Any]:
    """Ask as one of the callers, in their own organization."""

    def asking(who: str, read: Read, *, memory_id: UUID | None = None, project: str = "") -> Any:
        caller = world.callers[who]
        question = Asking(caller=caller, memory_id=memory_id or uuid4(), project=project, now=now)
        undo = transaction.savepoint()
        try:
            with tenancy.enter(caller.tenant):
                return read(question)
        finally:  # some reads change rows before they ask
            transaction.savepoint_rollback(undo)

    return asking


def told(answer: Any) -> set[str]:
    return {place for place in PLACES if f"{place}-canary" in repr(answer)}


def refusal(ask: Callable[..., Any], *question: Any, **about: Any) -> tuple[Any, ...]:
    with pytest.raises(CairnError) as refused:
        ask(*question, **about)
    error = refused.value
    return (type(error), error.detail, error.hint, error.errors)


def test_what_is_told_of_everything_is_what_one_may_see(
    ask: Callable[..., Any], world: World, subtests: pytest.Subtests
) -> None:
    for (read, function), who in product(ABOUT_ALL.items(), SEEN):
        with subtests.test(read, who=who):
            answer = ask(who, function)

            if read in COMPLETE:
                assert told(answer) == SEEN[who]
            assert told(answer) <= SEEN[who]
            if "closed" not in SEEN[who]:
                assert str(world.project_ids["closed"]) not in repr(answer)


def test_counts_count_what_one_may_see(ask: Callable[..., Any], world: World) -> None:
    counted, custom = (
        {who: ask(who, ABOUT_ALL[read]) for who in SEEN}
        for read in ("memories.count", "memories.count_by_custom_type")
    )

    assert counted == {who: 2 * len(seen) for who, seen in SEEN.items()}
    assert custom == {who: {"canary": len(seen)} for who, seen in SEEN.items()}
    for name, project_id in world.project_ids.items():  # what stands beside a page
        framed = {who: ask(who, partial(beside, project_id=project_id)) for who in SEEN}
        assert framed["owner"]["memories"] > 0
        hidden = [framed[who] for who, seen in SEEN.items() if name not in seen]
        assert hidden == [{"memories": 0, "due": 0}] * len(hidden)


def test_a_foreign_memory_is_as_if_it_did_not_exist(
    ask: Callable[..., Any], world: World, subtests: pytest.Subtests
) -> None:
    for (read, function), who in product(ABOUT_A_MEMORY.items(), SEEN):
        with subtests.test(read, who=who):
            nobody = refusal(ask, who, function, memory_id=uuid4())
            assert nobody[0] is NotFound
            for place, memory_id in world.memory_ids.items():
                if place in SEEN[who]:
                    ask(who, function, memory_id=memory_id)
                else:
                    assert refusal(ask, who, function, memory_id=memory_id) == nobody, place
    links = ask("owner", ABOUT_A_MEMORY["memories.links"], memory_id=world.memory_ids["team"])
    for who in ("member", "stranger", "bound to nothing"):  # nor through a link
        get = ABOUT_A_MEMORY["memories.get"]
        assert refusal(ask, who, get, memory_id=links[0].other_id)[0] is NotFound


def test_foreign_ids_are_left_out(
    ask: Callable[..., Any], world: World, subtests: pytest.Subtests
) -> None:
    for (read, function), who in product(ABOUT_SOME_IDS.items(), SEEN):
        with subtests.test(read, who=who):
            answers = {
                place: ask(who, function, memory_id=memory_id)
                for place, memory_id in world.memory_ids.items()
            }
            assert {place for place, answer in answers.items() if answer} == SEEN[who]


def test_a_foreign_project_is_as_if_it_did_not_exist(
    ask: Callable[..., Any], world: World, subtests: pytest.Subtests
) -> None:
    asked = product(ABOUT_A_PROJECT.items(), SEEN, world.project_ids.items())
    for (read, function), who, (slug, project_id) in asked:
        with subtests.test(read, who=who, project=slug):
            if slug in SEEN[who]:
                assert told(ask(who, function, project=slug)) <= SEEN[who]
                continue
            missing = str(uuid4())
            nobody = refusal(ask, who, function, project=missing)
            foreign = refusal(ask, who, function, project=str(project_id))
            assert repr(foreign).replace(str(project_id), missing) == repr(nobody)


def test_overviews_and_cards_of_projects_count_what_one_may_see(
    ask: Callable[..., Any], world: World
) -> None:
    ids = world.project_ids
    for who in (one for one in SEEN if one != "bound to nothing"):
        public = SEEN[who] & {"public", "personal", "team"}
        seen = {ids["public"]: public, ids["closed"]: SEEN[who] & {"closed"}}

        view = ask(who, ABOUT_A_PROJECT["overview.overview"], project="public")
        cards = ask(who, ABOUT_ALL["overview.count_by_project"])

        assert view["tally"].memories == len(public), who
        modules = dict.fromkeys((f"{place}-canary" for place in public), 1)
        modules |= {"canary": len(public)} if public else {}
        assert {one["name"]: one["memories"] for one in view["places"]} == modules
        assert ((view["health"] is None), view["attention"]) == (not public, ())
        counted = {project_id: card["memories"] for project_id, card in cards.items()}
        assert counted == {key: len(places) for key, places in seen.items() if places}


def test_a_preview_shows_no_neighbor_of_somebody_else(
    ask: Callable[..., Any], world: World
) -> None:
    def near(scope: str) -> Read:
        sent = new("`personal-canary` sings here now, and it is!", project="public", scope=scope)
        return lambda a: told(preview(caller=a.caller, new=sent, now=a.now).similar)

    assert ask("owner", near("personal")) == {"personal"}
    for who in ("member", "admin", "service token", "stranger"):
        assert ask(who, near("project")) <= SEEN[who]
    for who in ("member", "admin", "stranger"):
        assert ask(who, near("personal")) == set()


def test_every_read_path_is_in_the_table() -> None:
    modules = {
        "memories": memories,
        "overview": overview,
        "injection": injection_queries,
        "places": places,
        "audit": audit,
    }
    public = {
        f"{short}.{name}" for short, module in modules.items() for name in _asked_by_callers(module)
    }
    covered = {name.partition(" ")[0] for name in READS}

    assert public - covered == INTERNAL


def _asked_by_callers(module: Any) -> Iterator[str]:
    for name, function in getmembers(module, isfunction):
        is_own = function.__module__ == module.__name__
        if is_own and name[0] != "_" and "caller" in signature(function).parameters:
            yield name
