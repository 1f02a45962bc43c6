"""Memories of a type that a methodology adds: said by its name, kept under its base."""

from datetime import datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.caller import Caller
from accounts.errors import InvalidInput
from accounts.models import Organization
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
from memory.review.actions.corrections import correct
from memory.search.actions import search
from memory.search.request import SearchRequest
from memory.taxonomy import MemoryType
from teams.actions import create_project
from tests.integration.memory.documents.test_exports import brought_back, comparable, exported
from tests.integration.memory.sessions.test_points import given_at
from tests.support import people
from tests.support.agent_runs import Run
from tests.support.memories import CARTS, PARSER, REDIS, new, stored

STORY = OwnType(name="user-story", base=MemoryType.REQUIREMENT, says="What a user needs, and why.")
RISK = OwnType(name="risk", base=MemoryType.GOTCHA, says="What may go wrong, and how likely.")
WAY = Transition(before="planner", after="coder", types=frozenset({"user-story"}))
PHASES = {"doing": "implement"}


@pytest.fixture
def scrum(caller: Caller, store: str, now: datetime) -> str:
    """A methodology with two types of its own; its name."""
    define_methodology(
        caller=caller, name="scrum", phases=PHASES, course=Course(types=(STORY, RISK)), now=now
    )
    return "scrum"


def _story(caller: Caller, now: datetime, content: str = REDIS, **given: object) -> MemoryView:
    return stored(caller, now, content, **{"project": "store", "type": "user-story", **given})


def _listed(caller: Caller, now: datetime, *types: str) -> list[str]:
    wanted = Filters(project="store", types=types)
    page = memories.page(caller=caller, filters=wanted, cursor=None, limit=10, now=now)
    assert memories.count(caller=caller, filters=wanted) == len(page.items)
    return [view.content for view in page.items]


def _is_refused_at(refused: pytest.ExceptionInfo[InvalidInput], pointer: str) -> bool:
    error = refused.value
    return error.errors[0].pointer == pointer and "user-story" in error.hint


def test_a_memory_has_base_and_own_type(caller: Caller, scrum: str, now: datetime) -> None:
    story = _story(caller, now, tags=("cart",))

    assert (story.type, story.own_type) == ("requirement", "user-story")
    assert (story.tags, story.methodology, story.governance) == (("cart",), scrum, 2)
    assert memories.get(caller=caller, memory_id=story.id, now=now).own_type == "user-story"


def test_lists_are_narrowed_to_type_and_base(caller: Caller, scrum: str, now: datetime) -> None:
    _story(caller, now)
    stored(caller, now, CARTS, project="store", type="requirement")
    stored(caller, now, PARSER, project="store", type="risk")

    assert _listed(caller, now, "user-story") == [REDIS]
    assert set(_listed(caller, now, "requirement")) == {REDIS, CARTS}
    assert set(_listed(caller, now, "user-story", "risk")) == {REDIS, PARSER}
    assert set(_listed(caller, now, "user-story", "gotcha")) == {REDIS, PARSER}


@pytest.mark.parametrize(("type", "looks"), [("requirement", False), ("user-story", True)])
def test_a_list_looks_for_marks_only_where_one_is_named(
    caller: Caller, scrum: str, now: datetime, type: str, looks: bool
) -> None:
    wanted = Filters(project="store", types=(type, "fact"))

    with CaptureQueriesContext(connection) as asked:
        memories.count(caller=caller, filters=wanted)

    assert any('"tags" &&' in one["sql"] for one in asked.captured_queries) is looks


def test_searches_are_narrowed_to_it(caller: Caller, scrum: str, now: datetime) -> None:
    _story(caller, now)
    stored(caller, now, REDIS.replace("Redis", "Valkey"), project="store", type="requirement")

    found = search(
        caller=caller,
        request=SearchRequest(query="token refresh", types=("user-story",), threshold=0),
        now=now,
    )

    assert [hit.memory.own_type for hit in found.hits] == ["user-story"]


def test_a_search_takes_one_at_a_time(caller: Caller, scrum: str, now: datetime) -> None:
    asked = SearchRequest(query="token", types=("user-story", "fact"))

    with pytest.raises(InvalidInput) as refused:
        search(caller=caller, request=asked, now=now)

    assert refused.value.errors[0].pointer == "/types"


def test_unknown_types_are_refused(caller: Caller, scrum: str, now: datetime) -> None:
    with pytest.raises(InvalidInput) as added:
        _story(caller, now, type="epic")
    with pytest.raises(InvalidInput) as searched:
        search(caller=caller, request=SearchRequest(query="x", types=("epic",)), now=now)
    with pytest.raises(InvalidInput) as listed:
        _listed(caller, now, "epic")

    assert _is_refused_at(added, "/type")
    assert _is_refused_at(searched, "/types")
    assert _is_refused_at(listed, "/types")


def test_unknown_types_are_refused_in_bulk(caller: Caller, scrum: str, now: datetime) -> None:
    sent = (
        new(REDIS, project="store", type="user-story"),
        new(CARTS, project="store", type="epic"),
    )

    story, epic = remember_all(caller=caller, new=sent, now=now)

    assert story.memory is not None
    assert story.memory.own_type == "user-story"
    assert (epic.outcome, epic.memory) == ("refused", None)


