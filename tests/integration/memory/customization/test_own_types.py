"""Memories of a type that a methodology adds: said by its name, kept under its base."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.errors import InvalidInput
from memory.customization.actions import Course, define_methodology, remove_methodology
from memory.customization.custom_type_rules import OwnType
from memory.customization.phases import Transition
from memory.customization.queries import own_methodologies
from memory.documents.actions.export import ExportFormat
from memory.experiments.points import Point
from memory.intake.actions.remember import remember_all
from memory.intake.actions.revise import revise
from memory.records import filters
from memory.records.filters import Filters
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from memory.search.actions import search
from memory.search.request import SearchRequest
from memory.taxonomy import MemoryType
from teams.actions import create_project
from tests.integration.memory.documents.test_exports import brought_back, comparable, exported
from tests.integration.memory.sessions.test_points import given_at
from tests.support.agent_runs import Run
from tests.support.memories import CARTS, PARSER, REDIS, new
from tests.support.reviewed import World

STORY = OwnType(name="user-story", base=MemoryType.REQUIREMENT, says="What a user needs, and why.")
RISK = OwnType(name="risk", base=MemoryType.GOTCHA, says="What may go wrong, and how likely.")
WAY = Transition(before="planner", after="coder", types=frozenset({"user-story"}))


def define(world: World, name: str, **course: Any) -> None:
    define_methodology(
        caller=world.owner, name=name, phases={"doing": "implement"}, course=Course(**course),
        now=world.now,
    )  # fmt: skip


@pytest.fixture
def scrum(world: World) -> World:
    """A project in an organization whose methodology has two types of its own."""
    define(world, "scrum", types=(STORY, RISK))
    return world


def story(world: World, content: str = REDIS, **given: Any) -> MemoryView:
    return world.stored(content, **{"type": "user-story", **given})


def listed(world: World, *types: str, project: str = "store") -> list[MemoryView]:
    wanted = Filters(project=project, types=types)
    given = {"cursor": None, "limit": 10, "now": world.now}
    page = memories.page(caller=world.owner, filters=wanted, **given)
    assert memories.count(caller=world.owner, filters=wanted) == len(page.items)
    return list(page.items)


def test_a_memory_has_base_and_own_type_whose_mark_is_no_tag(scrum: World) -> None:
    tags = tuple(f"t{number:02}" for number in range(64))
    one = story(scrum, tags=tags)

    assert (one.type, one.own_type) == ("requirement", "user-story")
    assert (one.tags, one.methodology, one.governance) == (tags, "scrum", 2)
    assert memories.get(caller=scrum.owner, memory_id=one.id, now=scrum.now).own_type == STORY.name
    with pytest.raises(InvalidInput):
        story(scrum, CARTS, tags=(*tags, "one more"))


def test_lists_are_narrowed_to_type_and_base(scrum: World) -> None:
    story(scrum)
    scrum.stored(CARTS, type="requirement")
    scrum.stored(PARSER, type="risk")

    for types, expected in (
        (("user-story",), {REDIS}),
        (("requirement",), {REDIS, CARTS}),
        (("user-story", "risk"), {REDIS, PARSER}),
        (("user-story", "gotcha"), {REDIS, PARSER}),
    ):
        with CaptureQueriesContext(connection) as asked:
            assert {one.content for one in listed(scrum, *types)} == expected
        # marks are looked for only where one is named
        looks = any('"tags" &&' in one["sql"] for one in asked.captured_queries)
        assert looks is (types != ("requirement",))


def test_searches_are_narrowed_to_one(scrum: World) -> None:
    story(scrum)
    scrum.stored(REDIS.replace("Redis", "Valkey"), type="requirement")
    one = SearchRequest(query="token refresh", types=("user-story",), threshold=0)
    two = SearchRequest(query="token", types=("user-story", "fact"))

    found = search(caller=scrum.owner, request=one, now=scrum.now)

    assert [hit.memory.own_type for hit in found.hits] == ["user-story"]
    with pytest.raises(InvalidInput) as refused:
        search(caller=scrum.owner, request=two, now=scrum.now)
    assert refused.value.errors[0].pointer == "/types"


def test_unknown_types_are_refused_in_bulk(scrum: World) -> None:
    sent = tuple(
        new(text, project="store", type=type)
        for text, type in ((REDIS, "user-story"), (CARTS, "epic"))
    )

    kept, epic = remember_all(caller=scrum.owner, new=sent, now=scrum.now)

    assert kept.memory is not None
    assert kept.memory.own_type == "user-story"
    assert (epic.outcome, epic.memory) == ("refused", None)


def test_other_tags_leave_the_type(scrum: World) -> None:
    one = story(scrum)

    for changes, expected in (
        ({"tags": ["cart"]}, ("requirement", "user-story", ("cart",))),
        ({"type": "risk"}, ("gotcha", "risk", ("cart",))),
        ({"type": "fact"}, ("fact", "", ("cart",))),
    ):
        given = {"caller": scrum.owner, "if_version": None, "now": scrum.now}
        after = revise(memory_id=one.id, changes=changes, **given)
        assert (after.type, after.own_type, after.tags) == expected


def test_marks_are_not_set_by_hand(scrum: World) -> None:
    marks = ("own_type:user-story", "own_type:risk", "own_type:epic")
    fact = scrum.stored(CARTS, type="fact", tags=(*marks, "a"))

    scrum.say(fact, by=scrum.owner, tags=[*marks, "b"])

    (changed,) = listed(scrum, "fact")
    assert (fact.type, fact.own_type, fact.tags) == ("fact", "", ("a",))
    assert (changed.own_type, changed.tags) == ("", ("b",))


def test_a_correction_keeps_it_and_it_outlives_its_methodology(scrum: World) -> None:
    scrum.put_right(story(scrum).id, CARTS, scrum.owner)
    (made,) = listed(scrum, "user-story")

    remove_methodology(caller=scrum.owner, name="scrum")

    assert (made.content, made.own_type, made.methodology) == (CARTS, "user-story", "scrum")
    by_mark = filters.parse(text="tag:own_type:user-story", project="store")
    assert memories.count(caller=scrum.owner, filters=by_mark) == 1
    assert memories.get(caller=scrum.owner, memory_id=made.id, now=scrum.now) == made
    with pytest.raises(InvalidInput):
        story(scrum, PARSER)


@pytest.mark.parametrize("format", [ExportFormat.JSON, ExportFormat.MARKDOWN])
def test_an_export_brings_it_to_where_nobody_defined_it(scrum: World, format: ExportFormat) -> None:
    caller, now = scrum.owner, scrum.now
    story(scrum, tags=("cart",))
    told = exported(caller, now, format=format)
    remove_methodology(caller=caller, name="scrum")
    create_project(caller=caller, slug="empty", name="Empty", now=now)

    brought_back(caller, told, now)

    assert comparable(exported(caller, now, format=format, project="empty")) == comparable(told)
    (back,) = listed(scrum, project="empty")
    assert (back.type, back.own_type, back.tags) == ("requirement", "user-story", ("cart",))


def test_two_methodologies_share_neither_a_name_nor_a_type(scrum: World) -> None:
    for course, pointer in (
        ({"types": (RISK,)}, "/types/0/name"), ({"relays": (WAY,)}, "/relays/0/types"),
    ):  # fmt: skip
        with pytest.raises(InvalidInput) as refused:
            define(scrum, "xp", **course)
        assert refused.value.errors[0].pointer == pointer

    assert set(own_methodologies(caller=scrum.owner)) == {"scrum"}


def test_relays_pass_on_custom_types(scrum: World) -> None:
    define(scrum, "scrum", relays=(WAY,), types=(STORY, RISK))
    work = {"project": "store", "thread": "cart", "methodology": "scrum"}
    before = Run(scrum.owner, scrum.now, phase="planner", **work)
    for content, type in ((REDIS, "user-story"), (CARTS, "requirement"), (PARSER, "risk")):
        scrum.stored(content, type=type, session_id=before.id)

    passed = given_at(Point.BRIEF, Run(scrum.owner, scrum.now, phase="coder", **work))

    assert f"- user-story: {REDIS}" in passed.delivery.text
    assert [one.memory.own_type for one in passed.delivery.memories][:1] == ["user-story"]
