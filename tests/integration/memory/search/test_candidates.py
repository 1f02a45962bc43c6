"""What search paths find: filters inside them, what lies around files and names."""

import re
from datetime import datetime, timedelta
from fnmatch import translate
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts import tenancy
from accounts.caller import Caller
from memory.records.filters import EITHER_END, ENDED, LIVE, States, parse, states_of
from memory.records.models import MemoryLink
from memory.search.fusion import FusedCandidate
from tests.support import crowds
from tests.support.crowds import Member
from tests.support.memories import CARTS, PARSER, REDIS
from tests.support.reviewed import World

SIZE = 300
ASKED = crowds.a_vector(1, 0, 0, 1, 0, 0, -1, 0)
BY_PATH: dict[str, dict[str, Any]] = {
    "dense": {"vector": ASKED},
    "keyword": {"words": " ".join(crowds.WORDS)},
    "graph": {"near": ("parser.py", "app.tsx", ".env"), "graph_limit": 1_000},
    "entities": {"named": ("lantern", "no such"), "named_limit": 1_000},
}
BOXES = (
    "is:archived", "is:superseded", "is:archived,superseded", "is:any", "is:active,archived",
    "is:stale", "is:pinned", "is:any,review", "is:archived,stale,pinned", "is:pinned,review",
)  # fmt: skip
OFTEN = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def projects(in_organization: tenancy.Tenant) -> tuple[UUID, ...]:
    """Two projects."""
    with tenancy.unit():
        return crowds.make_projects("red", "blue")


@pytest.fixture
def members(caller: Caller, projects: tuple[UUID, ...], now: datetime) -> tuple[Member, ...]:
    """A stored crowd."""
    made = crowds.crowd(size=SIZE, projects=projects, now=now, varied=True)
    with tenancy.unit():
        crowds.settle(members=made, caller=caller, now=now)
    return made


def fits(path: str, wanted: str) -> bool:
    """Say whether a path fits what a filter by files wants."""
    behind, sought = f"/{path.lower()}", wanted.lower().removeprefix("./")
    if "*" in wanted or "?" in wanted:
        return re.match(translate(f"*/{sought}"), behind) is not None
    return behind.endswith(f"/{sought}")


def passes(one: Member, wanted: dict[str, Any]) -> bool:
    """Say whether a memory passes all filters."""
    files = wanted.get("files") or ()
    return (
        set(wanted.get("tags", ())) <= set(one.tags)
        and (not files or any(fits(path, file) for path in one.files for file in files))
        and (one.project is None or one.project in (wanted.get("projects") or (one.project,)))
        and one.type in (wanted.get("types") or (one.type,))
        and wanted.get("since", one.known_from) <= one.known_from
        and (wanted.get("until") is None or one.known_from < wanted["until"])
        and wanted.get("author", one.agent).lower() in (one.agent.lower(), "import")
        and not {name.lower() for name in wanted.get("modules", one.modules or ("",))}.isdisjoint(
            {name.lower() for name in one.modules or ("",)}
        )
        and wanted.get("least_sure", 0) <= one.confidence <= wanted.get("most_sure", 1)
        and is_in(one.states, wanted.get("states", LIVE))
    )


def is_in(states: frozenset[str], wanted: States) -> bool:
    """Say whether a memory in these states is looked for."""
    every = states | ({EITHER_END} if states & set(ENDED) else set())
    if wanted.none_of is None:
        return "active" in states and "stale" not in states and set(wanted.all_of) <= every
    return set(wanted.all_of) <= every and every.isdisjoint(wanted.none_of)


