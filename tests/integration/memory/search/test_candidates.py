"""Filters inside the paths of a search: the same as filtering everything afterwards, by hand."""

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
from memory.search.fusion import FusedCandidate
from tests.support import crowds
from tests.support.crowds import Member

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


def test_what_has_ended_is_found_and_ten_thousand_values_of_a_filter_are_taken(
    caller: Caller, members: tuple[Member, ...]
) -> None:
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
