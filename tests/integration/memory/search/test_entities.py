"""What memories name, told as a list, and what is known about one such thing."""

from datetime import datetime
from typing import Any

import pytest

from accounts.caller import Caller
from accounts.errors import InvalidInput, NotFound
from memory.entities.queries import Thing
from memory.records.actions import archive
from memory.search.entity_profile import Place, Profile, about, list_things
from memory.search.request import Narrowing
from tests.support.memories import stored

Told = dict[str, Any]

pytestmark = pytest.mark.usefixtures("in_organization", "told")

FIRST = "AuthService keeps its tokens in Redis and asks @maria before it changes them."
SECOND = "The auth-service is restarted by hand, says docs/restart.md, and Redis first."
THIRD = "We chose Postgres for the carts, because Redis lost them twice in a month."


@pytest.fixture
def told(caller: Caller, store: str, now: datetime) -> Told:
    """Three memories of a project, by their texts."""
    return {text: stored(caller, now, text, project=store) for text in (FIRST, SECOND, THIRD)}


def listed(caller: Caller, **given: Any) -> tuple[Thing, ...]:
    return page(caller, **given)[0]


def page(caller: Caller, **given: Any) -> tuple[tuple[Thing, ...], Place | None]:
    usual = {"begins": "", "type": None, "narrowing": Narrowing(), "after": None, "limit": 100}
    return list_things(caller=caller, **{**usual, **given})


def asked(caller: Caller, now: datetime, name: str, **given: Any) -> Profile:
    return about(
        caller=caller, name=name, now=now, **{"type": None, "narrowing": Narrowing(), **given}
    )


def names(things: tuple[Thing, ...]) -> list[tuple[str, str, int]]:
    return [(one.type.value, one.name, one.memories) for one in things]


def test_things_are_told_by_how_many_memories_name_them_page_by_page(caller: Caller) -> None:
    every = listed(caller)
    pages, after = page(caller, limit=2)
    while after is not None:
        things, after = page(caller, limit=2, after=after)
        pages += things

    assert names(every) == [
        ("system", "Redis", 3),
        ("system", "AuthService", 2),
        ("system", "docs/restart.md", 1),
        ("person", "maria", 1),
        ("system", "Postgres", 1),
    ]
    assert pages == every


def test_a_list_is_narrowed_by_beginning_and_kind(caller: Caller) -> None:
    for given, expected in (
        ({"begins": "auth"}, ["AuthService"]),
        ({"begins": "AuthS"}, ["AuthService"]),
        ({"begins": "docs/re"}, ["docs/restart.md"]),
        ({"begins": "%"}, []),
        ({"type": "person"}, ["maria"]),
        ({"type": "url"}, []),
    ):
        assert [one.name for one in listed(caller, **given)] == expected, given


def test_a_thing_is_known_in_every_spelling(caller: Caller, told: Told, now: datetime) -> None:
    for name in ("AuthService", "auth service", "auth_services", "`AuthService`"):
        found = asked(caller, now, name)
        assert found.thing is not None, name
        assert set(found.thing.spellings) == {"auth-service", "AuthService"}
        assert {one.id for one in found.memories} == {told[FIRST].id, told[SECOND].id}
        assert [(one.name, one.memories) for one in found.neighbors] == [
            ("Redis", 2), ("docs/restart.md", 1), ("maria", 1),
        ]  # fmt: skip
    for name in ("postgresql", "@maria", "docs/restart.md", "./docs/restart.md"):
        assert len(asked(caller, now, name).memories) == 1, name


def test_filters_narrow_what_is_known_and_what_is_archived_names_nothing(
    caller: Caller, told: Told, now: datetime
) -> None:
    found = asked(caller, now, "redis", narrowing=Narrowing(files=("docs/restart.md",)))
    archive(caller=caller, memory_id=told[FIRST].id, reason="", if_version=None, now=now)

    assert [one.id for one in found.memories] == [told[SECOND].id]
    assert "maria" not in [one.name for one in listed(caller)]
    assert asked(caller, now, "maria") == Profile(thing=None, took_ms=pytest.approx(0, abs=1_000))


def test_spellings_and_counts_are_of_what_one_may_see(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    before = listed(member_caller), asked(member_caller, now, "redis").neighbors

    hidden = "REDIS and auth_service wait for OtherThing, which nobody else may know of."
    stored(caller, now, hidden, project=store, scope="personal")

    assert (listed(member_caller), asked(member_caller, now, "redis").neighbors) == before
    assert asked(member_caller, now, "OtherThing").thing is None
    assert asked(caller, now, "OtherThing").thing is not None


def test_what_is_no_name_is_refused_and_any_other_text_names_nothing(
    caller: Caller, now: datetime
) -> None:
    for name in ("x" * 121, "a\x00b", "\ud800"):
        with pytest.raises(InvalidInput):
            asked(caller, now, name)
        with pytest.raises(InvalidInput):
            listed(caller, begins=name)
    for name in ("'; DROP TABLE x", "%", "_", "\\", "🦊", "((((", "a" * 120):
        assert asked(caller, now, name).thing is None, name
        assert listed(caller, begins=name) == (), name
    with pytest.raises(NotFound):
        listed(caller, narrowing=Narrowing(project="nowhere"))