def test_other_tags_leave_the_type(caller: Caller, scrum: str, now: datetime) -> None:
    story = _story(caller, now)

    def changed(**changes: object) -> MemoryView:
        return revise(caller=caller, memory_id=story.id, changes=changes, if_version=None, now=now)

    assert changed(tags=["cart"]).own_type == "user-story"
    risk = changed(type="risk")
    assert (risk.type, risk.own_type, risk.tags) == ("gotcha", "risk", ("cart",))
    plain = changed(type="fact")
    assert (plain.type, plain.own_type, plain.tags) == ("fact", "", ("cart",))


@pytest.mark.parametrize("name", ["user-story", "risk", "epic"])
def test_marks_are_not_set_by_hand(caller: Caller, scrum: str, now: datetime, name: str) -> None:
    fact = stored(caller, now, CARTS, project="store", type="fact", tags=(f"own_type:{name}", "a"))
    changes = {"tags": [f"own_type:{name}", "b"]}

    changed = revise(caller=caller, memory_id=fact.id, changes=changes, if_version=None, now=now)

    assert (fact.type, fact.own_type, fact.tags) == ("fact", "", ("a",))
    assert (changed.own_type, changed.tags) == ("", ("b",))


def test_the_mark_does_not_count_as_a_tag(caller: Caller, scrum: str, now: datetime) -> None:
    tags = tuple(f"t{number}" for number in range(64))

    story = _story(caller, now, tags=tags)

    assert (story.own_type, len(story.tags)) == ("user-story", 64)
    with pytest.raises(InvalidInput):
        _story(caller, now, CARTS, tags=(*tags, "one more"))


def test_a_correction_keeps_it(caller: Caller, scrum: str, now: datetime) -> None:
    story = _story(caller, now)

    outcome = correct(
        caller=caller, memory_id=story.id, content=CARTS, kind="wrong", reason="", now=now
    )

    assert outcome.memory is not None
    assert (outcome.memory.own_type, outcome.memory.methodology) == ("user-story", scrum)


def test_a_type_outlives_its_methodology(caller: Caller, scrum: str, now: datetime) -> None:
    story = _story(caller, now)

    remove_methodology(caller=caller, name=scrum)

    assert memories.get(caller=caller, memory_id=story.id, now=now).own_type == "user-story"
    by_mark = filters.parse(text="tag:own_type:user-story", project="store")
    assert memories.count(caller=caller, filters=by_mark) == 1
    with pytest.raises(InvalidInput):
        _story(caller, now, CARTS)


@pytest.mark.parametrize("format", [ExportFormat.JSON, ExportFormat.LINES, ExportFormat.MARKDOWN])
def test_an_export_brings_it_to_where_nobody_defined_it(
    caller: Caller, scrum: str, now: datetime, format: ExportFormat
) -> None:
    _story(caller, now, tags=("cart",))
    told = exported(caller, now, format=format)
    remove_methodology(caller=caller, name=scrum)
    create_project(caller=caller, slug="empty", name="Empty", now=now)

    brought_back(caller, told, now)

    back = exported(caller, now, format=format, project="empty")
    assert comparable(back) == comparable(told)
    page = memories.page(
        caller=caller, filters=Filters(project="empty"), cursor=None, limit=10, now=now
    )
    assert [(one.type, one.own_type, one.tags) for one in page.items] == [
        ("requirement", "user-story", ("cart",))
    ]


def test_two_methodologies_do_not_share_a_name(caller: Caller, scrum: str, now: datetime) -> None:
    with pytest.raises(InvalidInput) as refused:
        define_methodology(
            caller=caller, name="xp", phases=PHASES, course=Course(types=(RISK,)), now=now
        )

    assert refused.value.errors[0].pointer == "/types/0/name"
    assert set(own_methodologies(caller=caller)) == {scrum}


def test_relays_pass_on_custom_types(caller: Caller, scrum: str, now: datetime) -> None:
    course = Course(relays=(WAY,), types=(STORY, RISK))
    define_methodology(caller=caller, name=scrum, phases=PHASES, course=course, now=now)
    work = {"project": "store", "thread": "cart", "methodology": scrum}
    before = Run(caller, now, phase="planner", **work)
    for content, type in ((REDIS, "user-story"), (CARTS, "requirement"), (PARSER, "risk")):
        stored(caller, now, content, project="store", type=type, session_id=before.id)

    passed = given_at(Point.SYSTEM_PROMPT, Run(caller, now, phase="coder", **work))

    assert f"- user-story: {REDIS}" in passed.delivery.text
    assert [one.memory.own_type for one in passed.delivery.memories][:1] == ["user-story"]


def test_a_relay_names_no_type_of_another(caller: Caller, scrum: str, now: datetime) -> None:
    with pytest.raises(InvalidInput) as refused:
        define_methodology(
            caller=caller, name="xp", phases=PHASES, course=Course(relays=(WAY,)), now=now
        )

    assert refused.value.errors[0].pointer == "/relays/0/types"


def test_another_organization_knows_nothing_of_them(
    other_caller: Caller, other_organization: Organization, scrum: str, now: datetime
) -> None:
    with people.outside(), people.entered(organization=other_organization):
        create_project(caller=other_caller, slug="store", name="Store", now=now)
        with pytest.raises(InvalidInput) as refused:
            _story(other_caller, now)

    assert scrum not in refused.value.hint
    assert "user-story" not in refused.value.hint
