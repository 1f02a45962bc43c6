"""What memories name, told as a list, and what is known about one such thing."""

from typing import Any

import pytest

from accounts.caller import Caller
from accounts.errors import InvalidInput, NotFound
from memory.entities.queries import Thing
from memory.search.entity_profile import Place, Profile, about, list_things
from memory.search.request import Narrowing
from tests.support.reviewed import World

Told = dict[str, Any]

pytestmark = pytest.mark.usefixtures("told")

FIRST = "AuthService keeps its tokens in Redis and asks @maria before it changes them."
SECOND = "The auth-service is restarted by hand, says docs/restart.md, and Redis first."
THIRD = "We chose Postgres for the carts, because Redis lost them twice in a month."


@pytest.fixture
def told(world: World) -> Told:
    """Three memories of a project, by their texts."""
    return {text: world.stored(text) for text in (FIRST, SECOND, THIRD)}


def listed(world: World, by: Caller | None = None, **given: Any) -> tuple[Thing, ...]:
    return page(world, by, **given)[0]


def page(
    world: World, by: Caller | None = None, **given: Any
) -> tuple[tuple[Thing, ...], Place | None]:
    usual = {"begins": "", "type": None, "narrowing": Narrowing(), "after": None, "limit": 100}
    return list_things(caller=by or world.owner, **{**usual, **given})


def asked(world: World, name: str, by: Caller | None = None, **given: Any) -> Profile:
    given = {"type": None, "narrowing": Narrowing(), "now": world.now, **given}
    return about(caller=by or world.owner, name=name, **given)


def names(things: tuple[Thing, ...]) -> list[tuple[str, str, int]]:
    return [(one.type.value, one.name, one.memories) for one in things]


def test_things_are_told_by_how_many_memories_name_them_page_by_page(world: World) -> None:
    every = listed(world)
    pages, after = page(world, limit=2)
    while after is not None:
        things, after = page(world, limit=2, after=after)
        pages += things

    assert names(every) == [
        ("system", "Redis", 3),
        ("system", "AuthService", 2),
        ("system", "docs/restart.md", 1),
        ("person", "maria", 1),
        ("system", "Postgres", 1),
    ]
    assert pages == every


def test_a_list_is_narrowed_by_beginning_and_kind(world: World) -> None:
    for given, expected in (
        ({"begins": "auth"}, ["AuthService"]),
        ({"begins": "AuthS"}, ["AuthService"]),
        ({"begins": "docs/re"}, ["docs/restart.md"]),
        ({"begins": "%"}, []),
        ({"type": "person"}, ["maria"]),
        ({"type": "url"}, []),
    ):
        assert [one.name for one in listed(world, **given)] == expected, given


def test_a_thing_is_known_in_every_spelling(world: World, told: Told) -> None:
    for name in ("AuthService", "auth service", "auth_services", "`AuthService`"):
        found = asked(world, name)
        assert found.thing is not None, name
        assert set(found.thing.spellings) == {"auth-service", "AuthService"}
        assert {one.id for one in found.memories} == {told[FIRST].id, told[SECOND].id}
        assert [(one.name, one.memories) for one in found.neighbors] == [
            ("Redis", 2), ("docs/restart.md", 1), ("maria", 1),
        ]  # fmt: skip
    for name in ("postgresql", "@maria", "docs/restart.md", "./docs/restart.md"):
        assert len(asked(world, name).memories) == 1, name


def test_filters_narrow_it_and_what_is_archived_names_nothing(world: World, told: Told) -> None:
    found = asked(world, "redis", narrowing=Narrowing(files=("docs/restart.md",)))
    world.archive(told[FIRST].id)

    assert [one.id for one in found.memories] == [told[SECOND].id]
    assert "maria" not in [one.name for one in listed(world)]
    assert asked(world, "maria") == Profile(thing=None, took_ms=pytest.approx(0, abs=1_000))


def test_spellings_and_counts_are_of_what_one_may_see(world: World) -> None:
    def seen() -> object:
        return listed(world, world.member), asked(world, "redis", world.member).neighbors

    before = seen()
    hidden = "REDIS and auth_service wait for OtherThing, which nobody else may know of."
    world.stored(hidden, scope="personal")

    assert seen() == before
    assert asked(world, "OtherThing", by=world.member).thing is None
    assert asked(world, "OtherThing").thing is not None


def test_what_is_no_name_is_refused_and_any_other_text_names_nothing(world: World) -> None:
    for name in ("x" * 121, "a\x00b", "\ud800"):
        with pytest.raises(InvalidInput):
            asked(world, name)
        with pytest.raises(InvalidInput):
            listed(world, begins=name)
    for name in ("'; DROP TABLE x", "%", "_", "\\", "🦊", "((((", "a" * 120):
        assert asked(world, name).thing is None, name
        assert listed(world, begins=name) == (), name
    with pytest.raises(NotFound):
        listed(world, narrowing=Narrowing(project="nowhere"))