def filters(projects: tuple[UUID, ...], now: datetime) -> st.SearchStrategy[dict[str, Any]]:
    """Make up any combination of filters."""
    some_files = (*crowds.FILES, "parser.py", "./web/app.tsx", "WEB/*", "*.ts?", "arser.py", "%")
    moments = st.integers(0, 100).map(lambda days: now - timedelta(days=days))
    return st.fixed_dictionaries(
        {},
        optional={
            "tags": st.lists(st.sampled_from(crowds.TAGS), max_size=2).map(tuple),
            "files": st.lists(st.sampled_from(some_files), max_size=3).map(tuple),
            "projects": st.sampled_from((None, projects[:1], projects)),
            "types": st.sampled_from(((), ("gotcha",))),
            "since": moments,
            "until": moments,
            "author": st.sampled_from((*crowds.AUTHORS, "codex", "import", "nobody")),
            "modules": st.lists(st.sampled_from((*crowds.MODULES, "auth")), min_size=1).map(tuple),
            "states": st.sampled_from(BOXES).map(lambda text: states_of(filters=parse(text=text))),
            "least_sure": st.sampled_from((0.0, 0.3, 1.0)),
            "most_sure": st.sampled_from((0.0, 0.7)),
        },
    )


def reaches(path: str, one: Member) -> bool:
    """Say whether a path without a filter finds a memory."""
    return {"graph": bool(one.files), "entities": "lantern" in one.text}.get(path, True)


def ids(found: tuple[FusedCandidate, ...]) -> set[UUID]:
    return {one.memory_id for one in found}


@OFTEN
@given(data=st.data())
def test_filtering_inside_a_path_is_filtering_everything_afterwards(
    caller: Caller,
    projects: tuple[UUID, ...],
    members: tuple[Member, ...],
    now: datetime,
    data: st.DataObject,
) -> None:
    wanted = data.draw(filters(projects, now))
    passing = {one.id for one in members if passes(one, wanted)}

    with tenancy.unit():
        found = {
            path: ids(crowds.ask(caller=caller, **by, **wanted)) for path, by in BY_PATH.items()
        }

    for path, each in found.items():
        assert each == passing & {one.id for one in members if reaches(path, one)}, path


@OFTEN
@given(data=st.data(), limit=st.integers(1, 40))
def test_a_narrow_filter_leaves_the_best_of_what_passes(
    caller: Caller,
    projects: tuple[UUID, ...],
    members: tuple[Member, ...],
    now: datetime,
    data: st.DataObject,
    limit: int,
) -> None:
    wanted = data.draw(filters(projects, now))
    passing = [one for one in members if passes(one, wanted)]
    best = sorted(-float(ASKED @ one.vector) for one in passing)[:limit]

    with tenancy.unit():
        found = crowds.ask(caller=caller, vector=ASKED, dense_limit=limit, **wanted)

    assert len(found) == min(limit, len(passing))
    got = sorted(-one.scores["dense"] for one in found if "dense" in one.scores)
    assert got == pytest.approx(best, abs=5e-3)


def test_what_has_ended_is_found_by_filters(caller: Caller, members: tuple[Member, ...]) -> None:
    archived = states_of(filters=parse(text="is:archived"))
    ended = {one.id for one in members if "archived" in one.states}
    values = (*(f"no/such/file{number}.py" for number in range(9_999)), "web/app.tsx")

    with tenancy.unit():
        near = crowds.ask(caller=caller, vector=ASKED, states=archived, dense_limit=len(ended))
        said = crowds.ask(
            caller=caller, words=" ".join(crowds.WORDS), states=archived, keyword_limit=len(ended)
        )
        found = crowds.ask(caller=caller, vector=ASKED, files=values)

    live = (one for one in members if is_in(one.states, LIVE))
    assert ids(near) == ids(said) == ended  # however much else fits better
    assert ids(found) == {one.id for one in live if "web/app.tsx" in one.files}


Held = dict[str, UUID]

OTHER = "Nightly exports wait for the warehouse lock and give up after ten minutes."


@pytest.fixture
def held(world: World) -> Held:
    """Memories of a shared file, of a file alone, of a module, and of nothing."""
    given = {
        CARTS: ("src/shop/cart.py", "src/shop/common.py"),
        REDIS: ("src/shop/common.py",),
        PARSER: ("other/shop/cart.py",),
    }
    found = {text: world.stored(text, related_files=files).id for text, files in given.items()}
    modules = world.stored(OTHER, related_modules=("Warehouse",))
    return {**found, OTHER: modules.id}


