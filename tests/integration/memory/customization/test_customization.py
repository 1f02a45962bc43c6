"""Methodologies, types and styles of an organization: data, checked, and used."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.errors import InvalidInput, NotFound, RoleNotSufficient
from accounts.models import Organization
from memory.customization import actions
from memory.customization.actions import (
    Course,
    define_methodology,
    put_style,
    remove_methodology,
    remove_style,
)
from memory.customization.custom_type_rules import OwnType
from memory.customization.models import Definition
from memory.customization.phases import Phase, Transition
from memory.customization.queries import (
    choose_style,
    list_methodologies,
    list_styles,
    own_methodologies,
)
from memory.customization.style import Fit, NewStyle, Style
from memory.documents.actions.export import ExportFormat
from memory.experiments.points import Point
from memory.intake.actions.remember import remember_all
from memory.intake.actions.revise import revise
from memory.records import filters
from memory.records.filters import Filters
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from memory.search.actions import search
from memory.search.context import Context, ContextRequest, context
from memory.search.request import SearchRequest
from memory.taxonomy import MemoryType
from teams.errors import NotBoundToProject
from tests.integration.memory.documents.test_exports import brought_back, comparable, exported
from tests.integration.memory.sessions.test_points import given_at
from tests.support.agent_runs import Run
from tests.support.memories import CARTS, PARSER, REDIS, as_agent, new
from tests.support.racing import one_then_another
from tests.support.reviewed import World

KANBAN = {"ready": "define", "doing": "implement"}


def define(
    world: World, name: str, phases: Any = KANBAN, by: Caller | None = None, **course: Any
) -> None:
    """Define a methodology."""
    given = {"caller": by or world.owner, "now": world.now}
    define_methodology(name=name, phases=phases, course=Course(**course), **given)


def test_contexts_go_by_the_organizations_own_names_which_cover_ours(world: World) -> None:
    define(world, "kanban")
    define(world, "native", {"coding": "reflect"})

    packed = _pack(world, methodology="kanban", phase="ready", by=world.member)

    assert (packed.phase, packed.budget_tokens) == (Phase.DEFINE, 2500)
    assert _pack(world, phase="coding").phase is Phase.REFLECT


def test_one_is_defined_anew_and_removed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "MOST_METHODOLOGIES", 1)
    define(world, "kanban")
    define(world, "kanban", {"doing": "refine"})
    found = {view.name: view for view in list_methodologies(caller=world.owner)}
    with pytest.raises(InvalidInput):
        define(world, "one-more")

    remove_methodology(caller=world.owner, name="kanban")

    assert found["kanban"].phases == {"doing": Phase.REFINE}
    assert [view.name for view in found.values() if view.is_own] == ["kanban"]
    assert own_methodologies(caller=world.owner) == {}
    with pytest.raises(NotFound):
        remove_methodology(caller=world.owner, name="kanban")


def test_what_is_no_methodology_is_refused(world: World) -> None:
    faults: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("Kanban!", KANBAN, "/name"),
        ("kanban", {}, "/phases"),
        ("kanban", {" ": "define"}, "/phases"),
        ("kanban", {"doing": "lunch"}, "/phases/doing"),
        ("kanban", {"doing": 7}, "/phases/doing"),
        ("kanban", {f"phase {n}": "define" for n in range(51)}, "/phases"),
    )
    for name, phases, pointer in faults:
        with pytest.raises(InvalidInput) as refused:
            define(world, name, phases)
        assert refused.value.errors[0].pointer == pointer
    assert own_methodologies(caller=world.owner) == {}


def test_members_and_bound_tokens_do_not_define_them(world: World) -> None:
    bound = as_agent(world.owner, bound_projects=())

    with pytest.raises(NotBoundToProject):
        define(world, "kanban", by=bound)
    with pytest.raises(RoleNotSufficient):
        define(world, "kanban", by=world.member)


STORY = OwnType(name="user-story", base=MemoryType.REQUIREMENT, says="What a user needs, and why.")


def refused(world: World, name: str) -> str:
    """Define a methodology with the type; return the code of what is refused, empty for nothing."""
    try:
        define(world, name, types=(STORY,))
    except InvalidInput as error:
        return error.errors[0].code
    return ""


@pytest.mark.django_db(transaction=True)
def test_a_type_has_one_owner(world: World, organization: Organization) -> None:
    first, second = (partial(refused, world, name) for name in ("scrum", "kanban"))

    assert one_then_another(organization, first, second) == ["", "taken"]
    assert [one.name for one in list_methodologies(caller=world.owner) if one.types] == ["scrum"]


RISK = OwnType(name="risk", base=MemoryType.GOTCHA, says="What may go wrong, and how likely.")
WAY = Transition(before="planner", after="coder", types=frozenset({"user-story"}))


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


def test_lists_and_searches_are_narrowed_to_type_and_base(scrum: World) -> None:
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
    story(scrum, tags=("cart",))
    told = exported(scrum, format=format)
    remove_methodology(caller=scrum.owner, name="scrum")
    scrum.make_project("empty")

    brought_back(scrum, told)

    assert comparable(exported(scrum, format=format, project="empty")) == comparable(told)
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


def _put(world: World, name: str = "coding", by: Caller | None = None, **given: Any) -> Style:
    new = NewStyle(name=name, **{"text": "Short sentences, code first.", **given})
    return put_style(caller=by or world.owner, new=new, now=world.now)


def _pack(world: World, query: str = "anything", by: Caller | None = None, **given: Any) -> Context:
    request = ContextRequest(search=SearchRequest(query=query), **given)
    return context(caller=by or world.owner, request=request, now=world.now)


def _names(world: World, by: Caller | None = None) -> list[str]:
    return [style.name for style in list_styles(caller=by or world.owner)]


def test_everybody_is_told_the_organizations_and_ones_own_to_nobody_else(world: World) -> None:
    _put(world, "shared")
    _put(world, "own", scope="personal")
    _put(world, "mine", scope="personal", by=world.member)

    assert _names(world) == ["own", "shared"]
    assert _names(world, by=world.member) == ["mine", "shared"]
    assert _names(world, by=as_agent(world.member, bound_projects=())) == ["shared"]
    assert _names(world, by=replace(world.member, user_id=None, token_id=uuid4())) == ["shared"]


def test_personal_styles_may_share_names(world: World) -> None:
    _put(world, topics=("coding",))
    mine = _put(world, scope="personal", topics=("coding",))

    found = choose_style(caller=world.owner, topic="coding", interface=None)

    assert found is not None
    assert found.style == mine
    assert found.fit is Fit.TOPIC


def test_a_new_default_replaces_the_old_one(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "MOST_STYLES", 2)
    first = _put(world, is_default=True)
    own = _put(world, "own", scope="personal", is_default=True)
    last = _put(world, "second", is_default=True)
    with pytest.raises(InvalidInput):
        _put(world, "one-more")
    second = _put(world, text="Long sentences.", interfaces=("cursor",))

    assert second.id == first.id
    assert list_styles(caller=world.owner) == (second, own, last)
    assert [one.is_default for one in (second, own, last)] == [False, True, True]
    remove_style(caller=world.owner, style_id=first.id)
    assert list_styles(caller=world.owner) == (own, last)
    with pytest.raises(NotFound):
        remove_style(caller=world.owner, style_id=first.id)


def test_members_define_their_own_alone(world: World) -> None:
    shared = _put(world)
    theirs = _put(world, "own", scope="personal")

    with pytest.raises(RoleNotSufficient):
        _put(world, "other", by=world.member)
    with pytest.raises(RoleNotSufficient):
        remove_style(caller=world.member, style_id=shared.id)
    with pytest.raises(NotFound):
        remove_style(caller=world.member, style_id=theirs.id)
    with pytest.raises(NotBoundToProject):
        _put(world, "other", by=as_agent(world.owner, bound_projects=()))
    nobody = replace(world.owner, user_id=None, token_id=uuid4())
    with pytest.raises(InvalidInput) as refused:
        _put(world, "other", nobody, scope="personal")
    assert refused.value.errors[0].pointer == "/scope"
    assert _names(world) == ["coding", "own"]


def test_a_context_begins_with_the_style_that_fits_within_its_budget(world: World) -> None:
    _put(world, topics=("carts",))
    _put(world, "mine", scope="personal", is_default=True, text="Plain words.", by=world.member)

    fits = _pack(world, "what do carts do", by=world.member)
    usual = _pack(world, by=world.member)
    said = _pack(world, topic="carts", budget_tokens=200)

    assert fits.text.startswith("How answers should read (coding): Short sentences, code first.\n")
    assert usual.text.startswith("How answers should read (mine): Plain words.\n")
    assert said.style is not None
    assert (said.style.composed.fit, said.style.composed.topic) == (Fit.TOPIC, "carts")
    assert 0 < said.tokens <= 200
    assert _pack(world).style is None
    assert _pack(world, style=False, by=world.member).style is None
    _put(world, text="Say it plainly. " * 30, is_default=True)
    long = _pack(world, budget_tokens=100)  # it is named only
    assert long.style is not None
    assert (long.style.text, long.text) == ("", "")


def test_what_an_agent_is_told_holds_no_secret(world: World) -> None:
    with pytest.raises(InvalidInput) as refused:
        _put(world, text="Sign with AKIAIOSFODNN7EXAMPL2 always.")
    with pytest.raises(InvalidInput) as topic:
        _put(world, topics=("coding", "AKIAIOSFODNN7EXAMPL2"))

    assert refused.value.errors[0].pointer == "/text"
    assert topic.value.errors[0].pointer == "/topics/1"
    assert "AKIA" not in str(refused.value.detail)
    assert _names(world) == []


@pytest.mark.django_db(transaction=True)
def test_of_two_defaults_at_once_one_remains(world: World) -> None:
    def put(name: str) -> None:
        with entered(world.owner):
            _put(world, name, is_default=True)
        connection.close()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(put, ("one", "other")))

    with entered(world.owner), tenancy.unit():
        assert Definition.objects.filter(is_default=True).count() == 1