def around(
    world: World, *near: str, by: Caller | None = None, **wanted: object
) -> dict[UUID, float]:
    """Return the score of each memory that the graph path reached."""
    with tenancy.unit():
        found = crowds.ask(caller=by or world.owner, near=near, **wanted)
    return {one.memory_id: round(one.scores["graph"], 4) for one in found if "graph" in one.scores}


def link(source: UUID, target: UUID, confidence: float = 1.0, kind: str = "related") -> None:
    """Relate two memories."""
    with tenancy.unit():
        MemoryLink.objects.create(
            source_id=source, target_id=target, kind=kind, confidence=confidence
        )


def test_a_file_is_known_by_any_end_of_its_path(world: World, held: Held) -> None:
    for name in ("/home/ada/work/src/shop/cart.py", "SRC/shop/Cart.py", "cart.py"):
        assert held[CARTS] in around(world, name), name
    found = around(world, "src/shop/cart.py", "shop/cart.py")
    assert found[held[CARTS]] > found[held[PARSER]] > 0
    names = ("cart.py", "common.py", "warehouse")
    assert len(around(world, *names)) == 4
    assert len(around(world, *names, graph_limit=2)) == 2


def test_a_file_that_many_hold_says_less_and_each_shared_one_adds(world: World, held: Held) -> None:
    alone = around(world, "other/shop/cart.py")[held[PARSER]]
    shared = around(world, "src/shop/common.py")[held[REDIS]]
    both = around(world, "src/shop/cart.py", "src/shop/common.py")

    assert alone == 1.0
    assert shared == pytest.approx(1 / (1 + 0.6931), abs=1e-3)
    assert both[held[CARTS]] > both[held[REDIS]]
    assert set(around(world, "warehouse")) == {held[OTHER]}  # a module, by its name


def test_what_is_linked_comes_along_for_less(world: World, held: Held) -> None:
    link(held[PARSER], held[OTHER], confidence=0.8, kind="caused_by")
    path, module = "other/shop/cart.py", "warehouse"

    assert around(world, path) == {held[PARSER]: 1.0, held[OTHER]: 0.4}
    assert around(world, path, kinds=("caused_by",)) == {held[PARSER]: 1.0, held[OTHER]: 0.6}
    assert around(world, module) == {held[OTHER]: 0.5, held[PARSER]: 0.2}  # the other way round


def test_a_link_reaches_nothing_that_filters_or_scopes_leave_out(world: World, held: Held) -> None:
    own = world.stored("My own note on the carts of Ada.", scope="personal")
    link(held[PARSER], own.id)
    link(held[PARSER], held[OTHER])
    name = "other/shop/cart.py"

    assert set(around(world, name)) == {held[PARSER], held[OTHER], own.id}
    assert set(around(world, name, by=world.member)) == {held[PARSER], held[OTHER]}
    assert set(around(world, name, author="nobody")) == set()


def test_how_many_others_hold_a_file_is_not_told(world: World, held: Held) -> None:
    before = around(world, "other/shop/cart.py", by=world.member)
    for number in range(3):
        text = f"Deal {number} of Ada touches the cart and is nobody's business but hers."
        files = ("other/shop/cart.py",)
        world.stored(text, scope="personal", related_files=files)

    assert around(world, "other/shop/cart.py", by=world.member) == before
    assert around(world, "other/shop/cart.py") != before


def test_what_is_linked_to_a_thing_that_is_named_comes_along(world: World, held: Held) -> None:
    text = "AuthService keeps its tokens for an hour and then asks for new ones."
    named = world.stored(text).id
    link(named, held[OTHER])

    assert around(world, named=("auth service",)) == {held[OTHER]: 0.5}
